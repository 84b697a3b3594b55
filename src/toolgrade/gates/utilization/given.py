"""Claims that the user or the system prompt made first."""

from __future__ import annotations

from functools import lru_cache

from toolgrade.gates.utilization.claims import Claim, claims
from toolgrade.gates.utilization.lexicon import FUNCTION
from toolgrade.gates.utilization.link import Sentence
from toolgrade.gates.utilization.words import segments, stem, words

_NEAR = 40

Key = tuple[str, object, str]


@lru_cache(maxsize=256)
def told(text: str) -> dict[Key, frozenset[str]]:
    """Return the claims of a text, each with the stems of the words near it."""
    out: dict[Key, frozenset[str]] = {}
    for segment in segments(text):
        parts = words(segment.text)
        for claim in claims(segment.text, parts):
            if claim.weak:
                continue
            beside = frozenset(
                stem(w.norm)
                for w in parts
                if claim.start - _NEAR <= w.start <= claim.end + _NEAR and w.norm not in FUNCTION
            )
            key = _key(claim)
            out[key] = out.get(key, frozenset()) | beside
    return out


def given(texts: list[str], sentence: Sentence, claim: Claim) -> bool:
    """Say whether a text given to the agent holds the claim; a number must stand by a word that both share."""
    key = _key(claim)
    for text in texts:
        near = told(text).get(key)
        if near is not None and (claim.kind != "number" or not near.isdisjoint(_beside(sentence, claim))):
            return True
    return False


def _beside(sentence: Sentence, claim: Claim) -> set[str]:
    """Return the stems of the content words near a claim."""
    return {
        stem(w.norm)
        for w in sentence.words
        if claim.start - _NEAR <= w.start <= claim.end + _NEAR
        and w.norm not in FUNCTION
        and not claim.start <= w.start < claim.end
    }


def _key(claim: Claim) -> Key:
    return claim.kind, claim.value, claim.unit

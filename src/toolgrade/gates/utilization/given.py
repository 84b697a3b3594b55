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
        found = [claim for claim in claims(segment.text) if not claim.weak]
        if not found:
            continue
        parts = words(segment.text)
        for claim in found:
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
    beside = {
        stem(w.norm)
        for w in sentence.words
        if claim.start - _NEAR <= w.start <= claim.end + _NEAR
        and w.norm not in FUNCTION
        and not claim.start <= w.start < claim.end
    }
    for text in texts:
        near = told(text).get(key)
        if near is not None and (claim.kind != "number" or near & beside):
            return True
    return False


def _key(claim: Claim) -> Key:
    return claim.kind, claim.value, claim.unit

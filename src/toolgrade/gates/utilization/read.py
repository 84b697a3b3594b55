"""One answer read against the payloads before it: its claims, settled, and its sentences that are not."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from toolgrade.gates.utilization.claims import Claim, claims
from toolgrade.gates.utilization.derive import derived
from toolgrade.gates.utilization.given import given
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION
from toolgrade.gates.utilization.link import Mention, Sentence, mentions
from toolgrade.gates.utilization.prose import accounted, asserts
from toolgrade.gates.utilization.settle import Around, Settled, settle_all
from toolgrade.gates.utilization.statuses import statuses
from toolgrade.gates.utilization.told import told_values
from toolgrade.gates.utilization.words import Segment, segments, words

_AROUND = 24
_CROWDED = 60


class Reading(NamedTuple):
    """What one answer says: every claim with its verdict, and the sentences that hold unsettled prose."""

    claims: list[Settled]
    prose: list[Sentence]


def read_answer(index: Index, text: str, texts: list[str], clock: date | None = None) -> Reading:
    """Return what an answer says; `texts` are what user and system said before, `clock` is the trace's day.

    A sentence with more claims than any sentence holds is left to the judge as it is.
    """
    found: list[Settled] = []
    prose: list[Sentence] = []
    known: set[tuple[str, ...]] = set()
    lines: list[tuple[Segment, Sentence]] = []
    for segment in segments(text):
        parts = words(segment.text)
        held = [claim for claim in claims(segment.text, parts, clock) if not _in_a_name(index, segment.text, claim)]
        if len(held) > _CROWDED:
            prose.append(Sentence(segment.text, segment.start, parts, [], []))
            continue
        named = mentions(index, parts, held, known)
        held = [claim for claim in held if not any(_spelt_in(claim, mention) for mention in named)]
        sentence = Sentence(segment.text, segment.start, parts, held, named)
        around = _around(lines, segment)
        settled = settle_all(index, sentence, around) + statuses(index, sentence, around)
        settled += told_values(index, sentence, around, settled)
        for at, item in enumerate(settled):
            settled[at] = _second_look(index, item, found, texts)
            found.append(settled[at])
        lines.append((segment, sentence))
        done = bool(settled) and all(item.verdict == "grounded" for item in settled)
        if asserts(segment.text) and not (done and accounted(index, sentence, settled)):
            prose.append(sentence)
    return Reading(found, prose)


def _second_look(index: Index, item: Settled, earlier: list[Settled], texts: list[str]) -> Settled:
    """Return a claim that no linked value grounds as derived from others or as given, where it is."""
    if item.verdict == "grounded":
        return item
    other = derived(index, item, earlier)
    if other is not None:
        return other
    if given(texts, item.sentence, item.claim):
        if item.verdict == "open" and not (item.leaves and item.claim.kind == "number"):
            return item._replace(verdict="grounded", how="given")
        return item._replace(verdict="open", how="given otherwise by the user or system prompt")
    return item


def _around(lines: list[tuple[Segment, Sentence]], segment: Segment) -> Around:
    """Return the records named by the list lines beside and above a line, and by the sentence before."""
    held: list[Mention] = []
    heading: tuple[str, ...] = ()
    indent = segment.indent
    if segment.listed:
        for other, sentence in reversed(lines):
            if other.listed and other.indent > indent:
                continue
            if len(held) < _AROUND:
                held += reversed(sentence.mentions)
            indent = other.indent
            if not other.listed:
                heading = tuple(word.norm for word in sentence.words if word.norm not in FUNCTION)
                break
    before = list(reversed(lines[-1][1].mentions)) if lines and not segment.listed else []
    return Around(held, before, heading)


def _spelt_in(claim: Claim, mention: Mention) -> bool:
    """Say whether a number or code is part of a longer name: `certificate 7504069`, `ThinkPad X1`."""
    bare = claim.kind in ("number", "identifier") and not claim.unit and len(mention.label) > 1 and mention.naming
    inside = mention.start <= claim.start and claim.end <= mention.end
    return bare and inside and claim.end - claim.start < mention.end - mention.start - 1


def _in_a_name(index: Index, text: str, claim: Claim) -> bool:
    """Say whether a number in words is part of a field's name: the `three-point` line of a field `FG3`."""
    if claim.kind != "number" or claim.text[-1].isdigit() or not re.match(r"\s?-\s?[a-z]", text[claim.end :]):
        return False
    return str(int(claim.number)) in index.vocabulary

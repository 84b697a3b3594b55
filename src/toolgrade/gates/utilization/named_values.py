"""Codes and days: they name what a sentence speaks of, or are themselves what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.link import Sentence, before
from toolgrade.gates.utilization.words import spelling

_FEW = 12
_WIDE = 200

Found = tuple[Literal["grounded", "open"] | None, str, tuple[int, ...]]


def name_or_value(index: Index, sentence: Sentence, claim: Claim, heading: tuple[str, ...]) -> Found | None:
    """Return what a code or a day is: grounded where its field or another name of its record is said.

    A line that holds nothing else is read under its heading (`Your reservations:`).

    The first part is None where it only names a record: that asserts nothing. A code that no payload holds
    is open. None is returned for a day that the words beside it may settle as they settle a number.
    """
    leaves = _held(index, claim)
    if not leaves and claim.kind == "day":
        return (None, "names a call", ()) if _called(index, claim) else None
    if not leaves:
        called = spelling(claim.text) in index.labels
        return (None, "names a call", ()) if called else ("open", "occurs in no payload", ())
    said = [word.norm for word in before(sentence, claim, 3)]
    alone = all(claim.start <= word.start < claim.end for word in sentence.words)
    labelled = [leaf for leaf in leaves if _field_said(index, leaf, heading if alone else said)]
    if labelled:
        return "grounded", "linked", tuple(labelled[:_FEW])
    others = [m for m in sentence.mentions if m.naming and not (m.start < claim.end and claim.start < m.end)]
    records = {record for mention in others for record in mention.records}
    linked = [leaf for leaf in leaves if records.intersection(_nearby(index, index.leaves[leaf].record))]
    if linked:
        return "grounded", "linked", tuple(linked[:_FEW])
    return None, "names a record", tuple(leaves[:_FEW])


def _held(index: Index, claim: Claim) -> list[int]:
    """Return the values that a code or day is, the latest payloads first."""
    if claim.kind == "day":
        days = [day for day in (claim.value, claim.other) if isinstance(day, tuple)]
        found = [item for day in days for item in index.days.get((day.month, day.day), ()) if item[0].agrees(day)]
        return sorted((leaf for _, _, leaf in found), reverse=True)
    out = index.spelled.get(spelling(claim.text), [])[: -_WIDE - 1 : -1]
    if not out and claim.text.isdigit():
        out = index.numerals.get(claim.text, [])
    return out


def _called(index: Index, claim: Claim) -> bool:
    days = [day for day in (claim.value, claim.other) if isinstance(day, tuple)]
    return any(other.agrees(day) for day in days for other, _ in index.called_days.get((day.month, day.day), ()))


def _nearby(index: Index, record: int) -> list[int]:
    """Return a record and those that hold it, without the payload as a whole: its name tells nothing apart."""
    return [number for number in index.chain(record) if number == record or index.records[number].parent >= 0]


def _field_said(index: Index, leaf: int, said: Sequence[str]) -> bool:
    tokens = index.fields[index.leaves[leaf].field].tokens
    return any(index.heard(word).get(token, 0.0) >= 0.9 for word in said for token in tokens)

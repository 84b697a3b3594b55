"""Values that no payload holds but that follow from those it holds: sums, differences, counts, extremes."""

from __future__ import annotations

from collections.abc import Sequence

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.ground import agrees, comparable
from toolgrade.gates.utilization.leaves import Index, quantity
from toolgrade.gates.utilization.lexicon import LEAST, MOST, TOTALS, listed
from toolgrade.gates.utilization.link import Sentence, after, fields_named
from toolgrade.gates.utilization.settle import Settled
from toolgrade.gates.utilization.words import names

_DIFFERENCES = listed("difference more less save saves saving savings cheaper extra additional gap margin lead refund")
_MANY = 2000


def derived(index: Index, sentence: Sentence, claim: Claim, earlier: Sequence[Settled]) -> Settled | None:
    """Return the claim as grounded by a derivation that its sentence announces; None where none fits."""
    if claim.kind != "number" or not index.documents:
        return None
    told = {word.norm for word in sentence.words}
    for how, leaves in (
        ("count", _count(index, sentence, claim)),
        ("sum", _sum(index, claim, earlier) if told & TOTALS else None),
        ("difference", _difference(index, claim, earlier) if told & _DIFFERENCES else None),
        ("minimum", _extreme(index, sentence, claim, least=True) if told & LEAST else None),
        ("maximum", _extreme(index, sentence, claim, least=False) if told & MOST else None),
    ):
        if leaves:
            return Settled(sentence, claim, "grounded", f"derived: {how}", tuple(leaves[:12]))
    return None


def _count(index: Index, sentence: Sentence, claim: Claim) -> list[int] | None:
    """Return a leaf of each counted record where a list that the next noun names has as many."""
    if claim.unit or claim.step != 1 or claim.number < 1:
        return None
    nouns = [word.norm for word in after(sentence, claim)]
    for document in reversed(index.documents[-3:]):
        for shape, records in index.lists(document.root).items():
            name = shape[-1] if shape and shape[-1] != "*" else (shape[-2] if len(shape) > 1 else "")
            if len(records) == claim.number and any(_names_list(noun, name) for noun in nouns):
                return [
                    index.records[record].first for record in records if index.records[record].first < len(index.leaves)
                ]
    return None


def _names_list(noun: str, name: str) -> bool:
    parts = name.casefold().replace("-", "_").split("_")
    return any(names(noun, part) >= 0.9 for part in parts if len(part) > 2)


def _sum(index: Index, claim: Claim, earlier: Sequence[Settled]) -> list[int] | None:
    """Return the addends: the last few grounded amounts of the answer, or all values of one field of a payload."""
    amounts = [item for item in earlier if item.verdict == "grounded" and item.claim.kind == "number"]
    amounts = [item for item in amounts if item.claim.unit == claim.unit and not item.claim.weak]
    for size in range(2, min(12, len(amounts)) + 1):
        last = amounts[-size:]
        if abs(sum(item.claim.number for item in last) - claim.number) <= claim.step / 2:
            return [leaf for item in last for leaf in item.leaves[:1]]
    for document in reversed(index.documents[-3:]):
        for field in index.fields:
            leaves = index.within(field.number, document.root)
            if not 2 <= len(leaves) <= _MANY:
                continue
            values = [quantity(index.leaves[leaf].value) for leaf in leaves]
            if None in values:
                continue
            total = sum(value for value in values if value is not None)
            if agrees(claim, total, field):
                return leaves
    return None


def _difference(index: Index, claim: Claim, earlier: Sequence[Settled]) -> list[int] | None:
    amounts = [item for item in earlier if item.verdict == "grounded" and item.claim.kind == "number" and item.leaves]
    amounts = [item for item in amounts if item.claim.unit == claim.unit][-8:]
    for at, one in enumerate(amounts):
        for other in amounts[at + 1 :]:
            if abs(abs(one.claim.number - other.claim.number) - abs(claim.number)) <= claim.step / 2:
                return [one.leaves[0], other.leaves[0]]
    return None


def _extreme(index: Index, sentence: Sentence, claim: Claim, least: bool) -> list[int] | None:
    fields, direct = fields_named(index, sentence, claim)
    if not direct:
        return None
    for document in reversed(index.documents[-3:]):
        for number in sorted(fields, key=lambda f: -fields[f]):
            field = index.fields[number]
            leaves = [
                leaf
                for leaf in index.within(number, document.root)
                if comparable(claim, index.leaves[leaf].value, field)
            ]
            if len(leaves) < 2:
                continue
            pick = min if least else max
            best = pick(leaves, key=lambda leaf: quantity(index.leaves[leaf].value) or 0.0)
            if agrees(claim, index.leaves[best].value, field):
                return [best]
    return None

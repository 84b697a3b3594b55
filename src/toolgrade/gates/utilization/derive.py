"""Values that no payload holds but that follow from those it holds: sums, differences, counts, extremes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.doubt import narrowed_to_a_time
from toolgrade.gates.utilization.fields import Named, fields_named
from toolgrade.gates.utilization.ground import agrees
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import TOTALS, listed
from toolgrade.gates.utilization.link import Sentence
from toolgrade.gates.utilization.settle import Settled
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import names

_DIFFERENCES = listed("difference more less save saves saving savings cheaper extra additional gap margin lead refund")
_ANNOUNCED = TOTALS | _DIFFERENCES
_MANY = 2000


def derived(index: Index, item: Settled, earlier: Sequence[Settled]) -> Settled | None:
    """Return an unsettled claim as grounded by a derivation that its sentence announces; None where none fits.

    Sums and differences are of values of one field; a bare number must name that field too.
    """
    sentence, claim = item.sentence, item.claim
    if claim.kind != "number" or claim.weak or item.paired or not index.documents:
        return None
    if narrowed_to_a_time(sentence):
        return None
    how, leaves = "count", _count(index, sentence, claim)
    told = sentence.said
    if not leaves and not told.isdisjoint(_ANNOUNCED):
        named = fields_named(index, sentence, claim)
        amounts = [e for e in earlier if _is_amount(e)][-12:]
        amounts = [
            e for e in amounts if e.claim.unit == claim.unit and not e.claim.weak and _fits(index, claim, named, e)
        ]
        how, leaves = "sum", _sum(index, claim, named, amounts) if told & TOTALS else None
        if not leaves and told & _DIFFERENCES:
            how, leaves = "difference", _difference(index, claim, amounts)
    return Settled(sentence, claim, "grounded", f"derived: {how}", tuple(leaves[:12])) if leaves else None


def _is_amount(item: Settled) -> bool:
    return item.verdict == "grounded" and bool(item.leaves) and item.claim.kind == "number" and not item.claim.weak


def _fits(index: Index, claim: Claim, named: Named, item: Settled) -> bool:
    """Say whether a claim speaks of the field of an earlier one: both are money, or its words name that field."""
    field = index.leaves[item.leaves[0]].field
    if claim.unit == "money":
        return index.fields[field].money
    return named.word is not None and field in named.scores


def _count(index: Index, sentence: Sentence, claim: Claim) -> list[int] | None:
    """Return a leaf of each counted record where a list that the next noun names has as many."""
    if claim.unit or claim.step != 1 or claim.number < 1:
        return None
    nouns = [word.norm for word in sentence.after(claim)]
    for document in reversed(index.documents[-3:]):
        bare = _listed(index, document.root, int(claim.number), nouns)
        if bare:
            return bare
        for shape, records in index.lists(document.root).items():
            name = shape[-1] if shape and shape[-1] != "*" else (shape[-2] if len(shape) > 1 else "")
            if len(records) == claim.number and any(_names_list(noun, name) for noun in nouns):
                return [
                    index.records[record].first for record in records if index.records[record].first < len(index.leaves)
                ]
    return None


def _listed(index: Index, root: int, size: int, nouns: list[str]) -> list[int] | None:
    """Return the values of a list of bare values that a noun names and that has as many."""
    named = {
        number
        for noun in nouns
        for token, weight in index.heard(noun).items()
        for number in (index.vocabulary[token] if weight >= 0.9 else ())
        if token in index.fields[number].tokens
    }
    for number in sorted(named):
        lists: dict[str, list[int]] = {}
        for leaf in index.within(number, root):
            parent, _, last = index.leaves[leaf].pointer.rpartition("/")
            if last.isdigit():
                lists.setdefault(parent, []).append(leaf)
        found = next((leaves for leaves in lists.values() if len(leaves) == size), None)
        if found:
            return found
    return None


def _names_list(noun: str, name: str) -> bool:
    parts = name.casefold().replace("-", "_").split("_")
    return any(names(noun, part) >= 0.9 for part in parts if len(part) > 2)


def _sum(index: Index, claim: Claim, named: Named, amounts: list[Settled]) -> list[int] | None:
    """Return the addends: the last grounded amounts of one field, or all values of a named field of a payload."""
    for size in range(2, len(amounts) + 1):
        last = amounts[-size:]
        if len({index.leaves[item.leaves[0]].field for item in last}) > 1:
            break
        if abs(sum(item.claim.number for item in last) - claim.number) <= claim.step / 2:
            return [item.leaves[0] for item in last]
    if named.word is None:
        return None
    for document in reversed(index.documents[-3:]):
        for number in named.scores:
            leaves = index.within(number, document.root)
            values = [quantity(index.leaves[leaf].value) for leaf in leaves[:_MANY]]
            if len(values) < 2 or None in values:
                continue
            total = sum(value for value in values if value is not None)
            if agrees(claim, total, index.fields[number]):
                return leaves
    return None


def _difference(index: Index, claim: Claim, amounts: list[Settled]) -> list[int] | None:
    for one, other in combinations(amounts, 2):
        if index.leaves[one.leaves[0]].field == index.leaves[other.leaves[0]].field:
            gap = abs(one.claim.number - other.claim.number)
            if abs(gap - abs(claim.number)) <= claim.step / 2:
                return [one.leaves[0], other.leaves[0]]
    return None

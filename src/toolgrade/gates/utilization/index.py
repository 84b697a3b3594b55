"""Questions to an index of payloads: what lies where, what words name, what a record is called."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from toolgrade.core.view import CallView
from toolgrade.gates.utilization.leaves import Document, Field, Leaves
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import SPOKEN, name_tokens, names, stem, synonyms

_NOTHING: frozenset[str] = frozenset()
_WIDE = 400


class Held:
    """The values in some records that are named by a label, by field."""

    def __init__(self, index: Leaves, records: tuple[int, ...], label: tuple[str, ...]) -> None:
        self._index = index
        self._records = [
            (place, held.first, held.last, held.depth, 1.1 if held.key is not None and label == held.label else 1.0)
            for place, held in enumerate(map(index.records.__getitem__, records))
        ]
        self._first = min((record[1] for record in self._records), default=0)
        self._last = max((record[2] for record in self._records), default=0)
        self._apart = all(one[2] <= other[1] for one, other in pairwise(self._records))
        self._known: dict[int, list[tuple[int, float, int]]] = {}

    def of(self, field: int) -> list[tuple[int, float, int]]:
        """Return `(leaf, weight, place)` of the values of one field, in the order of the records.

        A record counts in full for its own values (more where the label is its own key) and less for deeper ones.
        """
        known = self._known.get(field)
        if known is None:
            leaves = self._index.fields[field].leaves
            outside = leaves[-1] < self._first or leaves[0] >= self._last
            known = self._known[field] = [] if outside else self._weigh(leaves)
        return known

    def _weigh(self, leaves: list[int]) -> list[tuple[int, float, int]]:
        depths = self._index.depths
        out: list[tuple[int, float, int]] = []
        low, high = leaves[0], leaves[-1]
        for place, first, last, depth, own in self._records:
            if high < first or low >= last:
                continue
            start = bisect_left(leaves, first)
            held = leaves[start : bisect_left(leaves, last, start)][:_WIDE]
            out += [(leaf, 0.6 / away if (away := depths[leaf] - depth) else own, place) for leaf in held]
        return out if self._apart else _nearest(out)


def _nearest(held: list[tuple[int, float, int]]) -> list[tuple[int, float, int]]:
    """Return each value once, as near as it lies in any of the records, at its first place."""
    best: dict[int, tuple[int, float, int]] = {}
    for item in held:
        known = best.setdefault(item[0], item)
        if item[1] > known[1]:
            best[item[0]] = (item[0], item[1], known[2])
    return list(best.values())


class Index(Leaves):
    """The payloads of a trace up to a point, with what is asked of them."""

    def __init__(self) -> None:
        super().__init__()
        self._grouped: dict[int, dict[tuple[int, tuple[str, ...]], list[int]]] = {}
        self._sole: dict[int, int | None] = {}
        self._held: dict[tuple[tuple[int, ...], tuple[str, ...]], Held] = {}
        self._stems: dict[int, frozenset[str]] = {}
        self._about: dict[int, set[str]] = {}
        self._common: dict[tuple[str, ...], tuple[int, frozenset[str]]] = {}
        self._named: dict[str, dict[int, float]] = {}
        self._heard: dict[str, dict[str, float]] = {}

    def add(self, call: CallView) -> None:
        """Read the payload of one call; what words name is found anew where it brings new fields."""
        fields, tokens = len(self.fields), len(self.vocabulary)
        super().add(call)
        if len(self.fields) > fields:
            self._named.clear()
        if len(self.vocabulary) > tokens:
            self._heard.clear()

    def chain(self, record: int) -> Iterator[int]:
        """Yield a record and the records that hold it, innermost first."""
        while record >= 0:
            yield record
            record = self.records[record].parent

    def names_one(self, key: tuple[str, ...]) -> bool:
        """Say whether a label tells records apart: it names something, holds a digit, or few have it."""
        few = key in self._proper and len(self.labels[key]) <= 2
        return few or key in self._naming or any(c.isdigit() for part in key for c in part)

    def about(self, record: int) -> set[str]:
        """Return the parts of the names of a record's labels, of its place in the payload and of its tool."""
        known = self._about.get(record)
        if known is None:
            known = {part for name in self.names_of(record) for part in name}
            known |= {token for part in self.records[record].shape for token in name_tokens(part)}
            self._about[record] = known
        return known

    def names_of(self, record: int) -> list[tuple[str, ...]]:
        """Return the labels of a record."""
        return self._names.get(record, [])

    def sole(self, document: Document) -> int | None:
        """Return the field of a payload that alone holds numbers, where several of its records have it."""
        if document.root not in self._sole:
            held = self.records[document.root]
            fields = {leaf.field for leaf in self.leaves[held.first : held.last] if quantity(leaf.value) is not None}
            only = next(iter(fields)) if len(fields) == 1 else None
            many = only is not None and len(self.within(only, document.root)) > 2
            self._sole[document.root] = only if many else None
        return self._sole[document.root]

    def lists(self, root: int) -> dict[tuple[str, ...], list[int]]:
        """Return the records below a payload's root that stand in one list each, by their shape."""
        return {shape: records for (_, shape), records in self._groups(root).items()}

    def siblings(self, record: int) -> list[int]:
        """Return the records of the same kind in the same place, with the record itself."""
        held = self.records[record]
        return self._groups(self._root(record))[held.parent, held.shape] if held.parent >= 0 else [record]

    def _groups(self, root: int) -> dict[tuple[int, tuple[str, ...]], list[int]]:
        """Return the records of one payload by what holds them and by kind."""
        known = self._grouped.get(root)
        if known is None:
            known = self._grouped[root] = {}
            for number in range(root + 1, len(self.records)):
                held = self.records[number]
                if held.parent < 0:
                    break
                known.setdefault((held.parent, held.shape), []).append(number)
        return known

    def _root(self, record: int) -> int:
        while self.records[record].parent >= 0:
            record = self.records[record].parent
        return record

    def stems(self, record: int) -> frozenset[str]:
        """Return the stems of all that a record and the records that hold it are called (`about`)."""
        known = self._stems.get(record)
        if known is None:
            parent = self.records[record].parent
            known = frozenset(map(stem, self.about(record)))
            if parent >= 0:
                known |= self.stems(parent)
            self._stems[record] = known
        return known

    def within(self, field: int, record: int) -> list[int]:
        """Return the leaves of a field inside a record."""
        leaves = self.fields[field].leaves
        held = self.records[record]
        return leaves[bisect_left(leaves, held.first) : bisect_left(leaves, held.last)]

    def held(self, records: tuple[int, ...], label: tuple[str, ...]) -> Held:
        """Return what some records hold that are named by a label."""
        known = self._held.get((records, label))
        if known is None:
            known = self._held[records, label] = Held(self, records[:_WIDE], label)
        return known

    def named_by(self, word: str) -> dict[int, float]:
        """Return the fields that a word names, with how well: above 0.5 by their own name, else by what holds them."""
        known = self._named.get(word)
        if known is None:
            known = {}
            first = str(SPOKEN[word])[0] if word in SPOKEN else None
            for token, weight in self.heard(word).items():
                if first and token[0] != first and token not in synonyms(word):
                    continue
                for field in self.vocabulary[token]:
                    held = self.fields[field]
                    if token not in held.tokens:
                        known[field] = max(weight * 0.5, known.get(field, 0.0))
                    elif token not in self.common(held):
                        known[field] = max(weight, known.get(field, 0.0))
            self._named[word] = known
        return known

    def heard(self, word: str) -> dict[str, float]:
        """Return the parts of field names that a word names, with how well (`names`)."""
        known = self._heard.get(word)
        if known is None:
            known = {t: weight for t in self._initials.get(word[:1], ()) if (weight := names(word, t))}
            known.update((t, names(word, t)) for t in synonyms(word) if t in self.vocabulary)
            for digit in "0123456789" if word in SPOKEN else ():
                known.update((t, weight) for t in self._initials.get(digit, ()) if (weight := names(word, t)))
            self._heard[word] = known
        return known

    def heard_in(self, context: Iterable[str]) -> dict[str, float]:
        """Return the parts of field names that some of the words name, with how well the best does."""
        out: dict[str, float] = {}
        for word in context:
            heard = self.heard(word)
            for token, weight in heard.items() if heard else ():
                if weight > out.get(token, 0.0):
                    out[token] = weight
        return out

    def common(self, field: Field) -> frozenset[str]:
        """Return the parts that most neighbouring field names share: they tell nothing apart."""
        beside = self.beside[field.path[:-1]]
        if len(beside) < 4:
            return _NOTHING
        key = field.path[:-1]
        known = self._common.get(key)
        if known is None or known[0] != len(beside):
            counts = Counter(token for other in beside for token in set(other.tokens))
            shared = frozenset(token for token, count in counts.items() if count > len(beside) * 0.6)
            known = self._common[key] = (len(beside), shared)
        return known[1]

    def has_currency(self, field: Field) -> bool:
        """Say whether a currency stands beside a field: then a whole number may count its hundredths."""
        return any("currency" in other.tokens for other in self.beside[field.path[:-1]])

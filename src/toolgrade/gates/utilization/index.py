"""Questions to an index of payloads: what lies where, what words name, what a record is called."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator

from toolgrade.gates.utilization.leaves import Document, Field, Leaves
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import SPOKEN, name_tokens, names, synonyms


class Index(Leaves):
    """The payloads of a trace up to a point, with what is asked of them."""

    def __init__(self) -> None:
        super().__init__()
        self._siblings: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
        self._siblings_of = 0
        self._sole: dict[int, int | None] = {}
        self._about: dict[int, set[str]] = {}
        self._common: dict[tuple[str, ...], tuple[int, frozenset[str]]] = {}
        self._named: tuple[int, dict[str, dict[int, float]]] = (0, {})

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
        self.siblings(root)
        return {
            shape: records
            for (parent, shape), records in self._siblings.items()
            if parent >= 0
            and self.records[root].first <= self.records[parent].first
            and self.records[parent].last <= self.records[root].last
        }

    def siblings(self, record: int) -> list[int]:
        """Return the records of the same kind in the same place, with the record itself."""
        if self._siblings_of != len(self.records):
            self._siblings = defaultdict(list)
            for number, held in enumerate(self.records):
                self._siblings[held.parent, held.shape].append(number)
            self._siblings_of = len(self.records)
        held = self.records[record]
        return self._siblings[held.parent, held.shape] if held.parent >= 0 else [record]

    def within(self, field: int, record: int) -> list[int]:
        """Return the leaves of a field inside a record."""
        leaves = self.fields[field].leaves
        held = self.records[record]
        return leaves[bisect_left(leaves, held.first) : bisect_left(leaves, held.last)]

    def named_by(self, word: str) -> dict[int, float]:
        """Return the fields that a word names, with how well: above 0.5 by their own name, else by what holds them."""
        if self._named[0] != len(self.fields):
            self._named = (len(self.fields), {})
        known = self._named[1].get(word)
        if known is None:
            known = {}
            first = str(SPOKEN.get(word, word))[:1]
            alike = synonyms(word)
            for token in (*self._initials.get(first, ()), *(other for other in alike if other[:1] != first)):
                if token not in self.vocabulary:
                    continue
                weight = names(word, token)
                for field in self.vocabulary[token] if weight else ():
                    held = self.fields[field]
                    if token not in held.tokens:
                        known[field] = max(weight * 0.5, known.get(field, 0.0))
                    elif token not in self.common(held):
                        known[field] = max(weight, known.get(field, 0.0))
            self._named[1][word] = known
        return known

    def weight(self, word: str, token: str) -> float:
        """Return how well a word names one part of a field name."""
        return names(word, token)

    def common(self, field: Field) -> frozenset[str]:
        """Return the parts that most neighbouring field names share: they tell nothing apart."""
        key = field.path[:-1]
        known = self._common.get(key)
        if known is None or known[0] != len(self.fields):
            beside = [other.tokens for other in self.fields if other.path[:-1] == key]
            counts = Counter(token for tokens in beside for token in set(tokens))
            shared = {token for token, count in counts.items() if len(beside) >= 4 and count > len(beside) * 0.6}
            known = self._common[key] = (len(self.fields), frozenset(shared))
        return known[1]

    def has_currency(self, field: Field) -> bool:
        """Say whether a currency stands beside a field: then a whole number may count its hundredths."""
        beside = (other for other in self.fields if other.path[:-1] == field.path[:-1])
        return any("currency" in other.tokens for other in beside)

    def kind(self, words: frozenset[str]) -> list[int]:
        """Return the fields whose names hold one of the words."""
        return [f.number for f in self.fields if words.intersection((*f.tokens, *f.around))]

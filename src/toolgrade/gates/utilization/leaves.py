"""An index of payloads: every value with its JSON pointer, its field and the records that it belongs to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from toolgrade.core.trace import ToolResult
from toolgrade.core.view import CallView, payload
from toolgrade.gates.utilization.dates import Day, payload_moment
from toolgrade.gates.utilization.lexicon import STATUS_FIELDS
from toolgrade.gates.utilization.texts import structured
from toolgrade.gates.utilization.words import WORD, fold, name_tokens, names

_NAMING = {"id", "ids", "number", "no", "code", "key", "sku", "ref", "reference", "name", "title"}
_NUMERIC = re.compile(
    r"\s*(?:(?P<cur>US\$|[$€£¥₹]|USD|EUR|GBP)\s?)?(?P<num>[-−]?\d+(?:,\d{3})*(?:\.\d+)?)\s?(?P<post>%|USD|EUR|GBP|€)?\s*"
)
_LONG = 200
_DEEP = 60


class Document(NamedTuple):
    """One payload: the call that it answers, and its root record."""

    call: CallView
    root: int


class Field(NamedTuple):
    """A field of one kind of record: its path from the root without indices, and the parts of its own name."""

    number: int
    path: tuple[str, ...]
    tokens: tuple[str, ...]
    around: tuple[str, ...]
    leaves: list[int]


class Leaf(NamedTuple):
    """One scalar of a payload: which document, where, under which field, in which record."""

    document: int
    pointer: str
    field: int
    value: Any
    record: int


class Record:
    """An object that stands for one thing: a payload, an element of a list, a row, an entry of a map."""

    __slots__ = ("depth", "first", "key", "last", "parent", "shape")

    def __init__(self, parent: int, shape: tuple[str, ...], depth: int, first: int) -> None:
        self.key: str | None = None
        self.parent = parent
        self.shape = shape
        self.depth = depth
        self.first = first
        self.last = first


class Index:
    """All payloads up to a point of the trace, each read once."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.leaves: list[Leaf] = []
        self.records: list[Record] = []
        self.fields: list[Field] = []
        self.labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.days: dict[tuple[int, int], list[tuple[Day, int, int]]] = defaultdict(list)
        self.parts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.values: dict[float, list[int]] = defaultdict(list)
        self.vocabulary: dict[str, list[int]] = defaultdict(list)
        self.longest: dict[str, int] = {}
        self.booleans: list[int] = []
        self.status_fields: list[int] = []
        self.status_values: set[str] = set()
        self._naming: set[tuple[str, ...]] = set()
        self._sole: dict[int, int | None] = {}
        self._about: dict[int, set[str]] = {}
        self._names: dict[int, list[tuple[str, ...]]] = defaultdict(list)
        self._siblings: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
        self._siblings_of = 0
        self._fields: dict[tuple[str, ...], Field] = {}
        self._named: dict[str, dict[int, float]] = {}
        self._common: dict[tuple[str, ...], tuple[int, frozenset[str]]] = {}

    def add(self, call: CallView) -> None:
        """Read the payload of one call; the arguments of the call name what the payload is about."""
        assert call.result is not None  # noqa: S101
        record = self._record(-1, (call.call.name,), 0)
        self.documents.append(Document(call, record))
        for value in (call.call.arguments or {}).values():
            if isinstance(value, str | int) and not isinstance(value, bool):
                self._label(str(value), record, naming=True)
        self._walk(_content(call), "", (), record)
        self.records[record].last = len(self.leaves)

    def chain(self, record: int) -> Iterator[int]:
        """Yield a record and the records that hold it, innermost first."""
        while record >= 0:
            yield record
            record = self.records[record].parent

    def names_one(self, key: tuple[str, ...]) -> bool:
        """Say whether a label tells records apart: it names something, or it holds a digit."""
        return key in self._naming or any(c.isdigit() for part in key for c in part)

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

    def spelled(self, text: str) -> list[tuple[str, ...]]:
        """Return the label that a text spells, if records have it."""
        key = tuple(fold(part) for part in WORD.findall(text))
        return [key] if key in self.labels else []

    def own(self, record: int) -> list[int]:
        """Return the first values inside a record."""
        held = self.records[record]
        return list(range(held.first, min(held.last, held.first + 60)))

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
        known = self._named.get(word)
        if known is None:
            known = {}
            for token, fields in self.vocabulary.items():
                weight = names(word, token)
                for field in fields if weight else ():
                    held = self.fields[field]
                    if token not in held.tokens:
                        known[field] = max(weight * 0.5, known.get(field, 0.0))
                    elif token not in self.common(held):
                        known[field] = max(weight, known.get(field, 0.0))
            self._named[word] = known
        return known

    def kind(self, words: frozenset[str]) -> list[int]:
        """Return the fields whose names hold one of the words."""
        return [f.number for f in self.fields if words.intersection((*f.tokens, *f.around))]

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

    def _record(self, parent: int, shape: tuple[str, ...], depth: int) -> int:
        self.records.append(Record(parent, shape, depth, len(self.leaves)))
        return len(self.records) - 1

    def _walk(self, value: Any, pointer: str, path: tuple[str, ...], record: int) -> None:
        if isinstance(value, dict):
            if columns := _columns(value):
                self._rows(value, columns, pointer, path, record)
            else:
                self._object(value, pointer, path, record)
        elif isinstance(value, list):
            self._list(value, pointer, path, record)
        else:
            self._leaf(value, pointer, path, record)

    def _object(self, value: dict[str, Any], pointer: str, path: tuple[str, ...], record: int) -> None:
        alike = _alike(value)
        for key, item in value.items():
            at = f"{pointer}/{escape(key)}"
            if key in alike and len(self.records[record].shape) < _DEEP:
                inner = self._record(record, (*self.records[record].shape, *path, "*"), self.records[record].depth + 1)
                self.records[inner].key = key
                self._label(key, inner, naming=True)
                self._object(item, at, (*path, "*"), inner)
                self.records[inner].last = len(self.leaves)
            elif len(path) < _DEEP:
                self._walk(item, at, (*path, key), record)

    def _list(self, value: list[Any], pointer: str, path: tuple[str, ...], record: int) -> None:
        for number, item in enumerate(value):
            at = f"{pointer}/{number}"
            if isinstance(item, dict):
                inner = self._record(record, (*self.records[record].shape, *path), self.records[record].depth + 1)
                self._walk(item, at, path, inner)
                self.records[inner].last = len(self.leaves)
            elif len(path) < _DEEP:
                self._walk(item, at, path, record)

    def _rows(
        self, value: dict[str, Any], columns: list[str], pointer: str, path: tuple[str, ...], record: int
    ) -> None:
        first = value[columns[0]]
        keys = list(first) if isinstance(first, dict) else range(len(first))
        for key in keys:
            inner = self._record(record, (*self.records[record].shape, *path, "*"), self.records[record].depth + 1)
            for column in columns:
                self._leaf(value[column][key], f"{pointer}/{escape(column)}/{key}", (*path, column), inner)
            self.records[inner].last = len(self.leaves)

    def _leaf(self, value: Any, pointer: str, path: tuple[str, ...], record: int) -> None:
        field = self._fields.get(path)
        if field is None:
            field = self._field(path)
        number = len(self.leaves)
        field.leaves.append(number)
        self.leaves.append(Leaf(len(self.documents) - 1, pointer, field.number, value, record))
        if isinstance(value, str):
            if len(value) <= _LONG:
                self._text(value, field, record, number)
        elif isinstance(value, bool):
            if field.number not in self.booleans:
                self.booleans.append(field.number)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.values[float(value)].append(number)
            if isinstance(value, int) and _NAMING.intersection(field.tokens):
                self._label(str(value), record)

    def _field(self, path: tuple[str, ...]) -> Field:
        own = next((part for part in reversed(path) if part != "*"), "")
        tokens = name_tokens(own)
        around = tuple(token for part in path[:-1] for token in name_tokens(part))
        field = Field(len(self.fields), path, tokens, around, [])
        self.fields.append(field)
        self._fields[path] = field
        for token in {*tokens, *around}:
            self.vocabulary[token].append(field.number)
        self._named.clear()
        return field

    def _text(self, value: str, field: Field, record: int, number: int) -> None:
        if value[:1].isdigit() or value[:1] in "-−$€£¥.":
            amount = quantity(value)
            if amount is not None:
                self.values[amount].append(number)
                if _NAMING.intersection(field.tokens):
                    self._label(value, record)
                return
            day, _ = payload_moment(value)
            if day is not None:
                self.days[day.month, day.day].append((day, record, number))
                return
        if field.tokens and field.tokens[-1] in STATUS_FIELDS:
            if field.number not in self.status_fields:
                self.status_fields.append(field.number)
            self.status_values.add(value.casefold())
        self._label(value, record, bool(_NAMING.intersection(field.tokens)))

    def _label(self, text: str, record: int, naming: bool = False) -> None:
        parts = WORD.findall(text)
        if not 0 < len(parts) <= 8:
            return
        key = tuple(fold(part) for part in parts)
        held = self.labels[key]
        if not held:
            self.longest[key[0]] = max(self.longest.get(key[0], 0), len(key))
        if not held or held[-1] != record:
            held.append(record)
            self._names[record].append(key)
        if naming or (text[:1].isupper() and len(held) <= 2):
            self._naming.add(key)
        if 1 < len(parts) <= 5:
            for part, folded in zip(parts, key, strict=True):
                if len(part) > 2 and part[0].isupper():
                    self.parts[folded].add(key)


def _content(call: CallView) -> Any:
    """Return a payload with the structure that its texts hold: JSON, a table, named lines."""
    assert call.result is not None  # noqa: S101
    content = payload(call.result)
    if isinstance(content, str):
        return structured(content)
    if isinstance(content, list) and content and all(isinstance(x, dict) and x.get("type") == "text" for x in content):
        return [{**part, "text": _read(part.get("text"))} for part in content]
    return content


def _read(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    read = payload(ToolResult(content=text))
    return structured(read) if isinstance(read, str) else read


def quantity(value: Any) -> float | None:
    """Return the number that a payload value is or holds as text (`"$45.00"`, `"15%"`, `"1,234"`)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and len(value) < 40:
        found = _NUMERIC.fullmatch(value)
        if found:
            return float(found["num"].replace(",", "").replace("−", "-"))
    return None


def escape(key: str) -> str:
    """Return one token of a JSON pointer (RFC 6901)."""
    return str(key).replace("~", "~0").replace("/", "~1")


def _columns(value: dict[str, Any]) -> list[str] | None:
    """Return the columns where an object is a table written column by column, as data frames export it."""
    if len(value) < 2:
        return None
    items = iter(value.values())
    first = next(items)
    if isinstance(first, dict):
        keys = first.keys()
        if not keys or not all(key.isdigit() for key in keys):
            return None
        if all(isinstance(item, dict) and item.keys() == keys for item in items) and not _nested(first.values()):
            return list(value)
    elif isinstance(first, list) and len(first) > 1 and not _nested(first):
        size = len(first)
        if all(isinstance(item, list) and len(item) == size and not _nested(item) for item in items):
            return list(value)
    return None


def _nested(items: Any) -> bool:
    return any(isinstance(item, dict | list) for item in items)


def _alike(value: dict[str, Any]) -> frozenset[str]:
    """Return the keys of sibling objects with the same fields that stand for things, each named by its key.

    Groups of mere numbers (`prices` and `seats` by class) are fields, unless their keys hold digits.
    """
    shapes: dict[frozenset[str], list[str]] = defaultdict(list)
    objects = [(key, item) for key, item in value.items() if isinstance(item, dict) and item]
    for key, item in objects:
        shapes[frozenset(item)].append(key)
    out: set[str] = set()
    for keys in shapes.values():
        named = any(isinstance(inner, str) for inner in value[keys[0]].values())
        if len(keys) > 1 and (named or any(any(c.isdigit() for c in key) for key in keys)):
            out.update(keys)
    if len(objects) == len(value) > 1 and any(any(c.isdigit() for c in key) for key in value):
        out.update(value)
    return frozenset(out)

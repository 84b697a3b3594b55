"""An index of payloads: every value with its JSON pointer, its field and the records that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from toolgrade.core.view import CallView
from toolgrade.gates.utilization.dates import Day, payload_moment
from toolgrade.gates.utilization.lexicon import STATUS_FIELDS
from toolgrade.gates.utilization.shapes import alike, columns, content, escape, quantity
from toolgrade.gates.utilization.words import WORD, fold, name_tokens, spelling

_NAMING = {"id", "ids", "number", "no", "code", "key", "sku", "ref", "reference", "name", "title"}
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
    naming: bool = False


class Leaf(NamedTuple):
    """One scalar of a payload: which document, where, under which field, in which record."""

    document: int
    pointer: str
    field: int
    value: Any
    record: int


class Record:
    """An object that stands for one thing: a payload, an element of a list, a row, an entry of a map."""

    __slots__ = ("depth", "first", "key", "label", "last", "parent", "shape")

    def __init__(self, parent: int, shape: tuple[str, ...], depth: int, first: int) -> None:
        self.key: str | None = None
        self.label: tuple[str, ...] = ()
        self.parent = parent
        self.shape = shape
        self.depth = depth
        self.first = first
        self.last = first


class Leaves:
    """All payloads up to a point of the trace, each read once."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.leaves: list[Leaf] = []
        self.depths: list[int] = []
        self.records: list[Record] = []
        self.fields: list[Field] = []
        self.labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.days: dict[tuple[int, int], list[tuple[Day, int, int]]] = defaultdict(list)
        self.called_days: dict[tuple[int, int], list[tuple[Day, int]]] = defaultdict(list)
        self.parts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.values: dict[float, list[int]] = defaultdict(list)
        self.vocabulary: dict[str, list[int]] = defaultdict(list)
        self.spelled: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.longest: dict[str, int] = {}
        self._depth = 0
        self._shapes: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
        self.booleans: list[int] = []
        self.status_fields: list[int] = []
        self.status_values: set[str] = set()
        self._proper: set[tuple[str, ...]] = set()
        self._naming: set[tuple[str, ...]] = set()
        self._initials: dict[str, list[str]] = defaultdict(list)
        self._names: dict[int, list[tuple[str, ...]]] = defaultdict(list)
        self._fields: dict[tuple[str, ...], Field] = {}

    def add(self, call: CallView) -> None:
        """Read the payload of one call; the arguments of the call name what the payload is about."""
        assert call.result is not None  # noqa: S101
        record = self._record(-1, (call.call.name,), 0)
        self.documents.append(Document(call, record))
        for value in (call.call.arguments or {}).values():
            if isinstance(value, str | int) and not isinstance(value, bool):
                self._label(str(value), record, naming=True)
                day = payload_moment(value)[0] if isinstance(value, str) and len(value) < 40 else None
                if day is not None:
                    self.called_days[day.month, day.day].append((day, record))
        self._walk(content(call), "", (), record)
        self.records[record].last = len(self.leaves)

    def _record(self, parent: int, shape: tuple[str, ...], depth: int) -> int:
        self.records.append(Record(parent, shape, depth, len(self.leaves)))
        return len(self.records) - 1

    def _walk(self, value: Any, pointer: str, path: tuple[str, ...], record: int) -> None:
        """Read a value; what lies deeper than any sane payload nests is left out, so claims about it stay open."""
        if not isinstance(value, dict | list):
            self._leaf(value, pointer, path, record)
        elif self._depth < _DEEP:
            self._depth += 1
            if isinstance(value, list):
                self._list(value, pointer, path, record)
            elif table := columns(value):
                self._rows(value, table, pointer, path, record)
            else:
                self._object(value, pointer, path, record)
            self._depth -= 1

    def _object(self, value: dict[str, Any], pointer: str, path: tuple[str, ...], record: int) -> None:
        things = alike(value)
        for key, item in value.items():
            at = f"{pointer}/{escape(key)}"
            if key not in things:
                self._walk(item, at, (*path, key), record)
                continue
            inner = self._inside(record, (*path, "*"))
            self.records[inner].key = key
            self.records[inner].label = spelling(key)
            self._label(key, inner, naming=True)
            self._walk(item, at, (*path, "*"), inner)
            self.records[inner].last = len(self.leaves)

    def _list(self, value: list[Any], pointer: str, path: tuple[str, ...], record: int) -> None:
        for number, item in enumerate(value):
            at = f"{pointer}/{number}"
            if isinstance(item, dict):
                inner = self._inside(record, path)
                self._walk(item, at, path, inner)
                self.records[inner].last = len(self.leaves)
            else:
                self._walk(item, at, path, record)

    def _inside(self, record: int, path: tuple[str, ...]) -> int:
        """Return a new record within another, of the kind that its path tells."""
        outer = self.records[record]
        shape = self._shapes.setdefault((outer.shape, path), (*outer.shape, *path))
        return self._record(record, shape, outer.depth + 1)

    def _rows(self, value: dict[str, Any], table: list[str], pointer: str, path: tuple[str, ...], record: int) -> None:
        first = value[table[0]]
        keys = list(first) if isinstance(first, dict) else range(len(first))
        for key in keys:
            inner = self._inside(record, (*path, "*"))
            for column in table:
                self._leaf(value[column][key], f"{pointer}/{escape(column)}/{key}", (*path, column), inner)
            self.records[inner].last = len(self.leaves)

    def _leaf(self, value: Any, pointer: str, path: tuple[str, ...], record: int) -> None:
        field = self._fields.get(path)
        if field is None:
            field = self._field(path)
        number = len(self.leaves)
        field.leaves.append(number)
        self.leaves.append(Leaf(len(self.documents) - 1, pointer, field.number, value, record))
        self.depths.append(self.records[record].depth)
        if isinstance(value, str):
            if len(value) <= _LONG:
                self._text(value, field, record, number)
        elif isinstance(value, bool):
            if field.number not in self.booleans:
                self.booleans.append(field.number)
        elif (amount := quantity(value)) is not None:
            self.values[amount].append(number)
            if field.naming and isinstance(value, int):
                self._label(str(value), record, leaf=number)

    def _field(self, path: tuple[str, ...]) -> Field:
        own = next((part for part in reversed(path) if part != "*"), "")
        tokens = name_tokens(own)
        around = tuple(token for part in path[:-1] for token in name_tokens(part))
        field = Field(len(self.fields), path, tokens, around, [], bool(_NAMING.intersection(tokens)))
        self.fields.append(field)
        self._fields[path] = field
        for token in {*tokens, *around}:
            if token not in self.vocabulary:
                self._initials[token[0]].append(token)
            self.vocabulary[token].append(field.number)
        return field

    def _text(self, value: str, field: Field, record: int, number: int) -> None:
        if value[:1].isdigit() or value[:1] in "-−$€£¥.":
            amount = quantity(value)
            if amount is not None:
                self.values[amount].append(number)
                if field.naming:
                    self._label(value, record, leaf=number)
                return
            day, _ = payload_moment(value)
            if day is not None:
                self.days[day.month, day.day].append((day, record, number))
                return
        if field.tokens and field.tokens[-1] in STATUS_FIELDS:
            if field.number not in self.status_fields:
                self.status_fields.append(field.number)
            self.status_values.add(value.casefold())
        self._label(value, record, field.naming, number)

    def _label(self, text: str, record: int, naming: bool = False, leaf: int | None = None) -> None:
        parts = WORD.findall(text)
        if not 0 < len(parts) <= 8:
            return
        key = tuple(map(fold, parts)) if len(parts) > 1 else (fold(parts[0]),)
        if leaf is not None:
            self.spelled[key].append(leaf)
        held = self.labels[key]
        if not held:
            self.longest[key[0]] = max(self.longest.get(key[0], 0), len(key))
        if not held or held[-1] != record:
            held.append(record)
            self._names[record].append(key)
        if naming:
            self._naming.add(key)
        elif text[:1].isupper():
            self._proper.add(key)
        if 1 < len(parts) <= 5:
            for part, folded in zip(parts, key, strict=True):
                if len(part) > 2 and part[0].isupper():
                    self.parts[folded].add(key)

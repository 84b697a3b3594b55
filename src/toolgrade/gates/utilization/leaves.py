"""An index of payloads: every value with its JSON pointer, its field and the records that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

from toolgrade.core.view import CallView
from toolgrade.gates.utilization.dates import Day, payload_moment
from toolgrade.gates.utilization.lexicon import MINOR, MONEY, PER_HUNDRED, PERCENT, STATUS_FIELDS, YEAR
from toolgrade.gates.utilization.shapes import NESTED, alike, columns, content, escape, quantity
from toolgrade.gates.utilization.words import WORD, fold, name_tokens, spelling

_NAMING = {"id", "ids", "number", "no", "code", "key", "sku", "ref", "reference", "name", "title"}
_new = tuple.__new__  # a third of the time of Leaf(...)
_SIGNS = frozenset("-−$€£¥.")
_WORDY = 8
_NAMED = 5
_LONG = 200
_DEEP = 60


class Document(NamedTuple):
    """One payload: the call that it answers, and its root record."""

    call: CallView
    root: int


class Name(NamedTuple):
    """What the name of a field says: its parts, those of what holds it, and what values of that name may be.

    `naming`: they name their record; `status`: they say how it stands; `money`; a `share`, by the field's own name
    (`own_share`), which may be told `per_hundred`; hundredths of a currency's unit (`minor`); a `year`.
    """

    tokens: tuple[str, ...]
    around: tuple[str, ...]
    naming: bool
    status: bool
    money: bool
    share: bool
    own_share: bool
    per_hundred: bool
    minor: bool
    year: bool


@lru_cache(maxsize=4096)
def name_of(path: tuple[str, ...]) -> Name:
    """Return the name of the field at a path without indices."""
    tokens = name_tokens(next((part for part in reversed(path) if part != "*"), ""))
    around = tuple(token for part in path[:-1] for token in name_tokens(part))
    every = (*tokens, *around)
    return Name(
        tokens,
        around,
        naming=not _NAMING.isdisjoint(tokens),
        status=bool(tokens) and tokens[-1] in STATUS_FIELDS,
        money=not MONEY.isdisjoint(every),
        share=not PERCENT.isdisjoint(every),
        own_share=not PERCENT.isdisjoint(tokens),
        per_hundred=not PER_HUNDRED.isdisjoint(tokens),
        minor=not MINOR.isdisjoint(tokens),
        year=not YEAR.isdisjoint(tokens),
    )


class Field:
    """A field of one kind of record: its path from the root without indices, its name and its values."""

    __slots__ = ("leaves", "number", "path", *Name._fields)

    def __init__(self, number: int, path: tuple[str, ...], name: Name | None = None) -> None:
        self.number = number
        self.path = path
        self.leaves: list[int] = []
        name = name or name_of(path)
        self.tokens, self.around, self.naming, self.status, self.money = name[:5]
        self.share, self.own_share, self.per_hundred, self.minor, self.year = name[5:]


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
        self.beside: dict[tuple[str, ...], list[Field]] = defaultdict(list)
        self.labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.days: dict[tuple[int, int], list[tuple[Day, int, int]]] = defaultdict(list)
        self.called_days: dict[tuple[int, int], list[tuple[Day, int]]] = defaultdict(list)
        self.parts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.numerals: dict[str, list[int]] = defaultdict(list)
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
        record = self._record(-1, (call.name,), 0)
        self.documents.append(Document(call, record))
        for value in (call.arguments or {}).values():
            if isinstance(value, str | int) and not isinstance(value, bool):
                self._label(str(value), label(str(value)), record, naming=True)
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
        if not isinstance(value, NESTED):
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
            at = f"{pointer}/{escape(key)}" if "/" in key or "~" in key else f"{pointer}/{key}"
            if key in things:
                inner = self._inside(record, (*path, "*"))
                self.records[inner].key = key
                self.records[inner].label = spelling(key)
                self._label(key, label(key), inner, naming=True)
                self._walk(item, at, (*path, "*"), inner)
                self.records[inner].last = len(self.leaves)
            elif isinstance(item, NESTED):
                self._walk(item, at, (*path, key), record)
            else:
                self._leaf(item, at, (*path, key), record)

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
        field = self._fields.get(path) or self._field(path)
        number = len(self.leaves)
        field.leaves.append(number)
        self.leaves.append(_new(Leaf, (len(self.documents) - 1, pointer, field.number, value, record)))
        self.depths.append(self.records[record].depth)
        if isinstance(value, str):
            if len(value) <= _LONG:
                self._text(value, field, record, number)
        elif isinstance(value, bool):
            if field.number not in self.booleans:
                self.booleans.append(field.number)
        elif isinstance(value, int) and quantity(value) is not None:
            self.numerals[str(value)].append(number)
            if field.naming:
                self._label(str(value), label(str(value)), record, leaf=number)

    def _field(self, path: tuple[str, ...]) -> Field:
        field = Field(len(self.fields), path)
        self.fields.append(field)
        self.beside[path[:-1]].append(field)
        self._fields[path] = field
        for token in {*field.tokens, *field.around}:
            if token not in self.vocabulary:
                self._initials[token[0]].append(token)
            self.vocabulary[token].append(field.number)
        return field

    def _text(self, value: str, field: Field, record: int, number: int) -> None:
        told = told_by(value)
        if told.number:
            self.numerals[value].append(number)
            if field.naming:
                self._label(value, told.label, record, leaf=number)
        elif told.day is not None:
            self.days[told.day.month, told.day.day].append((told.day, record, number))
        else:
            if field.status:
                if field.number not in self.status_fields:
                    self.status_fields.append(field.number)
                self.status_values.add(value.casefold())
            self._label(value, told.label, record, field.naming, number)

    def _label(self, text: str, read: Label, record: int, naming: bool = False, leaf: int | None = None) -> None:
        key, capitals = read
        if not key:
            return
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
        for part in capitals:
            self.parts[part].add(key)


Label = tuple[tuple[str, ...], tuple[str, ...]]
"""The folded words of a name, and those of them that may stand for the whole."""


class Told(NamedTuple):
    """What a short text in a payload is: a number, a day, or a name."""

    number: bool
    day: Day | None
    label: Label


@lru_cache(maxsize=8192)
def told_by(text: str) -> Told:
    """Return what a text is; the same few values come again and again, in one payload and in the next."""
    plain = not (text[:1].isdigit() or text[:1] in _SIGNS)
    number = not plain and quantity(text) is not None
    day = None if plain or number else payload_moment(text)[0]
    return Told(number, day, label(text) if day is None else ((), ()))


def label(text: str) -> Label:
    """Return the words of a text that is short enough to name something, folded, else nothing.

    The second part are those that may stand for the whole: the capitalised ones of a name of two to five words.
    """
    parts = WORD.findall(text)
    if not 0 < len(parts) <= _WORDY:
        return (), ()
    key = tuple(map(fold, parts))
    if not 1 < len(parts) <= _NAMED:
        return key, ()
    return key, tuple(fold(part) for part in parts if len(part) > 2 and part[0].isupper())

"""Which call meets which expected entry: an assignment of greatest weight among the calls of one tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.assignment import assign
from toolgrade.gates.difference import Difference, Fields, compare_call, differences, parameter_of
from toolgrade.gates.equality import equal

_OPEN = 0.999
"""What a field that only a judge can decide weighs against one that matches."""


class Pair(NamedTuple):
    """An expected entry, the call that was assigned to it (None: none was left), and its fields."""

    entry: ArgumentsExpected
    made: CallView | None
    fields: Fields


def paired(expected: tuple[ArgumentsExpected, ...], view: TraceView) -> list[Pair]:
    """Return one pair an entry, in the order of the entries.

    As many entries as possible are met in full; among such assignments the one with most matching fields.
    """
    rows: dict[str, list[int]] = {}
    for index, entry in enumerate(expected):
        rows.setdefault(entry.tool, []).append(index)
    pairs: dict[int, Pair] = {}
    for tool, indices in rows.items():
        calls = view.calls_of.get(tool, ())
        spec = view.tools.get(tool)
        defaults = spec.argument_schema.defaults if spec is not None else {}
        if len(indices) == 1:
            pairs[indices[0]] = _alone(expected[indices[0]], calls, defaults)
        else:
            entries = [expected[index] for index in indices]
            pairs |= zip(indices, _together(entries, calls, defaults), strict=True)
    return [pairs[index] for index in range(len(expected))]


def _alone(entry: ArgumentsExpected, calls: Sequence[CallView], defaults: dict[str, Any]) -> Pair:
    """Return the only entry of a tool with the first of the calls that meet it best."""
    best: CallView | None = None
    top = _NO_LOOK
    for made in calls:
        look = _look(entry, made.arguments, defaults)
        if look.weight > top.weight:
            best, top = made, look
            if look is _MET:
                break
    return _pair(entry, best, top, defaults)


def _together(entries: list[ArgumentsExpected], calls: Sequence[CallView], defaults: dict[str, Any]) -> list[Pair]:
    looks = [[_look(entry, made.arguments, defaults) for made in calls] for entry in entries]
    taken: Sequence[int | None] | None = _first_met(looks)
    if taken is None:
        # Another full match costs at most two others, which weigh less than 1 each: it is always worth it.
        taken = assign([[look.weight for look in row] for row in looks])
    return [
        _pair(entry, None, _NO_LOOK, defaults) if column is None else _pair(entry, calls[column], row[column], defaults)
        for entry, row, column in zip(entries, looks, taken, strict=True)
    ]


def _first_met(looks: list[list[_Look]]) -> list[int] | None:
    """Return for each row the first free column that meets it in full; None where that leaves one over.

    Where it leaves none over, no assignment weighs more, and most traces need no other.
    """
    taken: list[int] = []
    for row in looks:
        column = next((column for column, look in enumerate(row) if look is _MET and column not in taken), None)
        if column is None:
            return None
        taken.append(column)
    return taken


class _Look(NamedTuple):
    """How well a call meets an entry: the share of matching fields, and 1 more where no field is wrong.

    Where comparing values was enough, `wrong` names those that differ; else `fields` holds the full comparison.
    """

    weight: float
    wrong: Sequence[str] = ()
    fields: Fields | None = None


_NO_LOOK = _Look(-1.0)
_MET = _Look(2.0)


def _look(entry: ArgumentsExpected, given: dict[str, Any] | None, defaults: dict[str, Any]) -> _Look:
    if given and not (entry.compare or entry.null_is_absent) and entry.extras == "allow":
        wrong = [
            name
            for name, wanted in entry.values.items()
            if name not in given
            or (given[name] != wanted if wanted.__class__ is str else not equal(wanted, given[name]))
        ]
        if not wrong:
            return _MET
        if all(name in given for name in wrong):
            return _Look(1 - len(wrong) / len(entry.values), wrong)
    fields = _compared(entry, given, defaults)
    values = [1.0 if not found else _OPEN if is_right(found) else 0.0 for found in fields.values()]
    share = sum(values) / len(values) if values else 1.0
    return _Look(share + 1 if all(values) else share, fields=fields)


def _pair(entry: ArgumentsExpected, made: CallView | None, look: _Look, defaults: dict[str, Any]) -> Pair:
    if made is None:
        return Pair(entry, None, _compared(entry, None, defaults))
    if look.fields is not None:
        return Pair(entry, made, look.fields)
    fields: Fields = dict.fromkeys(entry.values, ())
    for name in look.wrong:
        fields[name] = differences(entry.values[name], (made.arguments or {})[name], (name,))
    return Pair(entry, made, fields)


def _compared(entry: ArgumentsExpected, given: dict[str, Any] | None, defaults: dict[str, Any]) -> Fields:
    if given is not None:
        return compare_call(entry, given, defaults)
    names = dict.fromkeys([*entry.values, *map(parameter_of, entry.compare)]) or {"$": None}
    return {name: (Difference("", entry.values.get(name), None, "no call"),) for name in names}


def is_right(differences: Sequence[Difference]) -> bool:
    """Return whether nothing differs, but for what only a judge can say."""
    return not differences or all(one.open for one in differences)

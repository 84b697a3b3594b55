"""Which call meets which expected entry: an assignment of greatest weight among the calls of one tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.assignment import assign
from toolgrade.gates.difference import Difference, Fields, compare_call, parameter_of
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
        entries = [expected[index] for index in indices]
        pairs |= zip(indices, _of_one_tool(entries, view.calls_of.get(tool, []), view), strict=True)
    return [pairs[index] for index in range(len(expected))]


def _of_one_tool(entries: list[ArgumentsExpected], calls: list[CallView], view: TraceView) -> list[Pair]:
    met = _first_met(entries, calls)
    if met is not None:
        return [Pair(entry, made, dict.fromkeys(entry.values, ())) for entry, made in zip(entries, met, strict=True)]
    tool = view.tools.get(entries[0].tool)
    defaults = tool.argument_schema.defaults if tool is not None else {}
    if len(entries) == len(calls) == 1:
        return [Pair(entries[0], calls[0], _fields(entries[0], calls[0], defaults))]
    looks = [[_look(entry, made, defaults, len(entries)) for made in calls] for entry in entries]
    pairs = []
    for row, column in enumerate(assign([[look.weight for look in looks_of] for looks_of in looks])):
        one, fields = (None, None) if column is None else (calls[column], looks[row][column].fields)
        pairs.append(Pair(entries[row], one, fields or _fields(entries[row], one, defaults)))
    return pairs


def _first_met(entries: list[ArgumentsExpected], calls: list[CallView]) -> list[CallView] | None:
    """Return for each entry the first free call that meets it in full; None where that leaves one over.

    Where it leaves none over, no assignment weighs more, and most traces need no other.
    """
    taken: list[CallView] = []
    for entry in entries:
        for made in calls:
            if made not in taken and _meets(entry, made.call.arguments):
                taken.append(made)
                break
        else:
            return None
    return taken


def _meets(entry: ArgumentsExpected, given: dict[str, Any] | None) -> bool:
    """Return whether a call has all values as they are; what takes more than a look is left to `_look`."""
    if not given or entry.compare or entry.extras == "forbid":
        return False
    return all(name in given and equal(wanted, given[name]) for name, wanted in entry.values.items())


def _fields(entry: ArgumentsExpected, made: CallView | None, defaults: dict[str, Any]) -> Fields:
    if made is not None and made.call.arguments is not None:
        return compare_call(entry, made.call.arguments, defaults)
    names = dict.fromkeys([*entry.values, *map(parameter_of, entry.compare)]) or {"$": None}
    return {name: (Difference("", entry.values.get(name), None, "no call"),) for name in names}


class _Look(NamedTuple):
    """What an entry and a call weigh together, and their fields where that took comparing them in full."""

    weight: float
    fields: Fields | None


def _look(entry: ArgumentsExpected, made: CallView, defaults: dict[str, Any], entries: int) -> _Look:
    """Weigh by the share of matching fields, and so much more for all of them that no sum of shares outweighs it."""
    given, fields = made.call.arguments, None
    if given and not entry.compare and entry.extras == "allow" and entry.values.keys() <= given.keys():
        values = [1.0 if equal(wanted, given[name]) else 0.0 for name, wanted in entry.values.items()]
    else:
        fields = _fields(entry, made, defaults)
        values = [1.0 if not found else _OPEN if is_right(found) else 0.0 for found in fields.values()]
    share = sum(values) / len(values) if values else 1.0
    return _Look(share + (entries + 1 if all(values) else 0), fields)


def is_right(differences: Sequence[Difference]) -> bool:
    """Return whether nothing differs, but for what only a judge can say."""
    return all(one.open for one in differences)

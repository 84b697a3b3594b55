"""Which call meets which expected entry: an assignment of greatest weight among the calls of one tool."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.assignment import assign
from toolgrade.gates.difference import Difference, compare_call, parameter_of

_OPEN = 0.999
"""What a field that only a judge can decide weighs against one that matches."""


class Pair(NamedTuple):
    """An expected entry, the call that was assigned to it (None: none was left), and its fields.

    `fields` holds every parameter that the entry speaks of, with its differences: none means a match.
    """

    entry: ArgumentsExpected
    made: CallView | None
    fields: dict[str, list[Difference]]


def paired(expected: tuple[ArgumentsExpected, ...], view: TraceView) -> list[Pair]:
    """Return one pair an entry, in the order of the entries.

    As many entries as possible are met in full; among such assignments the one with most matching fields.
    """
    calls: dict[str, list[CallView]] = defaultdict(list)
    for made in view.calls:
        calls[made.call.name].append(made)
    rows: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(expected):
        rows[entry.tool].append(index)
    pairs: dict[int, Pair] = {}
    for tool, indices in rows.items():
        entries = [expected[index] for index in indices]
        pairs |= zip(indices, _of_one_tool(entries, calls.get(tool, []), view), strict=True)
    return [pairs[index] for index in range(len(expected))]


def _of_one_tool(entries: list[ArgumentsExpected], calls: list[CallView], view: TraceView) -> list[Pair]:
    tool = view.tools.get(entries[0].tool)
    defaults = tool.argument_schema.defaults if tool is not None else {}
    table = [
        [
            _unmet(entry) if made.call.arguments is None else compare_call(entry, made.call.arguments, defaults)
            for made in calls
        ]
        for entry in entries
    ]
    if len(entries) == 1 and len(calls) == 1:
        taken: list[int | None] = [0]
    else:
        taken = assign([[_weight(fields, len(entries)) for fields in row] for row in table])
    return [
        Pair(entry, None, _unmet(entry)) if column is None else Pair(entry, calls[column], table[row][column])
        for row, (entry, column) in enumerate(zip(entries, taken, strict=True))
    ]


def _weight(fields: dict[str, list[Difference]], entries: int) -> float:
    """Return the share of matching fields, and so much more for all of them that no sum of shares outweighs it."""
    values = [1.0 if not found else _OPEN if is_open(found) else 0.0 for found in fields.values()]
    share = sum(values) / len(values) if values else 1.0
    return share + (entries + 1 if all(values) else 0)


def is_open(differences: list[Difference]) -> bool:
    """Return whether only a judge can say that these differ; False where there are none."""
    return bool(differences) and all(one.open for one in differences)


def _unmet(entry: ArgumentsExpected) -> dict[str, list[Difference]]:
    names = dict.fromkeys([*entry.values, *map(parameter_of, entry.compare)]) or {"$": None}
    return {name: [Difference("", entry.values.get(name), None, "no call")] for name in names}

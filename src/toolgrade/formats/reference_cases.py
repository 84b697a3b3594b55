"""Reference trajectories as cases, with the meaning that their own tools give them.

`strict`: these calls with these arguments, no others, in the order of first use. `unordered`: the same without
the order. `in_order`: these in the order of first use, and others. `superset`: at least these. `subset`: none but
these, and no more calls than these.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

from toolgrade.core.case import Case
from toolgrade.core.expected import (
    ArgumentsExpected,
    EfficiencyExpected,
    Expected,
    OrderingExpected,
    SelectionExpected,
)
from toolgrade.core.trace import Message, ToolCall
from toolgrade.formats.access import describe
from toolgrade.formats.record import Malformed

Match = Literal["strict", "unordered", "in_order", "superset", "subset"]


def reference_case(
    name: str,
    messages: Iterable[Message],
    match: Match,
    place: str,
    metadata: dict[str, Any] | None = None,
    arguments: Literal["exact", "ignore"] = "exact",
) -> Case:
    """Return the case that a reference trajectory states.

    Args:
        name: the id of the case.
        messages: the trajectory; what the user says in it is the input, its calls are expected.
        match: how the calls of a run relate to those of the reference.
        place: where it stands, for messages.
        metadata: what else the source says.
        arguments: whether the arguments are part of the reference.

    Raises:
        Malformed: a call of the reference has arguments that are no object.
    """
    messages = list(messages)
    calls = [call for message in messages for call in message.tool_calls]
    said = [message.content for message in messages if message.role == "user" and message.content]
    asked: str | tuple[dict[str, Any], ...] | None = said[0] if len(said) == 1 else None
    if len(said) > 1:
        asked = tuple({"role": "user", "content": text} for text in said)
    return Case(
        id=name,
        input=asked,
        expected=expected_calls(calls, match, arguments),
        metadata=metadata or {},
        place=place,
    )


def expected_calls(calls: list[ToolCall], match: Match, arguments: Literal["exact", "ignore"] = "exact") -> Expected:
    """Return what is expected where `calls` are the reference."""
    names = tuple(call.name for call in calls)
    known = tuple(dict.fromkeys(names))
    extras: Literal["allow", "forbid"] = "allow" if match in ("superset", "in_order") else "forbid"
    if match == "subset":
        selection = SelectionExpected(required=(), extras=known) if known else SelectionExpected(required=())
    else:
        selection = SelectionExpected(required=names, extras=extras)
    order = tuple(OrderingExpected(before=one, after=two) for one, two in pairwise(known))
    wanted = () if arguments == "ignore" or match == "subset" else tuple(_arguments(call) for call in calls)
    fields: dict[str, Any] = {"selection": selection}
    if wanted:
        fields["arguments"] = wanted
    if order and match in ("strict", "in_order"):
        fields["ordering"] = order
    if match == "subset":
        fields["efficiency"] = EfficiencyExpected(max_calls=len(calls))
    return Expected(**fields)


def _arguments(call: ToolCall) -> ArgumentsExpected:
    if call.arguments is None:
        raise Malformed("arguments", describe(call.arguments_raw), "an object of arguments by name")
    return ArgumentsExpected(tool=call.name, values=call.arguments, extras="forbid")

"""Which call a result answers: by id; without an id the oldest open call of its name, or the oldest at all."""

from __future__ import annotations

import pytest

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView


def answered(calls: list[tuple[str, str | None]], results: list[tuple[str | None, str | None]]) -> list[str | None]:
    """Return the content that each call got; results hold their own number."""
    made = tuple(ToolCall(name=name, id=key) for name, key in calls)
    told = [
        Message(role="tool", result=ToolResult(name=name, call_id=key, content=str(number)))
        for number, (name, key) in enumerate(results)
    ]
    view = TraceView(Trace(id="t", messages=(Message(role="assistant", tool_calls=made), *told)))
    return [call.result.content if call.result else None for call in view.calls]


@pytest.mark.parametrize(
    ("calls", "results", "expected"),
    [
        ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")], ["1", "0"]),
        ([("a", None), ("b", None)], [("b", None), ("a", None)], ["1", "0"]),
        ([("a", None), ("a", None)], [(None, None), (None, None)], ["0", "1"]),
        ([("a", "1"), ("a", "1")], [("a", "1"), ("a", "1")], ["0", "1"]),  # an id that is used twice
        ([("a", "1"), ("a", "1")], [("a", None), ("a", "1")], ["0", "1"]),  # the first was answered by its name
        ([("a", "1")], [("a", "9")], [None]),  # an id that nobody called
        ([("a", "1")], [("a", "1"), ("a", "1")], ["0"]),
    ],
)
def test_a_result_answers_one_call(calls, results, expected):
    assert answered(calls, results) == expected


def test_results_that_answer_nothing_are_kept_apart():
    stray = ToolResult(call_id="9", content="x")
    view = TraceView(Trace(id="t", messages=(Message(role="tool", result=stray),)))
    assert view.unmatched_results == [(0, stray)]

"""Which call a result answers: by id; without an id the oldest open call of its name, or the oldest at all."""

from __future__ import annotations

import pytest

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace, Usage
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


def test_the_traces_own_total_comes_before_the_sum_over_its_messages() -> None:
    messages = (
        Message(role="assistant", content="a", latency_ms=10, usage=Usage(input_tokens=5)),
        Message(role="assistant", content="b", latency_ms=20, usage=Usage(input_tokens=5, output_tokens=2)),
        Message(role="assistant", content="c"),
    )
    summed = TraceView(Trace(id="t", messages=messages))
    assert (summed.latency_ms, summed.tokens) == (30, 12)
    told = TraceView(Trace(id="t", messages=messages, latency_ms=100, usage=Usage(input_tokens=50, output_tokens=1)))
    assert (told.latency_ms, told.tokens) == (100, 51)
    silent = TraceView(Trace(id="t", messages=messages[2:]))
    assert (silent.latency_ms, silent.tokens) == (None, None)

# ruff: noqa: E501
"""OpenAI chat and back: every call and result is kept, with its pairing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView, payload
from toolgrade.formats.convert import convert, write_traces
from toolgrade.formats.registry import detect_format, read_traces

SAMPLE = Path(__file__).parents[2] / "examples" / "airline"


def pairs(trace: Trace) -> list[tuple[Any, ...]]:
    return [
        (made.step, made.turn, made.call.name, made.call.arguments, made.call.arguments_raw, made.call.parse_error)
        + ((payload(made.result), made.result.is_error, made.result.status, made.result.error) if made.result else ())
        for made in TraceView(trace).calls
    ]


def there_and_back(trace: Trace, folder: Path) -> Trace:
    write_traces([trace], folder / "in.jsonl")
    convert(folder / "in.jsonl", folder / "out", to="openai")
    written = folder / "out" / "traces.jsonl"
    assert detect_format(written).name == "openai-chat"
    (record,) = read_traces(written)
    assert record.trace is not None, record.error
    return record.trace


def test_the_sample_comes_back_with_every_call_and_result(tmp_path: Path) -> None:
    for record in read_traces(SAMPLE / "traces.jsonl"):
        again = there_and_back(record.trace, tmp_path)
        assert again.messages == record.trace.messages
        assert (again.id, again.case_id, again.trial) == (record.trace.id, record.trace.case_id, record.trace.trial)


def test_calls_without_ids_broken_arguments_and_error_flags_survive(tmp_path: Path) -> None:
    broken = ToolCall(
        name="g",
        arguments=None,
        arguments_raw='{"a": ',
        parse_error="not JSON: EOF while parsing a value at line 1 column 6",
    )
    trace = Trace(
        id="t",
        messages=(
            Message(role="assistant", tool_calls=(ToolCall(name="f", arguments={"n": 10**30}), ToolCall(name="f"), broken)),
            Message(role="tool", result=ToolResult(name="g", content=None, error="bad JSON", is_error=True, status=400)),
            Message(role="tool", result=ToolResult(content={"k": [1, None]})),
            Message(role="tool", result=ToolResult(content="")),
        ),
    )  # fmt: skip
    again = there_and_back(trace, tmp_path)
    assert pairs(again) == pairs(trace)
    messages = json.loads((tmp_path / "out" / "traces.jsonl").read_text())["messages"]
    assert [call["id"] for call in messages[0]["tool_calls"]] == ["call_0", "call_1", "call_2"]
    assert [message["tool_call_id"] for message in messages[1:]] == ["call_2", "call_0", "call_1"]

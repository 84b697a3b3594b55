"""`to_openai` and back: every call and every result of every collected trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces
from toolgrade.formats.to_openai import to_openai


def _back(trace: Trace, tmp_path: Path) -> Trace:
    file = tmp_path / "openai.json"
    file.write_text(json.dumps(to_openai(trace)), encoding="utf-8")
    (record,) = read_traces(file)
    assert record.trace is not None, record.error
    return record.trace


def _value(content: Any) -> Any:
    try:
        return json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return content


def _seen(trace: Trace) -> list[tuple[Any, ...]]:
    seen = []
    for item in TraceView(trace).calls:
        call, result = item.call, item.result
        back = None if result is None else (_value(result.content), result.is_error, result.status, result.error)
        seen.append((item.step, item.turn, call.id, call.name, call.arguments, call.arguments_raw, back))
    return seen


@pytest.mark.shared
def test_every_collected_trace_keeps_its_calls_and_results(shared: Path, tmp_path: Path) -> None:
    read = list(read_traces(shared / "data/trace_formats/langfuse"))
    for folder in ("anthropic_messages", "openai_responses", "strands_evals_spans", "swe_agent_traj", "google_adk"):
        read += list(read_traces(shared / "data/trace_formats" / folder))
    traces = [record.trace for record in read if record.trace is not None]
    assert len(traces) > 30
    for trace in traces:
        back = _back(trace, tmp_path)
        assert _seen(back) == _seen(trace)
        assert [message.role for message in back.messages] == [message.role for message in trace.messages]


NAMES = st.sampled_from(["f", "g"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
CALLS = st.builds(
    ToolCall,
    name=NAMES,
    id=st.none() | st.sampled_from(["1", "2"]),
    arguments=st.dictionaries(st.text(max_size=3), JSON),
)
BROKEN = st.builds(
    lambda name: ToolCall(name=name, id="b", arguments=None, arguments_raw='{"a', parse_error="cut"), NAMES
)
RESULTS = st.builds(
    ToolResult,
    call_id=st.sampled_from(["1", "2", "b"]),
    content=st.text(max_size=5) | st.dictionaries(st.text(max_size=3), JSON, min_size=1),
    status=st.none() | st.just(503),
    error=st.none() | st.just("no"),
    is_error=st.none() | st.booleans(),
)
MESSAGES = st.one_of(
    st.builds(lambda text: Message(role="user", content=text), st.text(max_size=5)),
    st.builds(
        lambda calls: Message(role="assistant", tool_calls=tuple(calls)),
        st.lists(CALLS | BROKEN, min_size=1, max_size=3),
    ),
    st.builds(lambda result: Message(role="tool", result=result), RESULTS),
)


@given(st.lists(MESSAGES, min_size=1, max_size=6))
def test_any_calls_and_results_come_back(tmp_path_factory: pytest.TempPathFactory, messages: list[Message]) -> None:
    trace = Trace(id="t", messages=tuple(messages))
    assert _seen(_back(trace, tmp_path_factory.getbasetemp())) == _seen(trace)


def test_what_the_format_has_no_field_for_stands_beside_it() -> None:
    trace = Trace(
        id="t",
        case_id="c",
        messages=(
            Message(role="assistant", agent="planner", tool_calls=(ToolCall(name="f", id="1", arguments={"a": 1}),)),
            Message(role="tool", result=ToolResult(call_id="1", content={"x": 1}, is_error=True, status=503)),
        ),
    )
    assert to_openai(trace) == {
        "id": "t",
        "case_id": "c",
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "name": "planner",
                "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": '{"x": 1}', "is_error": True, "status": 503},
        ],
    }

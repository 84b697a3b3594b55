"""OpenAI chat and back: every call and every result of every collected trace, whatever format it came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.openai_export import write_openai
from toolgrade.formats.registry import read_traces


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
        seen.append((item.step, item.turn, call.name, call.arguments, call.arguments_raw, back))
    return seen


@pytest.mark.shared
def test_every_collected_trace_keeps_its_calls_and_results(shared: Path, tmp_path: Path) -> None:
    read = list(read_traces(shared / "data/trace_formats"))
    traces = [record.trace for record in read if record.trace is not None]
    assert len(traces) > 90
    file = tmp_path / "openai.jsonl"
    file.write_bytes(b"".join(map(write_openai, traces)))
    backs = list(read_traces(file))
    assert [record.error for record in backs] == [None] * len(traces)
    for trace, record in zip(traces, backs, strict=True):
        back = record.trace
        assert back is not None and _seen(back) == _seen(trace)
        assert [message.role for message in back.messages] == [message.role for message in trace.messages]
        ids = [
            (call.id, told.id)
            for one, two in zip(trace.messages, back.messages, strict=True)
            for call, told in zip(one.tool_calls, two.tool_calls, strict=True)
        ]
        assert all(own in (None, kept) for own, kept in ids)

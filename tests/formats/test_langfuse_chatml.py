"""Langfuse's own normalisation (`*.chatml.json`, written by its maintainers) finds the same calls as we do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces

PAIRS = ("agno-2025-06-11", "crewai-2025-07-11", "google-adk-2025-08-28", "koog-2025-08-26")
PAIRS += ("langgraph-python-2025-08-22", "microsoft-agent-2025-12-17", "pydantic-ai-2025-06-06")
PAIRS += ("pydantic-ai-tools-2025-12-04", "vercel-aisdk-2025-11-17")


def _messages(chatml: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every message that the normalisation holds, of every observation, in and out."""
    for sides in chatml.values():
        for side in sides.values():
            yield from (item for item in side.get("data", []) if isinstance(item, dict))


def _load(shared: Path, name: str) -> tuple[Trace, list[dict[str, Any]]]:
    folder = shared / "data/trace_formats/langfuse"
    (record,) = read_traces(folder / f"{name}.trace.json")
    assert record.trace is not None, record.error
    return record.trace, list(_messages(json.loads((folder / f"{name}.chatml.json").read_text())))


@pytest.mark.shared
@pytest.mark.parametrize("name", PAIRS)
def test_every_call_of_the_normalisation_is_read_once_with_its_id_name_and_arguments(name: str, shared: Path) -> None:
    trace, messages = _load(shared, name)
    theirs = {
        (call["id"], call["name"], json.dumps(json.loads(call["arguments"]), sort_keys=True))
        for message in messages
        for call in message.get("tool_calls", [])
    }
    made = [call for message in trace.messages for call in message.tool_calls]
    ours = [(call.id, call.name, json.dumps(call.arguments, sort_keys=True)) for call in made]
    assert len(set(ours)) == len(ours)
    with_ids = {call for call in theirs if call[0]}
    assert with_ids <= set(ours)
    assert {call[1:] for call in theirs} <= {call[1:] for call in ours}
    if name != "koog-2025-08-26":  # whose calls it leaves as text in the content
        assert {call[1:] for call in theirs} == {call[1:] for call in ours}


@pytest.mark.shared
@pytest.mark.parametrize("name", PAIRS)
def test_every_result_of_the_normalisation_is_the_result_of_its_call(name: str, shared: Path) -> None:
    trace, messages = _load(shared, name)
    ours = {call.call.id: call.result for call in TraceView(trace).calls}
    for message in messages:
        call_id = message.get("tool_call_id")
        if message.get("role") == "tool" and call_id:
            result = ours[call_id]
            assert result is not None
            theirs = message["content"]
            text = result.content if isinstance(theirs, str) else json.loads(result.content)
            assert text == theirs

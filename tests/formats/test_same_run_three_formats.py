"""One run in three formats: τ-bench chat, and the MLflow and OTLP files made from it by the real SDKs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.case import Case
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.formats.tools import load_tools
from toolgrade.pipeline.grade import grade_trace


def _seen(trace: Trace) -> list[Any]:
    view = TraceView(trace)
    calls = [
        (item.step, item.turn, item.call.id, item.call.name, item.call.arguments, item.result and item.result.content)
        for item in view.calls
    ]
    said = [(words.step, words.turn, words.text) for words in view.said("assistant")]
    # The OTLP file holds a shortened system prompt, so that is not compared.
    return [calls, said, [words.text for words in view.said("user")]]


@pytest.mark.shared
def test_calls_results_words_steps_and_turns_are_identical(shared: Path) -> None:
    chat = [record.trace for record in read_traces(shared / "data/tau_bench_airline/gpt-4o-airline.json")]
    (origin,) = [trace for trace in chat if trace and str(trace.case_id).endswith("12") and trace.trial == 1]
    folder = shared / "data/trace_formats/_generated_here"
    read = [record.trace for record in read_traces(folder)]
    assert len(read) == 2
    for trace in read:
        assert trace is not None
        assert _seen(trace) == _seen(origin)


@pytest.mark.shared
def test_verdicts_are_identical(shared: Path) -> None:
    gold = shared / "data/tau_bench_airline/gpt-4o-airline.json"
    ((source, found),) = find_sources(gold)
    assert not isinstance(found, str) and found.cases is not None
    stated = [record.case for record in found.cases(source) if record.case is not None]
    (case,) = [case for case in stated if case.id.endswith("12")]
    # The reward is in τ-bench's own file only; what the agent did is in all three.
    case = case.model_copy(update={"expected": case.expected and case.expected.model_copy(update={"outcome": None})})
    tools = load_tools(shared / "data/tau_bench_airline/tools_airline.json")
    chat = [record.trace for record in read_traces(gold)]
    origin = next(trace for trace in chat if trace and trace.case_id == case.id and trace.trial == 1)
    others = [record.trace for record in read_traces(shared / "data/trace_formats/_generated_here")]
    strict = Case.model_validate(
        {
            "id": case.id,
            "expected": {
                "selection": {"required": ["get_reservation_details", "cancel_reservation"], "extras": "forbid"},
                "arguments": [{"tool": "get_reservation_details", "values": {"reservation_id": "3FRNFC"}}],
                "ordering": [{"before": "transfer_to_human_agents", "after": "get_user_details"}],
                "utilization": {"must_use": [{"tool": "get_reservation_details", "path": "$.created_at"}]},
            },
        }
    )
    failed = {
        check for check, (status, *_) in _verdict(origin, strict, tools).items() if status in ("failed", "blocked")
    }
    assert failed == {"selection", "arguments", "ordering"}
    for expectation in (case, strict):
        wanted = _verdict(origin, expectation, tools)
        for trace in others:
            assert trace is not None and _verdict(trace, expectation, tools) == wanted


def _verdict(trace: Trace, case: Case, tools: dict[str, ToolSpec]) -> dict[str, Any]:
    result = grade_trace(trace, case, tools)
    return {
        check: (
            found.status,
            found.basis,
            found.score,
            found.findings,
            [(q.dimension, q.place) for q in found.questions],
        )
        for check, found in result.checks.items()
    }

"""One run in three formats: τ-bench chat, and the MLflow and OTLP files made from it by the real SDKs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces


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

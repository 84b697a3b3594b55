"""Every collected trace file against what was written down after reading it.

The files in `expected/` were written by hand from the real files (long payloads as the sha256 of the text and
its first 80 characters), not produced by the code under test.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.view import CallView, TraceView
from toolgrade.formats.registry import read_traces

EXPECTED = Path(__file__).parent / "expected"
FILES = sorted(str(path.relative_to(EXPECTED)).removesuffix(".json") for path in EXPECTED.rglob("*.json"))


def _holds(content: Any, expected: dict[str, Any]) -> bool:
    if "json" in expected:
        return (json.loads(content) if isinstance(content, str) else content) == expected["json"]
    if "text" in expected:
        return content == expected["text"]
    return (
        isinstance(content, str)
        and content.startswith(expected["starts"])
        and hashlib.sha256(content.encode()).hexdigest() == expected["sha256"]
    )


def _check_call(call: CallView, expected: dict[str, Any]) -> None:
    assert call.call.name == expected["name"]
    assert call.call.arguments == expected["arguments"]
    assert expected["id"] in (None, call.call.id)
    if expected["result"] is None:
        assert call.result is None
    else:
        assert call.result is not None
        assert _holds(call.result.content, expected["result"]), call.result.content
        assert bool(call.result.is_error) == expected.get("is_error", False)
        if "error" in expected:
            assert call.result.error == expected["error"]


def _check(trace: Trace, expected: dict[str, Any]) -> None:
    view = TraceView(trace)
    assert [call.call.name for call in view.calls] == [call["name"] for call in expected["calls"]]
    for call, wanted in zip(view.calls, expected["calls"], strict=True):
        _check_call(call, wanted)
        if "step" in wanted:
            assert call.step == wanted["step"]
        if "agent" in wanted:
            assert trace.messages[call.message].agent == wanted["agent"]
    assert view.unmatched_results == []
    if "roles" in expected:
        assert [message.role for message in trace.messages] == expected["roles"]


@pytest.mark.shared
@pytest.mark.parametrize("name", FILES)
def test_calls_names_order_arguments_and_results_are_those_written_down(name: str, shared: Path) -> None:
    expected = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    records = list(read_traces(shared / "data/trace_formats" / name))
    traces = [record.trace for record in records if record.trace is not None]
    errors = [record.error for record in records if record.error is not None]
    if expected.get("refused"):
        assert traces == [] and len(errors) == 1 and name in errors[0]
        return
    wanted = expected.get("errors", [])
    assert len(errors) == len(wanted), errors
    assert all(words in error for words, error in zip(wanted, errors, strict=True))
    assert len(traces) == len(expected["traces"])
    for trace, one in zip(traces, expected["traces"], strict=True):
        _check(trace, one)


@pytest.mark.shared
def test_every_collected_file_has_an_expected_file(shared: Path) -> None:
    root = shared / "data/trace_formats"
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert {name for name in files if not name.startswith("licenses/")} - {"PROVENANCE.tsv"} == set(FILES)

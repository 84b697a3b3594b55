"""Whole numbers beyond 64 bits are ordinary JSON (amounts of tokens in their smallest unit): they stay exact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade import Case, Trace, grade
from toolgrade.core.view import payload
from toolgrade.formats.registry import read_traces
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.run import RunPlan, run

WEI = 1_000_000_000_000_000_000_001
"""1,000 ether and one wei: 10^18 wei are one ether."""
TOOLS = [{"name": "pay", "parameters": {"type": "object", "properties": {"wei": {"type": "integer"}, "to": {}}}}]


def trace(content: Any) -> dict[str, Any]:
    pay = {"id": "1", "name": "pay", "arguments": {"wei": WEI, "to": "Ann"}}
    return {
        "schema": "toolgrade.trace/1",
        "id": "t",
        "messages": [
            {"role": "user", "content": f"Pay {WEI} wei to somebody"},
            {"role": "assistant", "tool_calls": [{"id": "0", "name": "pay", "arguments": {}}]},
            {"role": "tool", "result": {"call_id": "0", "content": content}},
            {"role": "assistant", "tool_calls": [pay]},
            {"role": "tool", "result": {"call_id": "1", "content": content}},
            {"role": "assistant", "content": f"Done: {WEI:,} wei, and 7 more."},
        ],
        "tools": TOOLS,
    }


@pytest.fixture(params=["object", "text"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    content: Any = {"balance": WEI}
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(trace(content if request.param == "object" else json.dumps(content))) + "\n")
    return path


def read(file: Path) -> Trace:
    (record,) = read_traces(file)
    assert record.trace is not None, record.error
    return record.trace


def test_they_are_read_and_compared_exactly(file: Path) -> None:
    one = read(file)
    result = one.messages[2].result
    assert result is not None
    assert payload(result) == {"balance": WEI}
    right = Case.model_validate({"id": "c", "expected": {"arguments": [{"tool": "pay", "values": {"wei": WEI}}]}})
    wrong = Case.model_validate({"id": "c", "expected": {"arguments": [{"tool": "pay", "values": {"wei": WEI + 1}}]}})
    assert grade(one, right).checks["arguments"].status == "passed"
    assert grade(one, wrong).checks["arguments"].status == "failed"


def test_a_run_with_them_is_graded_asked_about_and_queued(file: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    unsure = {"reason": "unclear", "evidence": [], "verdict": "unknown", "unknown_reason": "missing_evidence"}
    answers.write_text(json.dumps({"answer": unsure}) + "\n")
    options = JudgeOptions(models={"*": (f"scripted:{answers}",)}, cache=tmp_path / "cache")
    run(RunPlan(traces=file, judges=options), tmp_path / "run", judging=Judging(options))
    (result,) = map(json.loads, (tmp_path / "run" / "results.jsonl").read_text().splitlines())
    assert {name: check["status"] for name, check in result["checks"].items() if "questions" in check} == {
        "arguments": "unknown",
        "utilization": "unknown",
    }
    queued = [json.loads(line) for line in (tmp_path / "run" / "review.jsonl").read_text().splitlines()]
    assert {item["dimension"] for item in queued} == {"argument_grounding", "result_utilization"}
    assert str(WEI) in json.dumps(queued)

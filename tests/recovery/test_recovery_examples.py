"""The example suite: a person wrote beside each synthetic trial what the recovery check should say of it."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.verdict import CheckResult
from toolgrade.core.view import TraceView
from toolgrade.formats.cases import load_suite
from toolgrade.formats.registry import read_traces
from toolgrade.gates.contract import validate_case
from toolgrade.gates.recovery import check_recovery

FOLDER = Path(__file__).parents[2] / "examples" / "recovery"
NAMES = {"passed": "good", "unknown": "question", "not_applicable": "never_fired"}


@pytest.fixture(scope="module")
def graded() -> list[tuple[Trace, CheckResult]]:
    suite = load_suite(FOLDER / "cases.yaml")
    for case in suite.cases.values():
        validate_case(case, suite.tools)
    out = []
    for record in read_traces(FOLDER / "traces.jsonl"):
        assert record.trace is not None, record.error
        expected = suite.cases[record.trace.case_id or ""].expected
        assert expected is not None
        out.append((record.trace, check_recovery(expected.recovery, TraceView(record.trace, suite.tools))))
    return out


def test_every_trial_is_judged_as_its_author_intended(graded):
    wrong = {}
    for trace, result in graded:
        said = NAMES.get(result.status) or result.findings[0].name
        if said != trace.metadata["intended"] or len(result.findings) > 1:
            wrong[trace.id] = (trace.metadata["intended"], said, result.reason)
    assert wrong == {}


def test_the_suite_is_whole_and_says_that_it_is_synthetic(graded):
    assert set(Counter(trace.case_id for trace, _ in graded).values()) == {8}
    assert all(trace.metadata["synthetic"] is True for trace, _ in graded)
    kinds = {fault["kind"] for trace, _ in graded for fault in trace.metadata["faults"]}
    assert kinds == {"status", "timeout", "empty", "malformed", "wrong_schema"}


def test_the_traces_are_what_the_script_writes(tmp_path):
    script = tmp_path / "make.py"
    script.write_text((FOLDER / "make.py").read_text(encoding="utf-8"), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert (tmp_path / "traces.jsonl").read_bytes() == (FOLDER / "traces.jsonl").read_bytes()

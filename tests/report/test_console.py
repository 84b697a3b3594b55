"""What every report of a run tells, counted by hand from the small traces in `tests.pipeline.support`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.pipeline.support import BACKWARDS, GOOD, MISSING, SILENT, WRONG_VALUE, write_suite
from toolgrade.core.finding import CHECKS
from toolgrade.formats.cases import load_suite
from toolgrade.pipeline.run import RunOutcome, RunPlan, run
from toolgrade.report.console import print_run
from toolgrade.report.html import html_report
from toolgrade.report.markdown import markdown

RUNS = [("a", GOOD), ("a", WRONG_VALUE), ("a", MISSING), ("a", BACKWARDS), ("b", SILENT)]


@pytest.fixture
def outcome(tmp_path: Path) -> RunOutcome:
    traces, cases = write_suite(tmp_path, RUNS)
    return run(RunPlan(traces=traces, suite=load_suite(cases)), tmp_path / "run")


def printed(outcome: RunOutcome, width: int = 120) -> str:
    out = io.StringIO()
    print_run(Console(file=out, width=width), outcome.summary, outcome.thresholds, "run")
    return out.getvalue()


def test_reports_tell_precision_and_recall_of_calls_and_fields(outcome: RunOutcome) -> None:
    """Calls: 8 expected, 7 made, all 7 wanted. Fields: `cancel.id` of three graded traces, one wrong."""
    calls = "calls: precision 1.00, recall 0.88, F1 0.93 (7 right, 0 too many, 1 missing)"
    fields = "argument fields: precision 0.67, recall 0.67, F1 0.67 (2 right, 1 too many, 1 missing)"
    for report in (printed(outcome), markdown(outcome.summary, outcome.thresholds), html_report(outcome.folder)):
        assert calls in report
        assert fields in report


def test_reports_tell_consistency_by_tag(outcome: RunOutcome) -> None:
    """Case a alone has trials: selection 3 of 4, so pass^1 0.75 and pass^4 0; arguments decided 3, passed 2."""
    told = ["multi_turn", "0.75→0.00 k=4", "0.67→0.00 k=3"]
    row = next(line for line in printed(outcome).splitlines() if line.startswith("multi_turn") and "→" in line)
    assert all(word in row for word in told)
    assert "| multi\\_turn | 0.75→0.00 k=4 | 0.67→0.00 k=3 |" in markdown(outcome.summary, outcome.thresholds)
    assert "<th>multi_turn</th><td>selection</td>" in html_report(outcome.folder)


def test_reports_say_which_checks_leave_whole_traces_open(tmp_path: Path) -> None:
    """An answer that states a value leaves `utilization` to a judge; without an answer nothing is left open."""
    answered = [*GOOD, {"role": "assistant", "content": "Reservation A1 went through fine, all 3 bags too."}]
    failed = [*WRONG_VALUE, answered[-1]]
    traces, cases = write_suite(tmp_path, [("a", answered), ("a", GOOD), ("a", failed), ("b", SILENT)])
    outcome = run(RunPlan(traces=traces, suite=load_suite(cases)), tmp_path / "run")
    assert outcome.summary.checks["utilization"].statuses["intrinsic"]["unknown"] == 2
    assert outcome.summary.aggregate == {"unknown": 1, "passed": 2, "failed": 1}
    assert "beside completion 0.67" in printed(outcome, width=200)  # 2 of the 3 that have a verdict
    assert "1 unknown (open: 1 utilization)" in printed(outcome, width=200)
    assert "1 unknown (open: 1 utilization)" in html_report(outcome.folder)


def test_completion_is_undefined_where_no_run_has_a_verdict(tmp_path: Path) -> None:
    traces, _ = write_suite(tmp_path, [("a", GOOD), ("a", GOOD)])
    outcome = run(RunPlan(traces=traces, checks=("selection",)), tmp_path / "run")
    assert "beside completion undefined" in printed(outcome, width=200)
    assert "beside completion \N{EN DASH}" in html_report(outcome.folder)


def test_consistency_over_cases_of_unlike_length_says_over_how_many(tmp_path: Path) -> None:
    """Case a passed 4 of 4, case b 0 of 1: pass^1 is 1/2 over both, pass^2 to pass^4 are 1 over case a alone."""
    traces, cases = write_suite(tmp_path, [("a", GOOD)] * 4 + [("b", GOOD)])
    cases.write_text(cases.read_text().replace("no_tool", "multi_turn"))
    told = printed(run(RunPlan(traces=traces, suite=load_suite(cases)), tmp_path / "run"), width=200)
    assert "pass^1..4 0.50 1.00 1.00 1.00" in told
    assert "(over 2, 1, 1, 1 cases with so many trials decided)" in told
    assert "0.50→1.00 k=4 (1/2)" in told


def test_reports_tell_every_family_of_coverage(outcome: RunOutcome) -> None:
    shown = printed(outcome)
    for told in ("tags: no_tool 1, multi_turn 1", "tools: look 1, cancel 1", "argument values: none", "errors: none"):
        assert told in shown
    assert "empty: tag:overlapping_tools, tag:missing_required" in shown
    assert "tools: look 1, cancel 1" in markdown(outcome.summary, outcome.thresholds)


@pytest.mark.parametrize("width", [40, 80, 112, 120, 200])
def test_a_narrow_terminal_loses_no_check_and_no_count(outcome: RunOutcome, width: int) -> None:
    shown = printed(outcome, width)
    table = shown.split("See it:")[-1].split("Coverage", 1)[0]
    for told in (*CHECKS, "4 / 5 / 5", "0.80", "0.75–1.00 (2 cases)", "1 blocked", "0.67→0.00 k=3"):
        assert told in table
    assert "…" not in table

"""Whole runs over small files: every count below was worked out by hand from the traces in `support`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.pipeline.support import BACKWARDS, GOOD, MISSING, SILENT, WRONG_VALUE, write_suite
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.cases import load_suite
from toolgrade.pipeline.run import RunOutcome, RunPlan, run
from toolgrade.pipeline.rundir import RESULTS, SUMMARY, TRACES, read_results, read_run
from toolgrade.pipeline.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUNS = [("a", GOOD), ("a", WRONG_VALUE), ("a", MISSING), ("a", BACKWARDS), ("b", SILENT), ("b", MISSING)]


def graded(folder: Path, runs: list, out: str = "run", **settings: object) -> RunOutcome:  # type: ignore[type-arg]
    traces, cases = write_suite(folder, runs)
    plan = RunPlan(traces=traces, suite=load_suite(cases), settings=Settings.model_validate(settings))
    return run(plan, folder / out)


def test_each_check_counts_its_own_failures(tmp_path: Path) -> None:
    summary = graded(tmp_path, RUNS).summary
    assert summary.traces == 6
    selection = summary.checks["selection"]
    assert selection.rates["expected"].passed == 4  # GOOD, WRONG_VALUE, BACKWARDS, SILENT
    assert {finding.name: finding.traces for finding in selection.findings} == {
        "missing_call": 1,
        "call_when_none_expected": 1,
    }
    arguments = summary.checks["arguments"]
    assert arguments.statuses["expected"] == {"passed": 2, "failed": 1, "blocked": 1}
    assert [finding.name for finding in arguments.findings] == ["wrong_value"]
    ordering = summary.checks["ordering"]
    assert [finding.name for finding in ordering.findings] == ["order_violated"]
    assert "outcome" not in {name for name, check in summary.checks.items() if check.rates}


def test_consistency_and_path_over_trials(tmp_path: Path) -> None:
    """Case a: 3 of 4 trials pass selection, case b: 1 of 2; pass^2 = (C(3,2)/C(4,2) + 0) / 2 = 0.25."""
    summary = graded(tmp_path, RUNS).summary
    at_two = next(c for c in summary.checks["selection"].consistency if c.k == 2)
    assert at_two.pass_hat_k.value == pytest.approx(0.25)
    assert at_two.pass_at_k.value == pytest.approx(1.0)
    # steps: a took 2, 2, 1, 2 and b took 1, 1: C = mean((1/2 + 1/2 + 1 + 1/2) / 4, 1)
    assert summary.convergence.value == pytest.approx((2.5 / 4 + 1) / 2)


def test_a_missed_threshold_names_its_check(tmp_path: Path) -> None:
    outcome = graded(tmp_path, RUNS, thresholds={"selection": 0.9, "ordering": 0.1})
    assert outcome.exit_code == 1
    told = {result.name: (result.outcome, result.message) for result in outcome.thresholds}
    assert told["selection"][0] == "missed"
    assert "selection: 0.667 < 0.9 (4 passed / 6 decided / 6 applicable" in told["selection"][1]
    assert told["ordering"][0] == "met"


def test_too_little_decided_cannot_pass(tmp_path: Path) -> None:
    """Arguments: 3 of 4 applicable traces are decided, one is blocked: 75 % is less than the default 80 %."""
    outcome = graded(tmp_path, RUNS, thresholds={"arguments": 0.1})
    assert outcome.exit_code == 2
    assert "75% < 80%" in outcome.thresholds[0].message
    assert "1 blocked" in outcome.thresholds[0].message
    assert graded(tmp_path, RUNS, "other", thresholds={"arguments": 0.1}, min_decided=0.7).exit_code == 0


def test_a_check_that_applies_nowhere_cannot_meet_a_threshold(tmp_path: Path) -> None:
    outcome = graded(tmp_path, RUNS, thresholds={"outcome": 0.0})
    assert outcome.exit_code == 2
    assert "applies to no trace" in outcome.thresholds[0].message


def test_required_coverage_names_the_empty_bucket(tmp_path: Path) -> None:
    assert graded(tmp_path, RUNS, "full", require_coverage=["tag:no_tool", "tool:*"]).exit_code == 0
    outcome = graded(tmp_path, RUNS, "hole", require_coverage=["tag:*"])
    assert outcome.exit_code == 1
    assert "tag:overlapping_tools" in outcome.thresholds[0].message
    assert "tag:no_tool" not in outcome.thresholds[0].message
    with pytest.raises(ConfigError, match="matches no coverage bucket"):
        graded(tmp_path, RUNS, "typo", require_coverage=["tags:no_tool"])


def test_unreadable_and_unmatched_traces_are_never_passed(tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("zzz", GOOD)])
    with traces.open("a") as file:
        file.write("{broken\n")
    outcome = run(RunPlan(traces=traces, suite=load_suite(cases)), tmp_path / "run")
    assert outcome.exit_code == 3
    assert outcome.summary.unreadable == 2
    assert outcome.summary.checks["selection"].statuses["none"]["trace_error"] == 2
    told = " ".join(outcome.summary.first_errors)
    assert "traces.jsonl:3" in told
    assert "'zzz'" in told


def test_select_grades_only_what_matches(tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, RUNS)
    plan = RunPlan(traces=traces, suite=load_suite(cases), select=("tag:no_tool",))
    assert run(plan, tmp_path / "run").summary.traces == 2
    with pytest.raises(ConfigError, match="'b2' matches no case"):
        run(plan.model_copy(update={"select": ("b2",)}), tmp_path / "other")


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """A run cut off inside a line, at every line of the results, ends with the bytes of one that was not."""
    traces, cases = write_suite(tmp_path, RUNS)
    plan = RunPlan(traces=traces, suite=load_suite(cases))
    whole = run(plan, tmp_path / "run")
    expected = {name: (whole.folder / name).read_bytes() for name in (RESULTS, TRACES, SUMMARY)}
    lines = expected[RESULTS].splitlines(keepends=True)
    for kept in range(len(lines)):
        (whole.folder / RESULTS).write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
        (whole.folder / SUMMARY).unlink()
        again = run(plan, tmp_path / "run")
        assert {name: (again.folder / name).read_bytes() for name in expected} == expected


def test_a_directory_of_another_run_is_refused(tmp_path: Path) -> None:
    graded(tmp_path, RUNS)
    with pytest.raises(ConfigError, match="holds a run of other inputs"):
        graded(tmp_path, RUNS[:3])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ConfigError, match="holds no run"):
        graded(tmp_path, RUNS, "mine")


def test_a_run_reads_back_as_it_was(tmp_path: Path) -> None:
    outcome = graded(tmp_path, RUNS, thresholds={"selection": 0.9})
    summary, thresholds = read_run(outcome.folder)
    assert (summary, thresholds) == (outcome.summary, outcome.thresholds)
    results = list(read_results(outcome.folder))
    assert [result.trace_id for result in results] == [f"{case}-{n}" for n, (case, _) in enumerate(RUNS)]
    finding = results[1].checks["arguments"].findings[0]
    assert str(finding) == "wrong_value at step 2 · cancel · /id: expected A1, got A2"


def test_nothing_to_grade(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        run(RunPlan(traces=tmp_path / "none.jsonl"), tmp_path / "run")
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    with pytest.raises(ConfigError, match="nothing was graded"):
        run(RunPlan(traces=traces, suite=load_suite(cases), select=("b",)), tmp_path / "run")


def test_a_run_that_crashed_is_a_trace_error(tmp_path: Path) -> None:
    line = {"schema": "toolgrade.trace/1", "id": "t", "messages": [], "error": "the agent raised TimeoutError"}
    (tmp_path / "t.jsonl").write_text(json.dumps(line) + "\n")
    outcome = run(RunPlan(traces=tmp_path / "t.jsonl"), tmp_path / "run")
    assert outcome.exit_code == 3
    assert "TimeoutError" in outcome.summary.first_errors[0]


def test_the_same_traces_elsewhere_give_the_same_summary(tmp_path: Path) -> None:
    """Neither the path nor the time of a file may move an interval."""
    summaries = []
    for name in ("one", "another"):
        shutil.copytree(EXAMPLES / "airline", tmp_path / name)
        plan = RunPlan(traces=tmp_path / name / "traces.jsonl", suite=load_suite(tmp_path / name / "cases.yaml"))
        summaries.append((run(plan, tmp_path / f"run-{name}").folder / SUMMARY).read_bytes())
    assert summaries[0] == summaries[1]


def test_a_directory_in_which_a_file_changed_is_another_run(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.json").write_text(json.dumps(GOOD))
    before = RunPlan(traces=folder)
    first = before.identity()
    assert run(before, tmp_path / "run").summary.tools_called == {"look": 2, "cancel": 2}
    (folder / "two.json").write_text(json.dumps(MISSING))
    assert before.identity() != first
    assert run(before, tmp_path / "again").summary.tools_called == {"look": 2, "cancel": 1}

"""When one FAIL of a trusted judge may fail a trace: it depends on how many fail in use."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tests.calibration.test_trusted_run import write_routes
from tests.pipeline.support import GOOD
from tests.pipeline.test_judged_run import CANCELLED_ALL, REVOKED, Scene, by_route
from toolgrade.calibration.blocking import blocking
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import trust_in
from toolgrade.calibration.trust import JudgeNow
from toolgrade.cli import toolgrade
from toolgrade.core.case import AggregatePolicy
from toolgrade.core.verdict import CheckResult
from toolgrade.errors import ConfigError
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.aggregate import aggregate
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.judging.trusting import calibrated
from toolgrade.pipeline.run import RunOutcome, run
from toolgrade.pipeline.rundir import read_results
from toolgrade.pipeline.settings import Settings, read_settings
from toolgrade.report.judging import judging_lines
from toolgrade.report.junit import write_junit

NOW = datetime.now(UTC).replace(microsecond=0)
RARE = {"route_choice": 0.02}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    write_routes(tmp_path / "calibration")
    return Store(tmp_path / "calibration")


@pytest.fixture
def calibration(store: Store) -> CalibrationRun:
    session = Session(store, ScriptedModel(by_route), lambda: NOW)
    wanted = Wanted(dimension="route_choice", set="made_up", models=("scripted/judge",), replicates=3)
    found = asyncio.run(session.calibrate(wanted))
    assert found.decision.level == "trusted"
    return found


def graded(scene: Scene, store: Store, threshold: float = 0.5) -> RunOutcome:
    plan = scene.plan()
    plan = plan.model_copy(update={"settings": Settings(thresholds={"selection": threshold}, fail_rate=RARE)})
    assert plan.judges is not None
    judging = Judging(plan.judges, calibrated(store, NOW + timedelta(hours=1), RARE), lambda: ScriptedModel(by_route))
    return run(plan, scene.folder / f"out-{threshold}", judging=judging)


def precision(run_: CalibrationRun, rate: float) -> float:
    """Of the FAILs at `rate`, the share that is right, with both recalls at their lower limits."""
    stats = run_.measurement.stats
    tpr, tnr = (stats[name].interval for name in ("pass_recall", "fail_recall"))
    assert tpr is not None
    assert tnr is not None
    return rate * tnr.low / (rate * tnr.low + (1 - rate) * (1 - tpr.low))


def test_what_a_fail_is_worth_falls_with_the_failures_in_use(calibration: CalibrationRun) -> None:
    """The judge is perfect on 45 FAIL and 90 PASS labels or so; no interval shows that it is perfect at 2 %."""
    cells = calibration.measurement.counts
    labels = blocking(calibration)
    assert (labels.source, labels.fail_rate) == ("labels", pytest.approx(cells["FF"] / (cells["FF"] + cells["PP"])))
    assert labels.may
    assert labels.mend is None
    rare = blocking(calibration, 0.02)
    assert (rare.may, rare.source, rare.precision_low) == (
        False,
        "declared",
        pytest.approx(precision(calibration, 0.02)),
    )
    assert 0.2 < precision(calibration, 0.02) < 0.4
    assert rare.mend is not None
    tnr = calibration.measurement.stats["fail_recall"].interval
    assert tnr is not None
    # Solved by hand for the lower limit of PASS recall at which .8 of the FAILs are right.
    goal = 1 - 0.02 * tnr.low * 0.25 / 0.98
    assert f"must reach {goal:.3f}" in rare.mend
    assert "more items that people pass" in rare.mend


@pytest.mark.parametrize("design", ["label_stratified", "convenience"])
def test_labels_that_were_picked_otherwise_do_not_say_how_many_fail_in_use(
    calibration: CalibrationRun, design: str
) -> None:
    other = calibration.model_copy(update={"sampling_design": design})
    found = blocking(other)
    assert (found.may, found.fail_rate) == (False, None)
    assert found.mend == "declare it in toolgrade.toml: fail_rate = {route_choice = 0.05}"
    assert str(found) == "may not fail single traces: it is unknown how many fail in use"
    assert blocking(other, 0.3).may


def test_a_single_fail_counts_in_the_rate_and_fails_no_trace(
    tmp_path: Path, store: Store, calibration: CalibrationRun
) -> None:
    scene = Scene(tmp_path)
    outcome = graded(scene, store)
    results = list(read_results(outcome.folder))
    assert [result.checks["selection"].status for result in results] == ["passed", "passed", "failed"]
    assert [result.checks["selection"].tentative for result in results] == [False, False, True]
    assert [result.aggregate.status for result in results] == ["passed", "passed", "unknown"]
    assert results[2].aggregate.reason == "undecided: selection (judged fail alone), arguments"
    assert outcome.summary.checks["selection"].rates["expected"].value == pytest.approx(2 / 3)
    assert outcome.exit_code == 0, "the rate decides: 2/3 is above .5"
    assert outcome.summary.judging is not None
    told = judging_lines(outcome.summary.judging)[0]
    low = f"{precision(calibration, 0.02):.2f}"
    assert (
        "decides the rate and no single trace (1 failed by it alone): may not fail single traces: "
        f"FAIL precision at least {low} at a FAIL rate of 2.0%, as declared" in told
    )
    page = StringIO()
    write_junit(page, outcome.summary, results)
    root = ElementTree.fromstring(page.getvalue())
    assert (root.get("failures"), root.findall(".//failure")) == ("0", [])
    skipped = [case.get("message", "") for case in root.findall(".//skipped")]
    assert len(skipped) == int(root.get("skipped", ""))
    assert "failed: judged fail: counts in the rate, too often wrong to fail the trace alone" in skipped


def test_a_threshold_that_any_fail_misses_is_undecided(
    tmp_path: Path, store: Store, calibration: CalibrationRun
) -> None:
    outcome = graded(Scene(tmp_path), store, 1.0)
    (threshold,) = outcome.thresholds
    assert (threshold.outcome, outcome.exit_code) == ("undecided", 2)
    assert "all failed by a judge alone that may not fail single traces" in threshold.message
    assert graded(Scene(tmp_path), store, 0.9).exit_code == 1, "a rate below its threshold is missed"


@pytest.mark.parametrize(("least", "outcome", "code"), [(0.7, "met", 0), (0.93, "missed", 1)])
def test_the_lower_limit_of_the_corrected_rate_is_held_to_a_threshold(
    tmp_path: Path, store: Store, calibration: CalibrationRun, least: float, outcome: str, code: int
) -> None:
    """30 of 31 verdicts are a pass: a rate of .97 that may as well be .9."""
    scene = Scene(tmp_path)
    scene.write(GOOD, CANCELLED_ALL, *[REVOKED] * 30)
    plan = scene.plan().model_copy(update={"settings": Settings(corrected={"route_choice": least})})
    assert plan.judges is not None
    judging = Judging(plan.judges, calibrated(store, NOW), lambda: ScriptedModel(by_route))
    found = run(plan, scene.folder / "out", judging=judging)
    (threshold,) = found.thresholds
    assert (threshold.name, threshold.outcome, found.exit_code) == ("corrected route_choice", outcome, code)
    assert found.summary.judging is not None
    corrected = found.summary.judging.dimensions["route_choice"].corrected
    assert corrected is not None
    assert corrected.corrected.interval is not None
    assert 0.7 < corrected.corrected.interval.low < 0.93
    assert threshold.message.startswith(f"corrected route_choice: at least {corrected.corrected.interval.low:.3f} ")


def test_a_corrected_rate_of_a_judge_that_is_not_trusted_decides_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    plan = scene.plan().model_copy(update={"settings": Settings(corrected={"route_choice": 0.1})})
    assert plan.judges is not None
    found = run(plan, scene.folder / "out", judging=Judging(plan.judges, model=lambda: ScriptedModel(by_route)))
    assert (found.thresholds[0].outcome, found.exit_code) == ("undecided", 2)
    assert found.thresholds[0].message == "corrected route_choice: its judge is refused (uncalibrated)"
    alone = run(plan.model_copy(update={"judges": None}), scene.folder / "alone")
    assert alone.thresholds[0].message == "corrected route_choice: no judge was asked"


def test_trust_says_what_a_judge_may_not_do_and_what_would_mend_that(
    tmp_path: Path, store: Store, calibration: CalibrationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(toolgrade, ["calibration", "trust", "route_choice"]).stdout
    assert "decides the check's rate; may fail single traces: FAIL precision at least 0.9" in told
    (tmp_path / "toolgrade.toml").write_text("[fail_rate]\nroute_choice = 0.02\n")
    told = CliRunner().invoke(toolgrade, ["calibration", "trust", "route_choice"]).stdout
    assert f"may not fail single traces: FAIL precision at least {precision(calibration, 0.02):.2f}" in told
    assert "at a FAIL rate of 2.0%, as declared" in told
    assert "to mend: the lower limit of PASS recall must reach 0.99" in told
    judge = JudgeNow(judge_id=calibration.judge_id, rubric_version="1.0")
    report = trust_in(store, "route_choice", judge, NOW, 0.02)
    assert (report.level, report.may_block) == ("trusted", False)
    assert not trust_in(store, "route_choice", judge, NOW + timedelta(days=31)).may_block, "stale"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("route_choise = 0.02", "no judge dimension 'route_choise'.*Did you mean 'route_choice'"),
        ("route_choice = 2", "route_choice = 2.0: expected a rate between 0 and 1, both excluded"),
    ],
)
def test_a_wrong_fail_rate_is_named(tmp_path: Path, written: str, told: str) -> None:
    (tmp_path / "toolgrade.toml").write_text(f"[fail_rate]\n{written}\n")
    with pytest.raises(ConfigError, match=told):
        read_settings(tmp_path)


def test_a_tentative_failure_bounds_a_weighted_score_as_an_open_check_does() -> None:
    policy = AggregatePolicy(policy="weighted", weights={"selection": 1, "ordering": 3}, threshold=0.7)
    failed = CheckResult(check="selection", status="failed", score=0.0)
    ordering = CheckResult(check="ordering", status="passed", score=1.0)
    firm = aggregate(policy, {"selection": failed, "ordering": ordering})
    open_ = aggregate(policy, {"selection": failed.model_copy(update={"tentative": True}), "ordering": ordering})
    assert (firm.status, firm.score, open_.status, open_.score) == ("passed", 0.75, "passed", None)
    assert Counter(status for status, _ in open_.components.values()) == {"failed": 1, "passed": 1}

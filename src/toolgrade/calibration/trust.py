"""What a judge's verdicts count for today, and what would mend that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from pydantic import Field

from toolgrade.calibration.history import latest, live
from toolgrade.calibration.item import Design
from toolgrade.calibration.measure import Measurement
from toolgrade.calibration.mend import Evidence, Mend, mend
from toolgrade.calibration.past import PastCalibration
from toolgrade.calibration.policy import Decision, Now, Standing, decide
from toolgrade.calibration.run import CalibrationRun
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust
from toolgrade.stats.corrected import CorrectedRate, corrected_rate
from toolgrade.stats.correction import Judged
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.rates import wilson

DAY = 86400.0


class JudgeNow(Frozen):
    """The judge that would be asked now; `model_reported` is None before it has answered."""

    judge_id: str
    rubric_version: str
    model_reported: str | None = None


class Labelled(Frozen):
    """The labelled sample that corrects a judged rate: how it was picked, its raw counts, people's own rate.

    `people` is None where the design needs no weights for it.
    """

    design: Design
    counts: dict[str, int]
    people: Estimate | None = None

    def corrected(self, passed: int, judged: int) -> CorrectedRate | None:
        """Return the PASS rate of `judged` items of which the judge passed `passed`; None where none was judged."""
        if not judged:
            return None
        cells = [self.counts[cell] for cell in ("FF", "FP", "PF", "PP")]
        table = np.array(cells, dtype=np.float64).reshape(2, 2)
        return corrected_rate(Judged(passed, judged), table, self.design, self.people)


class TrustReport(Frozen):
    """A dimension's level for one judge on one label set, with all reasons; `mends` says what would lift each.

    `strata` maps "name=value" to the level there. `run_id` and `age_days` are None where nothing was calibrated.
    `past` are the dimension's calibrations, of this judge and of others, oldest first.
    """

    dimension: str
    judge_id: str
    judge: str | None = None
    set: str | None = None
    level: Trust
    reasons: tuple[str, ...] = ()
    evidence: Evidence | None = None
    strata: dict[str, Decision] = Field(default_factory=dict)
    labelled: Labelled | None = None
    run_id: str | None = None
    age_days: float | None = None
    past: tuple[PastCalibration, ...] = ()

    def mends(self) -> tuple[Mend, ...]:
        """Return what each reason means and what would lift it; label numbers are simulated, from a fixed seed."""
        rng = np.random.default_rng(0)
        return tuple(mend(reason, self.evidence, self.dimension, rng) for reason in self.reasons)


def trust(
    dimension: str,
    judge: JudgeNow,
    history: Sequence[CalibrationRun],
    label_hashes: dict[str, str],
    now: datetime,
    drifting: bool = False,
) -> TrustReport:
    """Return the trust in `judge` today: that of its last run on each label set, the worst of them.

    `label_hashes` maps each label set that exists now to its label_set_hash; sets that are gone count as changed.
    """
    mine = [run for name in _sets(history) if (run := latest(history, name, judge.judge_id)) is not None]
    if not mine:
        last = live(history)[-1] if history else None
        return _uncalibrated(dimension, judge, last).model_copy(update={"past": past(history)})
    reports = [_report(run, judge, label_hashes.get(run.set, "gone"), now, drifting) for run in mine]
    worst = max(reports, key=lambda report: ("trusted", "advisory", "refused").index(report.level))
    return worst.model_copy(update={"past": past(history)})


def _sets(history: Sequence[CalibrationRun]) -> list[str]:
    return sorted({run.set for run in history})


def _uncalibrated(dimension: str, judge: JudgeNow, last: CalibrationRun | None) -> TrustReport:
    reasons = ("uncalibrated", "judge_changed") if last is not None else ("uncalibrated",)
    return TrustReport(dimension=dimension, judge_id=judge.judge_id, level="refused", reasons=reasons)


def _report(run: CalibrationRun, judge: JudgeNow, label_hash: str, now: datetime, drifting: bool) -> TrustReport:
    age = (now - run.at).total_seconds() / DAY
    today = Now(
        judge_id=judge.judge_id,
        rubric_version=judge.rubric_version,
        label_set_hash=label_hash,
        model_reported=judge.model_reported,
        age_days=age,
        drift_alarm=drifting,
    )
    standing = run.standing()
    decision = decide(standing, today)
    return TrustReport(
        dimension=run.dimension,
        judge_id=run.judge_id,
        judge=run.judge,
        set=run.set,
        level=decision.level,
        reasons=decision.reasons,
        evidence=_evidence(standing, run.measurement),
        strata={name: decide(run.standing(name), today) for name in run.strata},
        labelled=labelled(run),
        run_id=run.run_id,
        age_days=age,
    )


def _evidence(standing: Standing, measured: Measurement) -> Evidence:
    return Evidence(
        standing=standing,
        counts=measured.counts,
        kappa=measured.stats["kappa"].value,
        pass_recall=measured.stats["pass_recall"].value,
        fail_recall=measured.stats["fail_recall"].value,
    )


def past(history: Sequence[CalibrationRun]) -> tuple[PastCalibration, ...]:
    """Return what the runs that count measured, oldest first."""
    return tuple(
        PastCalibration(
            run_id=run.run_id,
            at=run.at,
            set=run.set,
            judge=run.judge,
            judge_id=run.judge_id,
            n=sum(run.measurement.counts.values()),
            kappa=run.measurement.stats["kappa"],
            level=run.decision.level,
        )
        for run in sorted(live(history), key=lambda run: run.at)
    )


def labelled(run: CalibrationRun) -> Labelled:
    """Return what a run's labels say of judged rates."""
    measured = run.measurement
    weighted = measured.weighted
    total = sum(weighted.values())
    people = None
    if run.sampling_design == "verdict_stratified" and total:
        share, n = (weighted["PF"] + weighted["PP"]) / total, min(measured.n_effective, measured.clusters)
        people = Estimate(value=share, interval=wilson(min(share, 1.0) * n, n), n=round(total))
    return Labelled(design=run.sampling_design, counts=measured.counts, people=people)

"""What a judge's verdicts count for today, and what would mend that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from pydantic import Field

from toolgrade.calibration.blocking import Blocking, blocking
from toolgrade.calibration.history import latest, live
from toolgrade.calibration.labelled import Labelled
from toolgrade.calibration.measure import Measurement
from toolgrade.calibration.mend import Evidence, Mend, mend
from toolgrade.calibration.past import PastCalibration
from toolgrade.calibration.policy import Decision, Now, Standing, decide
from toolgrade.calibration.run import CalibrationRun
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.rates import wilson

DAY = 86400.0


class JudgeNow(Frozen):
    """The judge that would be asked now; `model_reported` is None before it has answered."""

    judge_id: str
    rubric_version: str
    model_reported: str | None = None


class Today(Frozen):
    """What else trust depends on: the time, whether the anchors sound an alarm, the FAIL rate in use if declared."""

    at: datetime
    drifting: bool = False
    fail_rate: float | None = None


class TrustReport(Frozen):
    """A dimension's level for one judge on one label set, with all reasons; `mends` says what would lift each.

    `strata` maps "name=value" to the level there. `run_id` and `age_days` are None where nothing was calibrated.
    `blocking` says whether a single FAIL may fail a trace, None where nothing was calibrated.
    `past` are the dimension's calibrations, of this judge and of others, oldest first.
    """

    dimension: str
    judge_id: str
    judge: str | None = None
    set: str | None = None
    level: Trust
    reasons: tuple[str, ...] = ()
    evidence: Evidence | None = None
    blocking: Blocking | None = None
    strata: dict[str, Decision] = Field(default_factory=dict)
    labelled: Labelled | None = None
    run_id: str | None = None
    age_days: float | None = None
    past: tuple[PastCalibration, ...] = ()

    @property
    def may_block(self) -> bool:
        """Whether a single trusted FAIL may fail a trace."""
        return self.level == "trusted" and (self.blocking is None or self.blocking.may)

    def mends(self) -> tuple[Mend, ...]:
        """Return what each reason means and what would lift it; label numbers are simulated, from a fixed seed."""
        rng = np.random.default_rng(0)
        return tuple(mend(reason, self.evidence, self.dimension, rng) for reason in self.reasons)


def trust(
    dimension: str,
    judge: JudgeNow,
    history: Sequence[CalibrationRun],
    label_hashes: dict[str, str],
    today: Today,
) -> TrustReport:
    """Return the trust in `judge` today: that of its last run on each label set, the worst of them.

    `label_hashes` maps each label set that exists now to its label_set_hash; sets that are gone count as changed.
    """
    mine = [run for name in _sets(history) if (run := latest(history, name, judge.judge_id)) is not None]
    if not mine:
        last = live(history)[-1] if history else None
        return _uncalibrated(dimension, judge, last).model_copy(update={"past": past(history)})
    reports = [_report(run, judge, label_hashes.get(run.set, "gone"), today) for run in mine]
    ranks = ("trusted", "advisory", "refused")
    worst = max(reports, key=lambda report: (ranks.index(report.level), not report.may_block))
    return worst.model_copy(update={"past": past(history)})


def _sets(history: Sequence[CalibrationRun]) -> list[str]:
    return sorted({run.set for run in history})


def _uncalibrated(dimension: str, judge: JudgeNow, last: CalibrationRun | None) -> TrustReport:
    reasons = ("uncalibrated", "judge_changed") if last is not None else ("uncalibrated",)
    return TrustReport(dimension=dimension, judge_id=judge.judge_id, level="refused", reasons=reasons)


def _report(run: CalibrationRun, judge: JudgeNow, label_hash: str, today: Today) -> TrustReport:
    age = (today.at - run.at).total_seconds() / DAY
    now = Now(
        judge_id=judge.judge_id,
        rubric_version=judge.rubric_version,
        label_set_hash=label_hash,
        model_reported=judge.model_reported,
        age_days=age,
        drift_alarm=today.drifting,
    )
    standing = run.standing()
    decision = decide(standing, now)
    return TrustReport(
        dimension=run.dimension,
        judge_id=run.judge_id,
        judge=run.judge,
        set=run.set,
        level=decision.level,
        reasons=decision.reasons,
        evidence=_evidence(standing, run.measurement),
        blocking=blocking(run, today.fail_rate),
        strata={name: decide(run.standing(name), now) for name in run.strata},
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
    people = effective = None
    n = min(measured.n_effective, measured.clusters)
    # Items that were queued as urgent were more likely to be labelled than the random rest.
    unequal = run.sampling_design == "random" and measured.traces is not None and measured.n_effective < total - 1e-6
    if total and (unequal or run.sampling_design == "verdict_stratified"):
        share = (weighted["PF"] + weighted["PP"]) / total
        people = Estimate(value=share, interval=wilson(min(share, 1.0) * n, n), n=round(total))
    if unequal:
        effective = n
    return Labelled(
        design=run.sampling_design,
        counts=measured.counts,
        people=people,
        traces=measured.traces,
        effective=effective,
    )

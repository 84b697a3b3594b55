"""The record of one calibration run: what was measured, on which labels, and what it is chained to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toolgrade.calibration.chain import Link
from toolgrade.calibration.item import Design
from toolgrade.calibration.measure import Measurement, Stability
from toolgrade.calibration.policy import Decision, Standing
from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Estimate

Event = Literal["first", "repeat", "new_judge", "new_labels", "new_rubric", "silent_swap"]


class ProbeResult(Frozen):
    """One probe: how many items, its effect with interval, and whether the judge stood it (None: too few items)."""

    probe: str
    n: int
    effect: Estimate
    passed: bool | None = None
    note: str = ""


class Stratum(Frozen):
    """The same judge on one part of the set."""

    measurement: Measurement
    decision: Decision


class CalibrationRun(Link):
    """One appended record of the history.

    `level` is the confidence level: 1 - 0.05 / exposures, since each judge tried on a test set spends some of it.
    `models` are what was asked (none for recorded verdicts). `strata` maps "name=value" to the same judge on that
    part. `human_labels` is false for derived labels.
    """

    dimension: str
    set: str
    judge_id: str
    judge: str
    models: tuple[str, ...] = ()
    model_reported: tuple[str, ...] = ()
    rubric_version: str
    split: str = "test"
    label_set_hash: str
    sampling_design: Design
    human_labels: bool = True
    made_up: bool = False
    measurement: Measurement
    strata: dict[str, Stratum] = Field(default_factory=dict)
    stability: Stability | None = None
    probes: tuple[ProbeResult, ...] = ()
    leaked_items: tuple[str, ...] = ()
    exposures: int = 1
    level: float = 0.95
    seed: int
    cost: float | None = None
    code_version: str = ""
    verdict_ids_hash: str
    events: tuple[Event, ...] = ()
    policy_hash: str
    decision: Decision
    supersedes: str | None = None

    @property
    def model_snapshot(self) -> str | None:
        """The reported model or models as one word; None where none was reported."""
        return ", ".join(self.model_reported) or None

    def standing(self, stratum: str | None = None) -> Standing:
        """Return the run, or one of its strata, as the trust policy reads it."""
        measured = self.strata[stratum].measurement if stratum else self.measurement
        return standing_of(self, measured, () if stratum else self.refused_strata)

    @property
    def refused_strata(self) -> tuple[str, ...]:
        """The strata with enough labels in which the judge was refused."""
        few = {"too_few_labels", "kappa_undefined"}
        return tuple(
            name
            for name, part in self.strata.items()
            if part.decision.level == "refused" and not few & set(part.decision.reasons)
        )


def standing_of(run: CalibrationRun, measured: Measurement, refused_strata: tuple[str, ...] = ()) -> Standing:
    """Return what the policy reads of a measurement within a run."""
    counts, humans = measured.counts, measured.humans
    return Standing(
        judge_id=run.judge_id,
        rubric_version=run.rubric_version,
        label_set_hash=run.label_set_hash,
        model_reported=run.model_snapshot,
        n=sum(counts.values()),
        n_fail=counts["FF"] + counts["FP"],
        n_pass=counts["PF"] + counts["PP"],
        n_clusters=measured.clusters,
        kappa_low=_low(measured.stats["kappa"]),
        pass_recall_low=_low(measured.stats["pass_recall"]),
        fail_recall_low=_low(measured.stats["fail_recall"]),
        coverage=measured.views.coverage.value or 0.0,
        error_rate=measured.error_rate or 0.0,
        flip_high=run.stability.upper if run.stability else None,
        human_kappa=humans.kappa,
        expert_repeats=humans.repeats,
        expert_repeat_agreement=humans.repeat_agreement.value,
        probes_failed=tuple(probe.probe for probe in run.probes if probe.passed is False),
        exposures=run.exposures,
        convenience=run.sampling_design == "convenience",
        derived=not run.human_labels,
        refused_strata=refused_strata,
        leakage=bool(run.leaked_items),
    )


def _low(estimate: Estimate) -> float | None:
    return estimate.interval.low if estimate.interval else None

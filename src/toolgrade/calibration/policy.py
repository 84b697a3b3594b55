"""When a judge's verdicts count: the trust policy, a pure function of a calibration and of what holds now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust


class Policy(Frozen):
    """The limits. `*_gate` is what `trusted` needs, `*_floor` what anything but `refused` needs."""

    max_age_gate_days: float = 30
    max_age_floor_days: float = 90
    min_n_gate: int = 100
    min_n_floor: int = 30
    min_class_gate: int = 25
    min_class_floor: int = 10
    min_clusters_gate: int = 25
    kappa_gate: float = 0.6
    kappa_floor: float = 0.4
    recall_gate: float = 0.7
    coverage_gate: float = 0.9
    coverage_floor: float = 0.5
    error_rate_gate: float = 0.02
    error_rate_floor: float = 0.1
    flip_gate: float = 0.1
    human_kappa_gate: float = 0.6
    min_repeats: int = 20
    repeat_agreement_gate: float = 0.9
    max_exposures: int = 5

    @property
    def hash(self) -> str:
        """Hash over all limits, stored with every run."""
        return content_hash({name: float(value) for name, value in self.model_dump().items()})


class Standing(Frozen):
    """What a calibration run found, as the policy reads it.

    `*_low` are lower confidence limits, None where undefined. `flip_high` is None where repeats were not
    measured. `human_kappa` is None where the ceiling is unknown; then the repeats of a single expert may stand in
    for it. `derived` says that a rule made the labels, not a person; `refused_strata` are parts of the set in
    which the judge fails, whatever the whole says.
    """

    judge_id: str
    rubric_version: str
    label_set_hash: str
    model_reported: str | None = None
    n: int
    n_fail: int
    n_pass: int
    n_clusters: int
    kappa_low: float | None
    pass_recall_low: float | None
    fail_recall_low: float | None
    coverage: float
    error_rate: float
    flip_high: float | None = None
    human_kappa: float | None = None
    expert_repeats: int = 0
    expert_repeat_agreement: float | None = None
    probes_failed: tuple[str, ...] = ()
    exposures: int = 1
    convenience: bool = False
    derived: bool = False
    refused_strata: tuple[str, ...] = ()
    leakage: bool = False


class Now(Frozen):
    """What holds now: who would judge, by which rubric and labels, how old the calibration is.

    `model_reported` is None before the model has answered: then a silent swap cannot be seen yet.
    """

    judge_id: str
    rubric_version: str
    label_set_hash: str
    model_reported: str | None = None
    age_days: float
    drift_alarm: bool = False


class Decision(Frozen):
    """The level, and every reason why it is not higher, sorted."""

    level: Trust
    reasons: tuple[str, ...] = ()


class _Reason(NamedTuple):
    name: str
    level: Trust


_RANK: dict[Trust, int] = {"trusted": 0, "advisory": 1, "refused": 2}


def decide(standing: Standing | None, now: Now, policy: Policy | None = None) -> Decision:
    """Return the trust level with all reasons; the worst wins. Without a calibration the judge is refused."""
    if standing is None:
        return Decision(level="refused", reasons=("uncalibrated",))
    limits = policy or Policy()
    found = [reason for rule in _RULES for reason in rule(standing, now, limits)]
    level = max((reason.level for reason in found), key=_RANK.__getitem__, default="trusted")
    return Decision(level=level, reasons=tuple(sorted(reason.name for reason in found)))


def worst(levels: list[Trust]) -> Trust:
    """Return the lowest level of several, `refused` for none."""
    return max(levels, key=_RANK.__getitem__, default="refused")


def _identity(s: Standing, now: Now, _: Policy) -> Iterator[_Reason]:
    if s.judge_id != now.judge_id:
        yield _Reason("judge_changed", "refused")
    if s.rubric_version != now.rubric_version:
        yield _Reason("rubric_changed", "refused")
    if s.label_set_hash != now.label_set_hash:
        yield _Reason("label_set_changed", "refused")
    if now.model_reported is not None and s.model_reported != now.model_reported:
        yield _Reason("model_snapshot_changed", "refused")


def _freshness(s: Standing, now: Now, limits: Policy) -> Iterator[_Reason]:
    if s.leakage:
        yield _Reason("test_leakage", "refused")
    if now.drift_alarm:
        yield _Reason("drift_alarm", "refused")
    if now.age_days < 0:
        yield _Reason("negative_age", "refused")
    elif now.age_days > limits.max_age_floor_days:
        yield _Reason("expired", "refused")
    elif now.age_days > limits.max_age_gate_days:
        yield _Reason("stale", "advisory")


def _size(s: Standing, _: Now, limits: Policy) -> Iterator[_Reason]:
    least = min(s.n_fail, s.n_pass)
    if s.n < limits.min_n_floor or least < limits.min_class_floor:
        yield _Reason("too_few_labels", "refused")
    elif s.n < limits.min_n_gate or least < limits.min_class_gate or s.n_clusters < limits.min_clusters_gate:
        yield _Reason("few_labels", "advisory")


def _agreement(s: Standing, _: Now, limits: Policy) -> Iterator[_Reason]:
    if s.kappa_low is None:
        yield _Reason("kappa_undefined", "refused")
    elif s.kappa_low < limits.kappa_floor:
        yield _Reason("kappa_below_floor", "refused")
    elif s.kappa_low < limits.kappa_gate:
        yield _Reason("kappa_below_gate", "advisory")
    for name, low in (("tpr", s.pass_recall_low), ("tnr", s.fail_recall_low)):
        if low is None:
            yield _Reason(f"{name}_lb_undefined", "refused")
        elif low < limits.recall_gate:
            yield _Reason(f"{name}_lb_below_gate", "advisory")
    if s.pass_recall_low is not None and s.fail_recall_low is not None and s.pass_recall_low + s.fail_recall_low <= 1:
        yield _Reason("no_better_than_chance", "refused")


def _instrument(s: Standing, _: Now, limits: Policy) -> Iterator[_Reason]:
    if s.coverage < limits.coverage_floor:
        yield _Reason("coverage_too_low", "refused")
    elif s.coverage < limits.coverage_gate:
        yield _Reason("coverage_below_gate", "advisory")
    if s.error_rate > limits.error_rate_floor:
        yield _Reason("parse_errors_too_high", "refused")
    elif s.error_rate > limits.error_rate_gate:
        yield _Reason("parse_errors_above_gate", "advisory")
    if s.flip_high is None:
        yield _Reason("stability_unmeasured", "advisory")
    elif s.flip_high > limits.flip_gate:
        yield _Reason("unstable", "advisory")


def _people(s: Standing, _: Now, limits: Policy) -> Iterator[_Reason]:
    if s.human_kappa is not None:
        if s.human_kappa < limits.human_kappa_gate:
            yield _Reason("rubric_unreliable", "advisory")
        return
    agreement = s.expert_repeat_agreement
    steady = agreement is not None and agreement >= limits.repeat_agreement_gate
    if not (steady and s.expert_repeats >= limits.min_repeats):
        yield _Reason("human_ceiling_unknown", "advisory")


def _exposure(s: Standing, _: Now, limits: Policy) -> Iterator[_Reason]:
    for probe in s.probes_failed:
        yield _Reason(f"probe_failed:{probe}", "advisory")
    if s.exposures > limits.max_exposures:
        yield _Reason("test_set_overused", "advisory")
    if s.convenience:
        yield _Reason("convenience_sample", "advisory")
    if s.derived:
        yield _Reason("derived_labels", "advisory")
    for stratum in s.refused_strata:
        yield _Reason(f"stratum_refused:{stratum}", "advisory")


_RULES: tuple[Callable[[Standing, Now, Policy], Iterator[_Reason]], ...] = (
    _identity,
    _freshness,
    _size,
    _agreement,
    _instrument,
    _people,
    _exposure,
)

"""Estimators of the true PASS rate from a judge's PASS share and a labelled sample. Which one fits: `corrected`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.estimate import LEVEL, Estimate, Interval, normal_quantile, undefined

FEW_DISAGREEMENTS = 5


class Judged(NamedTuple):
    """What the judge said of the evaluated items: how many it passed, of how many it decided."""

    passed: int
    n: int

    @property
    def share(self) -> float:
        """The raw PASS share."""
        return self.passed / self.n


class Recalls(NamedTuple):
    """The judge's recalls on labelled items: of PASS among `n_pass`, of FAIL among `n_fail`."""

    pass_recall: float
    n_pass: float
    fail_recall: float
    n_fail: float


def recalls_of(table: Array) -> Recalls | None:
    """Return the recalls of a fail/pass table, None where a human class is empty."""
    (ff, fp), (pf, pp) = np.asarray(table, dtype=np.float64)
    if ff + fp == 0 or pf + pp == 0:
        return None
    return Recalls(float(pp / (pf + pp)), float(pf + pp), float(ff / (ff + fp)), float(ff + fp))


def rogan_gladen(judged: Judged, recalls: Recalls, level: float = LEVEL) -> Estimate:
    """Return (p + TNR - 1) / (TPR + TNR - 1), clipped, with the adjusted interval of Lee et al. (arXiv:2511.21140).

    Valid where the labelled items share the population's recalls, as with samples stratified on the human
    label. The flag `assumption_violation` says that the unclipped value lies more than one standard error
    outside [0, 1]: then the recalls do not belong to this population, and the interval means nothing.
    """
    q1, m1, q0, m0 = recalls
    p, n = judged.share, judged.n
    z2 = normal_quantile(level) ** 2
    padded_p = (n * p + z2 / 2) / (n + z2)
    r0, r1 = (m0 * q0 + 1) / (m0 + 2), (m1 * q1 + 1) / (m1 + 2)
    if m0 == 0 or m1 == 0:
        return undefined("missing_class")
    if q0 + q1 - 1 <= 1e-12 or r0 + r1 - 1 <= 1e-12:
        return undefined("judge_at_or_below_chance", int(m0 + m1))
    raw, centre = (p + q0 - 1) / (q0 + q1 - 1), (padded_p + r0 - 1) / (r0 + r1 - 1)
    spread0, spread1 = r0 * (1 - r0) / (m0 + 2), r1 * (1 - r1) / (m1 + 2)
    shift = 2 * z2 * (-(1 - centre) * spread0 + centre * spread1)
    variance = padded_p * (1 - padded_p) / (n + z2) + (1 - centre) ** 2 * spread0 + centre**2 * spread1
    error = float(np.sqrt(variance)) / (r0 + r1 - 1)
    low, high = (_clip(centre + shift + sign * np.sqrt(z2) * error) for sign in (-1, 1))
    outside = max(-raw, raw - 1) > error
    return Estimate(
        value=_clip(raw),
        interval=Interval(low=low, high=high, level=level, method="rogan_gladen"),
        flags=("assumption_violation",) if outside else (),
        n=int(m0 + m1),
    )


def post_stratified(judged: Judged, table: Array, level: float = LEVEL) -> Estimate:
    """Return (1-p) P(PASS | judged FAIL) + p P(PASS | judged PASS), with an interval from add-one cells.

    Valid where items were picked for labelling at random or by the judge's verdict (Chen et al., arXiv:2601.05420).
    """
    (ff, fp), (pf, pp) = np.asarray(table, dtype=np.float64)
    n0, n1 = float(ff + pf), float(fp + pp)
    if not n0 or not n1:
        return undefined("missing_class", int(n0 + n1))
    p = judged.share
    value = (1 - p) * pf / n0 + p * pp / n1
    u0, u1 = (pf + 1) / (n0 + 2), (pp + 1) / (n1 + 2)
    variance = (
        (u1 - u0) ** 2 * p * (1 - p) / judged.n
        + (1 - p) ** 2 * u0 * (1 - u0) / (n0 + 2)
        + p**2 * u1 * (1 - u1) / (n1 + 2)
    )
    centre, half = (1 - p) * u0 + p * u1, normal_quantile(level) * float(np.sqrt(variance))
    interval = Interval(low=_clip(centre - half), high=_clip(centre + half), level=level, method="post_stratified")
    return Estimate(value=float(value), interval=interval, n=int(n0 + n1))


class PredictionPowered(Frozen):
    """A PPI or PPI++ estimate: `tuning` is λ, how much the judge is trusted; the interval is logit-transformed."""

    estimate: Estimate
    tuning: float
    wald: tuple[float, float]


def prediction_powered(
    judged: Judged, table: Array, tuning: float | None = None, level: float = LEVEL
) -> PredictionPowered:
    """Return PPI++ (Angelopoulos et al., arXiv:2311.01453) for binary labels; `tuning=1` gives plain PPI.

    `judged` are the evaluated items without labels. A constant judge carries no information: λ = 0.
    Few disagreements make the interval too narrow: the flag `few_disagreements` marks fewer than five.
    """
    (ff, fp), (pf, pp) = np.asarray(table, dtype=np.float64)
    n, total = float(ff + fp + pf + pp), judged.n
    if n < 2 or total < 1:
        return PredictionPowered(estimate=undefined("no_items", int(n)), tuning=0.0, wald=(0.0, 1.0))
    human, said = (pf + pp) / n, (fp + pp) / n
    share = judged.share
    lam = _tuning(human, said, pp / n, (judged, n)) if tuning is None else tuning
    value = lam * share + human - lam * said
    residual = {(0, 0): ff, (0, 1): fp, (1, 0): pf, (1, 1): pp}
    mean = human - lam * said
    spread = sum(count * (y - lam * f - mean) ** 2 for (y, f), count in residual.items()) / n
    error = float(np.sqrt(lam**2 * share * (1 - share) / total + spread / n))
    half = normal_quantile(level) * error
    return PredictionPowered(
        estimate=Estimate(
            value=float(value),
            interval=_logit_interval(float(value), error, level),
            flags=("few_disagreements",) if fp + pf < FEW_DISAGREEMENTS else (),
            n=int(n),
        ),
        tuning=float(lam),
        wald=(float(value - half), float(value + half)),
    )


def _tuning(human: float, said: float, both: float, sizes: tuple[Judged, float]) -> float:
    judged, n = sizes
    everything = n + judged.n
    pooled = (said * n + judged.passed) / everything
    variance = pooled * (1 - pooled) * everything / (everything - 1)
    covariance = both - human * said
    return _clip(covariance / ((1 + n / judged.n) * variance)) if variance > 0 else 0.0


def _logit_interval(value: float, error: float, level: float) -> Interval | None:
    if not 0 < value < 1:
        return None
    centre = np.log(value / (1 - value))
    half = normal_quantile(level) * error / (value * (1 - value))
    low, high = (1 / (1 + np.exp(-(centre + sign * half))) for sign in (-1, 1))
    return Interval(low=float(low), high=float(high), level=level, method="ppi_logit")


def _clip(value: float) -> float:
    return float(min(1.0, max(0.0, value)))

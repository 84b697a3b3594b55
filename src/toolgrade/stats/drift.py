"""Has the judge changed? Control charts on frozen anchors, with limits from the judge's own noise.

The anchors are fixed, so runs differ by the judge's noise only. A binomial limit √(p(1-p)/n) would be several
times too wide and never fire.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolgrade.core.model import Frozen

SHEWHART = 3.5
EWMA_WEIGHT = 0.2
EWMA_LIMIT = 3.3
CUSUM_SLACK = 0.5
CUSUM_LIMIT = 7.0
MIN_HISTORY = 3


class Baseline(Frozen):
    """K replicates on n frozen anchors: mean accuracy, within-item variance of a run's accuracy, and σ of one run.

    σ = √max(σ_w²(1 + 1/K), (0.5/n)²); `binomial` is the limit that would ignore that items are fixed.
    """

    anchors: int
    replicates: int
    mean: float
    within_item_variance: float
    sigma: float
    binomial: float


def baseline(correct: Sequence[Sequence[int]]) -> Baseline:
    """Return the baseline from a (replicates, anchors) array of 1 for right and 0 for wrong.

    Raises:
        ValueError: fewer than two replicates, no anchor, or replicates of different length.
    """
    if len(correct) < 2 or not correct[0] or len({len(run) for run in correct}) != 1:
        raise ValueError("a baseline needs two or more replicates of the same one or more anchors")
    runs = np.asarray(correct, dtype=np.float64)
    k, n = runs.shape
    share = runs.mean(axis=0)
    variance = float(np.sum(share * (1 - share)) * k / (k - 1) / n**2)
    mean = float(runs.mean())
    return Baseline(
        anchors=n,
        replicates=k,
        mean=mean,
        within_item_variance=variance,
        sigma=float(np.sqrt(max(variance * (1 + 1 / k), (0.5 / n) ** 2))),
        binomial=float(np.sqrt(mean * (1 - mean) / n)),
    )


class Charts(Frozen):
    """Limits of the three charts, each one-sided for decline."""

    shewhart: float = SHEWHART
    ewma_weight: float = EWMA_WEIGHT
    ewma_limit: float = EWMA_LIMIT
    cusum_slack: float = CUSUM_SLACK
    cusum_limit: float = CUSUM_LIMIT


class ChartPoint(Frozen):
    """One run on the charts: how many σ it lies from the baseline, and which chart alarms."""

    t: int
    accuracy: float
    z: float
    ewma: float
    ewma_limit: float
    cusum: float
    shewhart_alarm: bool
    ewma_alarm: bool
    cusum_alarm: bool

    @property
    def alarm(self) -> bool:
        """Whether the Shewhart or the EWMA chart alarms; CUSUM is shown beside them."""
        return self.shewhart_alarm or self.ewma_alarm


def chart(start: Baseline, accuracies: Sequence[float], charts: Charts | None = None) -> tuple[ChartPoint, ...]:
    """Return one point a run: z against the baseline, EWMA, and CUSUM of decline."""
    limits = charts or Charts()
    weight = limits.ewma_weight
    points = []
    ewma = cusum = 0.0
    for t, accuracy in enumerate(accuracies, start=1):
        z = (accuracy - start.mean) / start.sigma
        ewma = weight * z + (1 - weight) * ewma
        cusum = max(0.0, cusum - z - limits.cusum_slack)
        limit = limits.ewma_limit * float(np.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * t))))
        points.append(
            ChartPoint(
                t=t,
                accuracy=accuracy,
                z=z,
                ewma=ewma,
                ewma_limit=limit,
                cusum=cusum,
                shewhart_alarm=z < -limits.shewhart,
                ewma_alarm=ewma < -limit,
                cusum_alarm=cusum > limits.cusum_limit,
            )
        )
    return tuple(points)


def cusum_run_length(slack: float = CUSUM_SLACK, limit: float = CUSUM_LIMIT) -> float:
    """Return the mean number of runs to a false alarm of a one-sided CUSUM (Siegmund's approximation)."""
    reach = limit + 1.166
    return float((np.exp(2 * slack * reach) - 2 * slack * reach - 1) / (2 * slack**2))


def anytime_radius(t: int, alpha: float = 0.05) -> float:
    """Return the half-width √(ln(2t(t+1)/α) / 2t) of a mean of t values in [0, 1] that holds at every t at once."""
    return float(np.sqrt(np.log(2 * t * (t + 1) / alpha) / (2 * t)))


def spent_alpha(t: int, alpha: float = 0.05) -> float:
    """Return α / (t(t+1)): what the t-th look at a history may spend, so that all looks together spend α."""
    return alpha / (t * (t + 1))

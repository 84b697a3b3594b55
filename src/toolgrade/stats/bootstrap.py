"""BCa bootstrap on counts: resampling whole clusters (or items) costs one multinomial draw a replicate.

Clusters with equal contents are interchangeable, so resampling clusters with replacement is the same as
drawing multinomial counts over the distinct contents, and the jackknife needs one value per distinct content.
Efron (1987), "Better Bootstrap Confidence Intervals".
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from toolgrade.stats.estimate import LEVEL, Interval

Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""Takes totals of shape (..., cells), returns values of shape (...), NaN where undefined."""

RESAMPLES = 2000
MAX_UNDEFINED = 0.2
"""More undefined replicates than this share: no interval."""

SAME = 1e-9
"""Replicates that lie closer together are equal: with weights, sums differ in the last digits."""

_NORMAL = NormalDist()


class Bootstrap:
    """Units drawn with replacement, once, for the intervals of any number of statistics of their totals.

    `rows` (units, cells) hold one unit each: an item, or a whole cluster of items added up.
    """

    def __init__(self, rows: Array, rng: np.random.Generator, resamples: int = RESAMPLES) -> None:
        distinct, counts = np.unique(np.asarray(rows, dtype=np.float64), axis=0, return_counts=True)
        self.units = int(counts.sum())
        self.weights = counts.astype(np.float64)
        self.total: Array = self.weights @ distinct
        drawn = rng.multinomial(self.units, self.weights / self.units, size=resamples)
        self.totals: Array = drawn @ distinct
        self.left_out: Array = self.total - distinct

    def interval(self, statistic: Statistic, level: float = LEVEL) -> Interval | None:
        """Return the BCa interval; None where the value is undefined or its replicates are degenerate."""
        value = float(statistic(self.total))
        if self.units < 2 or not np.isfinite(value):
            return None
        limits = bca_limits(value, statistic(self.totals), statistic(self.left_out), self.weights, level)
        return Interval(low=limits[0], high=limits[1], level=level, method="bca") if limits else None


def bca(rows: Array, statistic: Statistic, rng: np.random.Generator, level: float = LEVEL) -> Interval | None:
    """Return the BCa interval of one statistic of the summed rows; else as `Bootstrap.interval`."""
    return Bootstrap(rows, rng).interval(statistic, level)


def bca_limits(
    value: float, replicates: Array, left_out: Array, weights: Array, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the BCa limits, or None where the replicates are all equal or too often undefined.

    `left_out` are jackknife values, each standing for `weights` units. Quantiles interpolate linearly.
    """
    kept = replicates[np.isfinite(replicates)]
    if not kept.size or kept.size < (1 - MAX_UNDEFINED) * replicates.size or np.ptp(kept) < SAME:
        return None
    below = (np.sum(kept < value) + 0.5 * np.sum(kept == value)) / kept.size
    clamp = 1 / (kept.size + 1)
    bias = _NORMAL.inv_cdf(float(np.clip(below, clamp, 1 - clamp)))
    acceleration = _acceleration(left_out, weights)
    shares = [_shift(_NORMAL.inv_cdf(tail), bias, acceleration) for tail in ((1 - level) / 2, (1 + level) / 2)]
    low, high = np.quantile(kept, shares)
    return float(low), float(high)


def _acceleration(left_out: Array, weights: Array) -> float:
    defined = np.isfinite(left_out)
    values, share = left_out[defined], weights[defined]
    if not values.size:
        return 0.0
    distance = np.average(values, weights=share) - values
    spread = float(np.sum(share * distance**2))
    return float(np.sum(share * distance**3) / (6 * spread**1.5)) if spread > 0 else 0.0


def _shift(z: float, bias: float, acceleration: float) -> float:
    moved = bias + (bias + z) / (1 - acceleration * (bias + z))
    return _NORMAL.cdf(moved)

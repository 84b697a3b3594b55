"""Closed-form intervals, and the fallbacks for where a bootstrap has nothing to resample."""

from __future__ import annotations

import numpy as np

from toolgrade.stats.agreement import kappa, kappa_error, kappa_parts
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.estimate import LEVEL, Estimate, Interval, normal_quantile
from toolgrade.stats.rates import wilson


def clopper_pearson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Return the exact binomial interval (Clopper and Pearson 1934); [0, 1] for n = 0."""
    from scipy.stats import beta

    tail = (1 - level) / 2
    low = float(beta.ppf(tail, successes, n - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, n - successes)) if successes < n else 1.0
    return Interval(low=low, high=high, level=level, method="clopper_pearson")


def mover(one: Estimate, two: Estimate, constant: float = 0.0) -> Interval | None:
    """Return the interval of `one + two + constant` from the interval of each (Zou and Donner 2008, "MOVER").

    None where one of them has none. The two must rest on different items.
    """
    if one.value is None or two.value is None or one.interval is None or two.interval is None:
        return None
    value = one.value + two.value + constant
    low = value - float(np.hypot(one.value - one.interval.low, two.value - two.interval.low))
    high = value + float(np.hypot(one.interval.high - one.value, two.interval.high - two.value))
    return Interval(low=low, high=high, level=one.interval.level, method="mover")


def add_half(table: Array, level: float = LEVEL, weights: Array | None = None) -> Estimate:
    """Return κ of the table with ½ added to every cell, with its Fleiss-Cohen-Everitt Wald interval, clipped.

    With `weights` it is weighted κ. A deterministic cross-check of a bootstrap. `flags` holds nothing; `n` is the
    table's total before.
    """
    padded = np.asarray(table, dtype=np.float64) + 0.5
    value, half = float(kappa(padded, weights)), normal_quantile(level) * float(kappa_error(padded, weights))
    interval = Interval(low=max(-1.0, value - half), high=min(1.0, value + half), level=level, method="add_half")
    return Estimate(value=value, interval=interval, n=int(np.sum(table)))


def no_disagreement(table: Array, independent: float, level: float = LEVEL, weights: Array | None = None) -> Interval:
    """Return the interval of κ where raters never differ: Wilson's lower limit of n / n, corrected for chance.

    `independent` is the number of independent observations, which may be less than the table's total.
    """
    _, expected = kappa_parts(table, weights)
    lowest = wilson(independent, independent, level).low
    low = float((lowest - expected) / (1 - expected))
    return Interval(low=max(-1.0, low), high=1.0, level=level, method="no_disagreement")

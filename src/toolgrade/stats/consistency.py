"""Does a case pass once in k trials, or every time: pass@k and pass^k.

pass@k = mean over cases of 1 - C(n-c, k)/C(n, k) (Chen et al. 2021, arXiv:2107.03374);
pass^k = mean over cases of C(c, k)/C(n, k) (Yao et al. 2024, arXiv:2406.12045).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from toolgrade.stats.bootstrap import Array, bca
from toolgrade.stats.estimate import LEVEL, Estimate, undefined
from toolgrade.stats.rates import wilson_clusters

Trials = Sequence[tuple[int, int]]
"""One (trials, passed) pair a case."""


def pass_at_k(cases: Trials, k: int, rng: np.random.Generator | None = None, level: float = LEVEL) -> Estimate:
    """Return the chance that at least one of k trials of a case passes, as a mean over cases.

    A case with fewer than k trials has no such chance: it is left out and counted in the flag `left_out:<cases>`;
    where all are, the estimate is undefined (`fewer_trials_than_k`). `n` counts the cases that entered.
    With `rng`, the interval resamples cases; where all are alike, it is Wilson's on their number.

    Raises:
        ValueError: k < 1, or a case passed more trials than it has.
    """
    return _mean([1 - comb(n - c, k) / comb(n, k) for n, c in _long_enough(cases, k)], len(cases), rng, level)


def pass_hat_k(cases: Trials, k: int, rng: np.random.Generator | None = None, level: float = LEVEL) -> Estimate:
    """Return the chance that k of k trials of a case pass, as a mean over cases; else as `pass_at_k`."""
    return _mean([comb(c, k) / comb(n, k) for n, c in _long_enough(cases, k)], len(cases), rng, level)


def _long_enough(cases: Trials, k: int) -> Trials:
    if k < 1:
        raise ValueError(f"k counts trials and is at least 1, got {k}")
    for n, c in cases:
        if not 0 <= c <= n:
            raise ValueError(f"a case passed {c} of {n} trials")
    return [(n, c) for n, c in cases if n >= k]


def _mean(values: list[float], cases: int, rng: np.random.Generator | None, level: float) -> Estimate:
    if not values:
        return undefined("fewer_trials_than_k" if cases else "no_items")
    rows = np.column_stack([np.array(values), np.ones(len(values))])
    left_out = cases - len(values)
    mean = sum(values) / len(values)
    interval = None
    if rng is not None:
        interval = bca(rows, _ratio, rng, level) or wilson_clusters(mean, len(values), level)
    return Estimate(
        value=mean,
        interval=interval,
        flags=(f"left_out:{left_out}",) if left_out else (),
        n=len(values),
    )


def _ratio(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / totals[..., 1], dtype=np.float64)

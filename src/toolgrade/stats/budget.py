"""How many labels are needed. Every figure assumes independent items and the recalls that are put in."""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np

from toolgrade.stats.agreement import kappa, kappa_error, shares
from toolgrade.stats.bootstrap import Array, bca_limits
from toolgrade.stats.estimate import LEVEL, normal_quantile
from toolgrade.stats.intervals import no_disagreement
from toolgrade.stats.rates import wilson

POWER = 0.8
MOST = 5000
TRIALS = 250
RESAMPLES = 500


def labels_for_share(share: float, floor_: float, level: float = LEVEL, most: int = MOST) -> int | None:
    """Return the least n at which floor(share·n) successes put Wilson's lower limit at `floor_`; None beyond `most`."""
    for n in range(1, most + 1):
        if wilson(floor(share * n + 1e-9), n, level).low >= floor_:
            return n
    return None


def labels_for_recall(recall: float, least: float, power: float = POWER, most: int = MOST) -> int | None:
    """Return the least n from which Wilson's lower limit of a recall reaches `least` with chance `power`, for good.

    The chance is binomial and exact; None beyond `most`. `labels_for_share` gives the n for a sample that is
    exactly as expected, which is half the time too few.
    """
    from scipy.stats import binom

    n = np.arange(1, most + 1)
    # Wilson's lower limit reaches `least` exactly where the score test of `least` rejects.
    needed = np.ceil(n * least + normal_quantile() * np.sqrt(n * least * (1 - least)) - 1e-9)
    short = np.flatnonzero(binom.sf(needed - 1, n, recall) < power)
    return int(n[short[-1] + 1]) if len(short) and short[-1] + 1 < most else None


def labels_for_kappa_wald(table: Array, least: float, power: float = POWER, level: float = LEVEL) -> int:
    """Return n = ((z_{α/2} + z_β) √V / (κ - least))² with V the variance of κ for one item of shares `table`.

    It is 30 to 63 % too low at small n: use `labels_for_kappa`.

    Raises:
        ValueError: κ of `table` does not exceed `least`.
    """
    value = float(kappa(table))
    if value <= least:
        raise ValueError(f"κ of the table is {value:.3f}, not above {least}")
    spread = float(kappa_error(shares(table)))
    z = normal_quantile(level) + normal_quantile(2 * power - 1)
    return ceil((z * spread / (value - least)) ** 2 - 1e-9)


def agreement_table(value: float, fail_rate: float) -> Array:
    """Return the shares of two raters with equal margins and κ = `value`: κ on the diagonal, the rest by chance."""
    margin = np.array([fail_rate, 1 - fail_rate])
    return np.asarray(value * np.diag(margin) + (1 - value) * np.outer(margin, margin), dtype=np.float64)


def recall_table(pass_recall: float, fail_recall: float, fail_rate: float) -> Array:
    """Return the shares of a human × judge table with these recalls at this FAIL rate."""
    return np.array(
        [
            [fail_rate * fail_recall, fail_rate * (1 - fail_recall)],
            [(1 - fail_rate) * (1 - pass_recall), (1 - fail_rate) * pass_recall],
        ]
    )


def kappa_power(table: Array, least: float, n: int, rng: np.random.Generator, level: float = LEVEL) -> float:
    """Return how often n items of shares `table` put κ's lower limit above `least`, by simulating samples."""
    samples = rng.multinomial(n, table.ravel(), size=TRIALS).astype(np.float64)
    return float(np.mean([_lower_limit(sample, rng, level) > least for sample in samples]))


def _lower_limit(sample: Array, rng: np.random.Generator, level: float) -> float:
    n = int(sample.sum())
    table = sample.reshape(2, 2)
    if table[0, 1] + table[1, 0] == 0 and min(table[0, 0], table[1, 1]) > 0:
        return no_disagreement(table, n, level).low
    seen = np.flatnonzero(sample)
    draws = rng.multinomial(n, sample / n, size=RESAMPLES).reshape(-1, 2, 2).astype(np.float64)
    left_out = (sample - np.eye(4)[seen]).reshape(-1, 2, 2)
    limits = bca_limits(float(kappa(table)), kappa(draws), kappa(left_out), sample[seen], level)
    return limits[0] if limits else -1.0


def labels_for_kappa(
    table: Array, least: float, rng: np.random.Generator, power: float = POWER, most: int = MOST
) -> int | None:
    """Return the n at which κ's lower limit clears `least` with chance `power`; None where `most` are too few.

    The lower limit is that of the BCa interval. Found by bisection over simulated samples: exact to about 10 %.
    """
    if float(kappa(table)) <= least:
        return None
    low = labels_for_kappa_wald(table, least, power) - 1
    if low >= most:
        return None  # the Wald figure is always too low
    high = max(low + 8, 2 * low)
    while kappa_power(table, least, min(high, most), rng) < power:
        if high >= most:
            return None
        low, high = high, 2 * high
    high = min(high, most)
    while high - low > max(1, low // 25):
        middle = (low + high) // 2
        if kappa_power(table, least, middle, rng) >= power:
            high = middle
        else:
            low = middle
    return high


def labels_for_half_width(table: Array, half_width: float, level: float = LEVEL) -> int:
    """Return n = z² V / h²: how many items of shares `table` give κ a half-width of h."""
    return ceil((normal_quantile(level) * float(kappa_error(shares(table))) / half_width) ** 2 - 1e-9)


def items_for_mcnemar(worse: float, better: float, power: float = POWER, level: float = LEVEL) -> int:
    """Return the paired items that tell apart discordance shares `worse` and `better` (Connor 1987).

    Raises:
        ValueError: the two shares are equal.
    """
    split, gap = worse + better, abs(worse - better)
    if not gap:
        raise ValueError("equal shares cannot be told apart")
    z_alpha, z_beta = normal_quantile(level), normal_quantile(2 * power - 1)
    return ceil((z_alpha * sqrt(split) + z_beta * sqrt(split - gap**2)) ** 2 / gap**2 - 1e-9)


def allocate_labels(
    total: int, judged_pass: float, fail_recall: float, pass_recall: float, pilot: int
) -> tuple[int, int]:
    """Return how many of `total` labels to spend on true FAIL and on true PASS items for Rogan-Gladen.

    n_fail / n_pass = (1/p - 1) √κ with κ = (pilot (1 - TNR) + 1) / (pilot (1 - TPR) + 1), each at least `pilot`
    (Lee et al., arXiv:2511.21140).
    """
    ratio = sqrt((pilot * (1 - fail_recall) + 1) / (pilot * (1 - pass_recall) + 1))
    share = 1 / (1 + (1 / judged_pass - 1) * ratio) if judged_pass > 0 else 0.0
    n_pass = min(max(round(total * share), pilot), total - pilot)
    return total - n_pass, n_pass

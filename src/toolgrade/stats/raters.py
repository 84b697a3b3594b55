"""Agreement of any number of raters with gaps: Krippendorff's α, AC1, Conger's κ, and flips between repeats.

Ratings are a (units, raters) array of category numbers, -1 where a rater said nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toolgrade.stats.agreement import Metric, alpha, divide
from toolgrade.stats.bootstrap import Array, bca
from toolgrade.stats.estimate import LEVEL, Estimate, undefined
from toolgrade.stats.rates import wilson

Ratings = NDArray[np.int64]
MISSING = -1


def rating_array(units: Sequence[Sequence[str | None]], categories: Sequence[str]) -> Ratings:
    """Return (units, raters) category numbers; None, or a label that is not declared, is missing.

    Raises:
        ValueError: units hold different numbers of raters.
    """
    if len({len(unit) for unit in units}) > 1:
        raise ValueError("every unit needs one place per rater; mark absent ratings with None")
    number = {name: position for position, name in enumerate(categories)}
    return np.array([[number.get(label or "", MISSING) for label in unit] for unit in units], dtype=np.int64)


def category_counts(ratings: Ratings, categories: int) -> Array:
    """Return (units, categories): how many raters chose each."""
    return np.asarray((ratings[:, :, None] == np.arange(categories)).sum(axis=1), dtype=np.float64)


def unit_coincidences(ratings: Ratings, categories: int) -> Array:
    """Return the (units, q, q) coincidence matrices of the units that hold at least two ratings."""
    counts = category_counts(ratings, categories)
    counts = counts[counts.sum(axis=1) >= 2]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= counts[:, :, None] * np.eye(categories)
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None], dtype=np.float64)


def krippendorff_alpha(
    ratings: Ratings,
    categories: int,
    rng: np.random.Generator | None = None,
    metric: Metric = "nominal",
    level: float = LEVEL,
) -> Estimate:
    """Return Krippendorff's α over units with at least two ratings; with `rng`, a BCa interval over units."""
    matrices = unit_coincidences(ratings, categories) if len(ratings) else np.zeros((0, categories, categories))
    if not len(matrices):
        return undefined("no_pairable_units")
    value = float(alpha(matrices.sum(axis=0), metric))
    if not np.isfinite(value):
        return undefined("single_class", len(matrices))

    def of_rows(totals: Array) -> Array:
        return alpha(totals.reshape(*totals.shape[:-1], categories, categories), metric)

    interval = bca(matrices.reshape(len(matrices), -1), of_rows, rng, level) if rng is not None else None
    return Estimate(value=value, interval=interval, n=len(matrices))


def mean_pair_agreement(ratings: Ratings, categories: int) -> float:
    """Return Σ_v c(c-1) / (r(r-1)) as a mean over units with at least two ratings (Fleiss 1971), NaN without."""
    counts = category_counts(ratings, categories)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return float("nan")
    rated = counts.sum(axis=1)
    return float(np.mean((counts * (counts - 1)).sum(axis=1) / (rated * (rated - 1))))


def gwet_ac1(ratings: Ratings, categories: int) -> Estimate:
    """Return Gwet's AC1 of many raters: chance from the mean share of each category over all units."""
    if categories < 2:
        return undefined("one_declared_category")
    counts = category_counts(ratings, categories)
    counts = counts[counts.sum(axis=1) > 0]
    observed = mean_pair_agreement(ratings, categories)
    if not np.isfinite(observed):
        return undefined("no_pairable_units")
    mean = np.mean(counts / counts.sum(axis=1, keepdims=True), axis=0)
    expected = float(np.sum(mean * (1 - mean)) / (categories - 1))
    flags = ("uninformative",) if np.count_nonzero(mean) == 1 else ()
    return Estimate(value=(observed - expected) / (1 - expected), flags=flags, n=len(counts))


def conger_kappa(ratings: Ratings, categories: int) -> Estimate:
    """Return Conger's κ (1980): chance from each rater's own margins, over all pairs of raters."""
    observed = mean_pair_agreement(ratings, categories)
    raters = ratings.shape[1] if ratings.size else 0
    if raters < 2 or not np.isfinite(observed):
        return undefined("no_pairable_units")
    given = (ratings[:, :, None] == np.arange(categories)).sum(axis=0).astype(np.float64)
    margins = divide(given, given.sum(axis=1, keepdims=True))
    if not np.all(np.isfinite(margins)):
        return undefined("no_items")
    spread = np.var(margins, axis=0, ddof=1)
    expected = float(np.sum(np.mean(margins, axis=0) ** 2 - spread / raters))
    if 1 - expected < 1e-12:
        return undefined("single_class")
    return Estimate(value=(observed - expected) / (1 - expected), n=len(ratings))


def flip_rate(replicates: Sequence[Sequence[str | None]], categories: Sequence[str]) -> Estimate:
    """Return the chance that two fresh verdicts of one judge on one item differ, as a mean over items.

    `replicates` holds one list of verdicts an item, None where one failed. Undefined with fewer than two.
    """
    ratings = _ragged(replicates, categories)
    agreed = mean_pair_agreement(ratings, len(categories)) if ratings.size else float("nan")
    if not np.isfinite(agreed):
        return undefined("fewer_than_two_replicates")
    return Estimate(value=1 - agreed, n=int(np.sum((ratings != MISSING).sum(axis=1) >= 2)))


def unstable_share(
    replicates: Sequence[Sequence[str | None]], categories: Sequence[str], level: float = LEVEL
) -> Estimate:
    """Return the share of items whose replicates are not unanimous, with Wilson's interval.

    Its upper limit is what the trust policy calls `flip_ub`.
    """
    ratings = _ragged(replicates, categories)
    counts = category_counts(ratings, len(categories)) if ratings.size else np.zeros((0, 1))
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return undefined("fewer_than_two_replicates")
    unstable = int(np.sum(np.count_nonzero(counts, axis=1) > 1))
    return Estimate(value=unstable / len(counts), interval=wilson(unstable, len(counts), level), n=len(counts))


def _ragged(replicates: Sequence[Sequence[str | None]], categories: Sequence[str]) -> Ratings:
    longest = max((len(item) for item in replicates), default=0)
    return rating_array([[*item, *[None] * (longest - len(item))] for item in replicates], categories)

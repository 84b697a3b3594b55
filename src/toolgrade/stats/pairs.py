"""Two raters' labels on the same items, with weights and clusters: what every agreement statistic starts from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from toolgrade.stats.bootstrap import Array


@dataclass(frozen=True)
class Pairs:
    """Cross tables of two raters, one per cluster.

    `tables` is (clusters, q, q): rows are rater one's categories, columns rater two's, in declared order.
    Weights are scaled to add up to `n`; `effective` is Kish's size (Σw)²/Σw², equal to `n` without weights.
    """

    categories: tuple[str, ...]
    tables: Array
    n: int
    effective: float
    clustered: bool
    weighted: bool

    @property
    def total(self) -> Array:
        """The (q, q) table over all clusters."""
        return np.asarray(self.tables.sum(axis=0), dtype=np.float64)

    @property
    def clusters(self) -> int:
        """How many clusters there are: the units that a bootstrap resamples."""
        return len(self.tables)

    @property
    def rows(self) -> Array:
        """The tables flattened to (clusters, q * q), as a bootstrap takes them."""
        return self.tables.reshape(len(self.tables), -1)

    @property
    def independent(self) -> float:
        """The number of independent observations, at most: effective size, or clusters where fewer."""
        return min(self.effective, float(self.clusters))


def pairs(
    one: Sequence[str],
    two: Sequence[str],
    categories: Sequence[str],
    clusters: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
) -> Pairs:
    """Return the cross tables of two raters' labels on the same items.

    Without `clusters` every item is one. `weights` are 1 / inclusion probability.

    Raises:
        ValueError: lengths differ, a label is not declared, a category is declared twice, or a weight is
            not a positive number.
    """
    given = [two, *(extra for extra in (clusters, weights) if extra is not None)]
    if any(len(other) != len(one) for other in given):
        raise ValueError(f"labels, clusters and weights must be equally long, got {[len(one), *map(len, given)]}")
    index = {name: number for number, name in enumerate(categories)}
    if len(index) != len(categories):
        raise ValueError(f"a category is declared twice: {list(categories)}")
    cells = np.array([_index(a, index) * len(index) + _index(b, index) for a, b in zip(one, two, strict=True)], int)
    scaled, effective = scale_weights(weights, len(one))
    order = {name: number for number, name in enumerate(dict.fromkeys(clusters))} if clusters is not None else None
    group = np.arange(len(one)) if clusters is None or order is None else np.array([order[c] for c in clusters], int)
    groups = len(one) if order is None else len(order)
    flat = np.zeros((groups, len(index) ** 2))
    np.add.at(flat, (group, cells), scaled)
    return Pairs(
        categories=tuple(categories),
        tables=flat.reshape(groups, len(index), len(index)),
        n=len(one),
        effective=effective,
        clustered=groups < len(one),
        weighted=bool(len(scaled)) and bool(np.ptp(scaled) > 0),
    )


def _index(label: str, index: dict[str, int]) -> int:
    if label not in index:
        raise ValueError(f"label {label!r} is not among the declared categories {list(index)}")
    return index[label]


def scale_weights(weights: Sequence[float] | None, n: int) -> tuple[Array, float]:
    """Return weights scaled to add up to n (Hájek), and Kish's effective size (Σw)²/Σw².

    Raises:
        ValueError: a weight is not a positive finite number.
    """
    if weights is None or n == 0:
        return np.ones(n), float(n)
    raw = np.asarray(weights, dtype=np.float64)
    if not np.all(np.isfinite(raw)) or np.any(raw <= 0):
        raise ValueError("weights must be positive finite numbers")
    return raw * n / raw.sum(), float(raw.sum() ** 2 / np.sum(raw**2))

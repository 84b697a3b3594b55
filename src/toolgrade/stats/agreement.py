"""Agreement of two raters, as functions of their cross table: vectorised, NaN where undefined.

A table holds how often rater one said row and rater two said column, over the *declared* categories, shape
(..., q, q). Leading axes are replicates, so that one call values a whole bootstrap.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from toolgrade.stats.bootstrap import Array

Weighting = Literal["identity", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval"]

TINY = 1e-12


def agreement_weights(categories: int, weighting: Weighting = "identity") -> Array:
    """Return the (q, q) weights: 1 on the diagonal, falling with the distance of declared levels."""
    if weighting == "identity" or categories < 2:
        return np.eye(categories)
    level = np.arange(categories, dtype=np.float64)
    distance = np.abs(level[:, None] - level[None, :]) / (categories - 1)
    return np.asarray(1 - (distance if weighting == "linear" else distance**2), dtype=np.float64)


def shares(tables: Array) -> Array:
    """Return the tables as shares of their totals, NaN for an empty table."""
    return divide(tables, tables.sum(axis=(-2, -1), keepdims=True))


def divide(part: Array, whole: Array) -> Array:
    """Return part / whole, NaN where the whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64))
    empty = np.abs(whole) < TINY
    return np.where(empty, np.nan, part / np.where(empty, 1.0, whole))


def accuracy(tables: Array) -> Array:
    """Return the share on the diagonal."""
    return np.asarray(np.trace(shares(tables), axis1=-2, axis2=-1))


def kappa(tables: Array, weights: Array | None = None) -> Array:
    """Return Cohen's κ (1960), or weighted κ (1968): (po - pe) / (1 - pe). NaN where chance agrees fully."""
    observed, expected = kappa_parts(tables, weights)
    return divide(observed - expected, 1 - expected)


def kappa_parts(tables: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the observed agreement and the one that the margins alone would give."""
    share = shares(tables)
    weights = np.eye(share.shape[-1]) if weights is None else weights
    rows, columns = share.sum(axis=-1), share.sum(axis=-2)
    observed = np.einsum("...ij,ij->...", share, weights)
    expected = np.einsum("...i,ij,...j->...", rows, weights, columns)
    return observed, expected


def kappa_error(tables: Array, weights: Array | None = None) -> Array:
    """Return the standard error of κ by Fleiss, Cohen and Everitt (1969), NaN where κ is undefined."""
    share = shares(tables)
    weights = np.eye(share.shape[-1]) if weights is None else weights
    value, (_, expected) = kappa(tables, weights), kappa_parts(tables, weights)
    row_mean, column_mean = share.sum(axis=-2) @ weights.T, share.sum(axis=-1) @ weights
    inner = weights - (1 - value)[..., None, None] * (row_mean[..., :, None] + column_mean[..., None, :])
    variance = np.sum(share * inner**2, axis=(-2, -1)) - (value - expected * (1 - value)) ** 2
    return divide(np.sqrt(np.maximum(variance, 0.0) / tables.sum(axis=(-2, -1))), 1 - expected)


def gwet(tables: Array, weights: Array | None = None) -> Array:
    """Return Gwet's AC1 (2008), or AC2 with weights. Its chance term depends on the declared categories.

    It never gates: a judge that always passes scores high on an unbalanced set.
    """
    share = shares(tables)
    q = share.shape[-1]
    if q < 2:
        return np.full(share.shape[:-2], np.nan)
    weights = np.eye(q) if weights is None else weights
    expected = _gwet_chance(share, weights)
    return divide(np.einsum("...ij,ij->...", share, weights) - expected, 1 - expected)


def _gwet_chance(share: Array, weights: Array) -> Array:
    q = share.shape[-1]
    mean = (share.sum(axis=-1) + share.sum(axis=-2)) / 2
    return np.asarray(weights.sum() / (q * (q - 1)) * np.sum(mean * (1 - mean), axis=-1), dtype=np.float64)


def gwet_error(table: Array, weights: Array | None = None) -> float:
    """Return the standard error of AC1/AC2 over items (Gwet 2008, divisor n(n-1)), NaN for n < 2."""
    n = float(table.sum())
    if n < 2:
        return np.nan
    q = table.shape[-1]
    weights = np.eye(q) if weights is None else weights
    share = shares(table)
    expected, value = float(_gwet_chance(share, weights)), float(gwet(table, weights))
    mean = (share.sum(axis=1) + share.sum(axis=0)) / 2
    rated = (1 - mean[:, None] + 1 - mean[None, :]) / 2
    chance = weights.sum() / (q * (q - 1)) * rated
    per_cell = (weights - expected) / (1 - expected) - 2 * (1 - value) * (chance - expected) / (1 - expected)
    return float(np.sqrt(np.sum(table * (per_cell - value) ** 2) / (n * (n - 1))))


def correlation(tables: Array) -> Array:
    """Return Matthews' correlation (φ) of 2 × 2 tables, NaN where a margin is empty."""
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    product = np.prod(rows, axis=-1) * np.prod(columns, axis=-1)
    cross = tables[..., 0, 0] * tables[..., 1, 1] - tables[..., 0, 1] * tables[..., 1, 0]
    return divide(cross, np.sqrt(product))


def alpha_distance(marginals: Array, metric: Metric = "nominal") -> Array:
    """Return Krippendorff's δ² between categories, (..., q, q); the ordinal one depends on the marginals (..., q)."""
    q = marginals.shape[-1]
    level = np.arange(q, dtype=np.float64)
    if metric == "nominal":
        return np.asarray(1 - np.eye(q), dtype=np.float64)
    if metric == "interval":
        return np.asarray((level[:, None] - level[None, :]) ** 2, dtype=np.float64)
    running = np.cumsum(marginals, axis=-1)
    middle = running - marginals / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2, dtype=np.float64)


def alpha(coincidences: Array, metric: Metric = "nominal") -> Array:
    """Return Krippendorff's α (2011) of coincidence matrices (..., q, q), NaN where only one value occurs.

    A unit with m ratings adds each ordered pair of them with weight 1 / (m - 1); for two raters that is the
    table plus its transpose.
    """
    marginals = coincidences.sum(axis=-1)
    total = marginals.sum(axis=-1)
    distance = alpha_distance(marginals, metric)
    observed = np.sum(coincidences * distance, axis=(-2, -1))
    expected = np.sum(marginals[..., :, None] * marginals[..., None, :] * distance, axis=(-2, -1))
    return np.asarray(1 - (total - 1) * divide(observed, expected), dtype=np.float64)


def alpha_of_tables(tables: Array, metric: Metric = "nominal") -> Array:
    """Return Krippendorff's α of two raters from their cross tables."""
    return alpha(tables + np.swapaxes(tables, -2, -1), metric)

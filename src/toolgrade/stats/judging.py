"""How well a judge's pass/fail verdicts agree with people's: every statistic, each with its interval.

FAIL is the positive class of precision, recall and F1. Rows of a table are the human's label, columns the
judge's verdict, in the order fail, pass. One resampling of traces serves all intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from toolgrade.stats import agreement as agree
from toolgrade.stats.bootstrap import Array, Bootstrap
from toolgrade.stats.estimate import LEVEL, Estimate, Interval, Reason, undefined
from toolgrade.stats.intervals import add_half, mover, no_disagreement
from toolgrade.stats.pairs import Pairs
from toolgrade.stats.rates import wilson

FAIL, PASS = "fail", "pass"
CATEGORIES = (FAIL, PASS)

FEW_CLUSTERS = 25
MARGIN_GAP = 0.05
IMBALANCE_GAP = 0.2
CHECK_GAP = 0.1


class _Share(NamedTuple):
    """A proportion: the cells that count for it, among the cells that it is taken of."""

    part: tuple[int, ...]
    whole: tuple[int, ...]
    reason: Reason


# Cells: 0 human fail & judge fail, 1 human fail & judge pass, 2 human pass & judge fail, 3 both pass.
SHARES: dict[str, _Share] = {
    "accuracy": _Share((0, 3), (0, 1, 2, 3), "no_items"),
    "fail_precision": _Share((0,), (0, 2), "zero_denominator"),
    "fail_recall": _Share((0,), (0, 1), "missing_class"),
    "pass_recall": _Share((3,), (2, 3), "missing_class"),
}


_COEFFICIENTS: dict[str, Callable[[Array], Array]] = {
    "ac1": agree.gwet,
    "alpha": agree.alpha_of_tables,
    "mcc": agree.correlation,
}


def judge_agreement(pairs: Pairs, rng: np.random.Generator, level: float = LEVEL) -> dict[str, Estimate]:
    """Return all statistics of a judge against human labels, by name.

    Names: accuracy, fail_precision, fail_recall (TNR), pass_recall (TPR), fail_f1, youden_j, kappa, ac1, alpha,
    mcc, phi_kappa_gap. Each is undefined with a reason where its formula is.

    Raises:
        ValueError: the categories of `pairs` are not fail, pass.
    """
    if pairs.categories != CATEGORIES:
        raise ValueError(f"expected the categories {CATEGORIES}, got {pairs.categories}")
    if pairs.n == 0:
        names = (*SHARES, "fail_f1", "youden_j", "kappa", "ac1", "alpha", "mcc", "phi_kappa_gap")
        return dict.fromkeys(names, undefined("no_items"))
    draws = Bootstrap(pairs.rows, rng)
    found = {name: _proportion(pairs, draws, share, level) for name, share in SHARES.items()}
    found["fail_f1"] = _resampled(pairs, draws, _f1, "zero_denominator", level)
    found["youden_j"] = _youden(found["pass_recall"], found["fail_recall"], pairs.n)
    found["kappa"] = kappa_estimate(pairs, draws, level)
    for name, statistic in _COEFFICIENTS.items():
        found[name] = chance_corrected(pairs, draws, statistic, level)
    return _cross_flags(found)


def kappa_estimate(pairs: Pairs, draws: Bootstrap, level: float = LEVEL, weights: Array | None = None) -> Estimate:
    """Return κ (weighted with `weights`) of any declared categories with its BCa interval by cluster.

    Where raters never differ the interval is `no_disagreement`'s; where one rater is constant, `add_half`'s.
    """
    q = len(pairs.categories)
    if q < 2:
        return undefined("one_declared_category", pairs.n)

    def weighted(tables: Array) -> Array:
        return agree.kappa(tables, weights)

    estimate = chance_corrected(pairs, draws, weighted, level, weights)
    flags = list(estimate.flags)
    table = pairs.total
    flags += ["human_constant"] if np.count_nonzero(table.sum(axis=1)) == 1 else []
    flags += ["judge_constant"] if np.count_nonzero(table.sum(axis=0)) == 1 else []
    flags += ["few_clusters"] if pairs.clusters < FEW_CLUSTERS else []
    if estimate.interval is not None and estimate.interval.method == "bca" and weights is None:
        check = add_half(table * pairs.independent / pairs.n, level).interval
        if check and max(abs(check.low - estimate.interval.low), abs(check.high - estimate.interval.high)) > CHECK_GAP:
            flags.append("interval_check")
    return estimate.model_copy(update={"flags": tuple(flags)})


def _on_tables(statistic: Callable[[Array], Array], q: int) -> Callable[[Array], Array]:
    def on_rows(totals: Array) -> Array:
        return statistic(totals.reshape(*totals.shape[:-1], q, q))

    return on_rows


def _proportion(pairs: Pairs, draws: Bootstrap, share: _Share, level: float) -> Estimate:
    def statistic(totals: Array) -> Array:
        return agree.divide(totals[..., share.part].sum(axis=-1), totals[..., share.whole].sum(axis=-1))

    per_cluster = pairs.rows[:, share.whole].sum(axis=1)
    n = float(per_cluster.sum())
    value = float(statistic(pairs.rows.sum(axis=0)))
    if not np.isfinite(value):
        return undefined(share.reason)
    interval = None
    if pairs.clustered or pairs.weighted:
        interval = draws.interval(statistic, level)
    if interval is None:
        independent = n**2 / float(np.sum(per_cluster**2))
        interval = wilson(min(value, 1.0) * independent, independent, level)
    return Estimate(value=value, interval=interval, n=int(np.count_nonzero(per_cluster)))


def _resampled(
    pairs: Pairs, draws: Bootstrap, statistic: Callable[[Array], Array], reason: Reason, level: float
) -> Estimate:
    value = float(statistic(pairs.rows.sum(axis=0)))
    if not np.isfinite(value):
        return undefined(reason, pairs.n)
    interval = draws.interval(statistic, level)
    return Estimate(value=value, interval=interval, n=pairs.n, flags=() if interval else ("no_interval",))


def _f1(totals: Array) -> Array:
    return agree.divide(2 * totals[..., 0], 2 * totals[..., 0] + totals[..., 1] + totals[..., 2])


def _youden(tpr: Estimate, tnr: Estimate, n: int) -> Estimate:
    """TPR + TNR - 1. Its own bootstrap covers 65 to 90 % where few items fail; MOVER does not lose that."""
    if tpr.value is None or tnr.value is None:
        return undefined("missing_class", n)
    return Estimate(value=tpr.value + tnr.value - 1, interval=mover(tpr, tnr, -1.0), n=n)


def chance_corrected(
    pairs: Pairs, draws: Bootstrap, statistic: Callable[[Array], Array], level: float, weights: Array | None = None
) -> Estimate:
    """Return a chance-corrected coefficient: BCa, or the interval for raters that never differ or never vary."""
    on_rows = _on_tables(statistic, len(pairs.categories))
    estimate = _resampled(pairs, draws, on_rows, "single_class", level)
    if estimate.value is None or estimate.interval is not None:
        return estimate
    interval = _fallback(pairs, level, weights)
    return estimate.model_copy(update={"interval": interval, "flags": () if interval else ("no_interval",)})


def _fallback(pairs: Pairs, level: float, weights: Array | None) -> Interval | None:
    table = pairs.total
    rows, columns = (np.count_nonzero(table.sum(axis=axis)) for axis in (1, 0))
    if np.count_nonzero(table) == np.count_nonzero(np.diag(table)) and rows > 1:
        return no_disagreement(table, pairs.independent, level, weights)
    if min(rows, columns) == 1 and max(rows, columns) > 1:
        return add_half(table * pairs.independent / pairs.n, level, weights).interval
    return None


def _cross_flags(found: dict[str, Estimate]) -> dict[str, Estimate]:
    kappa, mcc, ac1 = (found[name].value for name in ("kappa", "mcc", "ac1"))
    flags = list(found["kappa"].flags)
    gap = undefined(found["mcc"].reason or found["kappa"].reason or "single_class", found["kappa"].n)
    if kappa is not None and mcc is not None:
        gap = Estimate(value=mcc - kappa, n=found["kappa"].n)
        flags += ["margins_differ"] if mcc - kappa > MARGIN_GAP else []
    if kappa is not None and ac1 is not None and ac1 - kappa >= IMBALANCE_GAP:
        flags.append("imbalanced")
    return {**found, "kappa": found["kappa"].model_copy(update={"flags": tuple(flags)}), "phi_kappa_gap": gap}

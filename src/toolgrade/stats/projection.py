"""What a judge's recalls mean where failures are rarer than in the label set."""

from __future__ import annotations

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.agreement import accuracy, gwet, kappa
from toolgrade.stats.estimate import Estimate, Reason, undefined


class Projection(Frozen):
    """κ, AC1, FAIL precision and accuracy at another FAIL prevalence; κ is no property of the judge alone."""

    fail_rate: float
    kappa: Estimate
    ac1: Estimate
    fail_precision: Estimate
    accuracy: Estimate


def project(pass_recall: float, fail_recall: float, fail_rate: float) -> Projection:
    """Return what to expect at `fail_rate` from the recalls: the cells are rebuilt, then valued as usual.

    Raises:
        ValueError: an argument lies outside [0, 1].
    """
    if not all(0 <= value <= 1 for value in (pass_recall, fail_recall, fail_rate)):
        raise ValueError(f"recalls and rates lie in [0, 1], got {pass_recall}, {fail_recall}, {fail_rate}")
    table = np.array(
        [
            [fail_rate * fail_recall, fail_rate * (1 - fail_recall)],
            [(1 - fail_rate) * (1 - pass_recall), (1 - fail_rate) * pass_recall],
        ]
    )
    judged_fail = float(table[:, 0].sum())
    precision = float(table[0, 0]) / judged_fail if judged_fail else float("nan")
    return Projection(
        fail_rate=fail_rate,
        kappa=_estimate(float(kappa(table)), "single_class"),
        ac1=_estimate(float(gwet(table)), "single_class"),
        fail_precision=_estimate(precision, "zero_denominator"),
        accuracy=_estimate(float(accuracy(table)), "no_items"),
    )


def _estimate(value: float, reason: Reason) -> Estimate:
    return Estimate(value=value) if np.isfinite(value) else undefined(reason)

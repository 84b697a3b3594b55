"""What every statistic returns: a value with its interval, or None with the reason why there is none."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

from toolgrade.core.model import Frozen

Reason = Literal[
    "no_items",
    "nothing_decided",
    "single_class",
    "one_declared_category",
    "no_pairable_units",
    "missing_class",
    "judge_at_or_below_chance",
    "insufficient_items",
    "zero_variance",
    "assumption_violation",
    "no_threshold_certifies",
    "zero_denominator",
    "fewer_trials_than_k",
    "fewer_than_two_replicates",
    "human_ceiling_unknown",
    "human_agreement_too_low",
    "design_forbids_correction",
    "no_steps",
    "missing_rate",
    "insufficient_history",
    "unreachable",
]
"""Why a statistic is undefined. It is never replaced by 0 or 1."""

LEVEL = 0.95
"""Confidence level of every interval unless said otherwise."""


class Interval(Frozen):
    """A confidence interval: its limits, its level, and the method that made it."""

    low: float
    high: float
    level: float = LEVEL
    method: str

    @property
    def width(self) -> float:
        """Upper limit minus lower limit."""
        return self.high - self.low

    def __str__(self) -> str:
        """The two limits, as printed beside a value."""
        return f"[{self.low:.3f}, {self.high:.3f}]"


class Estimate(Frozen):
    """A statistic. `value` is None exactly where `reason` says why; `flags` warn about how to read it.

    `n` is the number of items (or cases, or clusters, as the function says) that it rests on.
    """

    value: float | None = None
    interval: Interval | None = None
    reason: Reason | None = None
    flags: tuple[str, ...] = ()
    n: int = 0

    def __str__(self) -> str:
        """The value with its interval, or why there is none."""
        if self.value is None:
            return f"undefined ({self.reason})"
        return f"{self.value:.3f}" + (f" {self.interval}" if self.interval else "")


def undefined(reason: Reason, n: int = 0) -> Estimate:
    """Return an estimate without a value, and why."""
    return Estimate(reason=reason, n=n)


def normal_quantile(level: float = LEVEL) -> float:
    """Return the two-sided quantile z of the standard normal distribution: 1.95996 for 0.95.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies strictly between 0 and 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)

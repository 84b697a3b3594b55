"""How straight the way was, and what per-step rates alone would predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Estimate, Reason, undefined


def path_convergence(steps: Sequence[int]) -> Estimate:
    """Return C = mean over runs of s_min / s_i for the step counts of all runs of one task.

    s_min is the shortest run seen, a proxy for the shortest possible one; one run alone gives 1 with the flag
    `one_run`. Undefined where there is no run, or one took no step.
    """
    if not steps:
        return undefined("no_items")
    shortest = min(steps)
    if shortest < 1:
        return undefined("no_steps", n=len(steps))
    value = sum(shortest / taken for taken in steps) / len(steps)
    return Estimate(value=value, n=len(steps), flags=("one_run",) if len(steps) == 1 else ())


class Compounding(Frozen):
    """The product of per-step pass rates beside the end-to-end rate that was observed.

    `estimate` is what independent steps would give; None with a `reason` and the `missing` steps.
    """

    steps: dict[str, float | None]
    estimate: float | None
    observed: float | None
    missing: tuple[str, ...] = ()
    reason: Reason | None = None


def compounding(steps: Mapping[str, float | None], observed: float | None) -> Compounding:
    """Return the product of the rates in `steps`, undefined where one of them is, beside `observed`."""
    missing = tuple(name for name, value in steps.items() if value is None)
    known = [value for value in steps.values() if value is not None]
    reason: Reason | None = "missing_rate" if missing else None if known else "no_items"
    return Compounding(
        steps=dict(steps),
        estimate=None if reason else prod(known),
        observed=observed,
        missing=missing,
        reason=reason,
    )

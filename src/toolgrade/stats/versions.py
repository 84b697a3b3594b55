"""Two versions of a system under one judge: how far the true PASS rate moved.

Both versions carry the judge's error, and it is the same judge: its recalls are estimated once and shared, and the
evaluated traces and the labelled ones are resampled together. Two corrected rates whose variances are added count
the judge's error twice and forget that the traces are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.agreement import divide
from toolgrade.stats.bootstrap import Array, Bootstrap, bca_limits
from toolgrade.stats.corrected import WIDE, Design
from toolgrade.stats.correction import Judged, recalls_of, rogan_gladen
from toolgrade.stats.estimate import LEVEL, Estimate, Interval, undefined
from toolgrade.stats.paired import agresti_min

MIN_LABELLED = 30
"""Pairs that people labelled on both sides, from which on their differences correct the judge's."""

MIN_DIFFERING = 10
"""Of them, those on which judge and people differ. With five, as for one rate, PPI++ covered 90 % (`benchmarks`)."""

Drop = Literal["excluded", "possible", "shown"]


class PairedTraces(NamedTuple):
    """Traces that both versions ran and the judge decided, in order.

    `clusters` names the case of each. `base` and `candidate` are the shares of its judged questions that the judge
    passed. `people` is the candidate's minus the base's share by people's labels, NaN where they did not label both.
    """

    clusters: Sequence[Hashable]
    base: Array
    candidate: Array
    people: Array


class VersionDifference(Frozen):
    """Candidate minus base, each trace counting once: as judged, and corrected by people's labels.

    `estimator` is None where the design forbids correction. `people` is the difference by labels alone, on the
    `labelled` pairs that have them. `n` of an estimate is the number of pairs behind it.
    """

    traces: int
    labelled: int
    raw: Estimate
    corrected: Estimate
    estimator: Literal["shared_recalls", "ppi_plus_plus"] | None = None
    people: Estimate

    def drop(self, tolerance: float) -> Drop | None:
        """Say what the corrected interval says of a drop by more than `tolerance`; None where there is none."""
        interval = self.corrected.interval
        if interval is None:
            return None
        if interval.low >= -tolerance:
            return "excluded"
        return "shown" if interval.high < -tolerance else "possible"


def version_difference(
    pairs: PairedTraces, cells: Array, design: Design, rng: np.random.Generator, level: float = LEVEL
) -> VersionDifference:
    """Return how far the candidate's PASS rate lies above the base's.

    `cells` (traces, 4) are the judge's calibration: FF, FP, PF, PP of each labelled trace, human first, weighted
    where items were picked with unequal chances. `design` is how they, and the pairs that people labelled, were
    picked. Random ones correct by the labelled pairs (PPI++, Angelopoulos et al., arXiv:2311.01453, on the
    difference of a pair), if there are enough; everything else but `convenience` by shared recalls, that is
    (p_candidate - p_base) / (TPR + TNR - 1). A predictive value is no property of the judge: it moves with the
    system's own rate, so post-stratification does not carry over from one version to another.

    Raises:
        ValueError: the sequences differ in length, or there is no pair.
    """
    n = len(pairs.clusters)
    if not n or any(len(values) != n for values in pairs[1:]):
        raise ValueError(f"expected equally long sequences of at least one pair, got {[len(part) for part in pairs]}")
    draws = _Draws(pairs.clusters, np.asarray(cells, dtype=np.float64), rng, level)
    moved, known = pairs.candidate - pairs.base, np.isfinite(pairs.people)
    estimator: Literal["shared_recalls", "ppi_plus_plus"] | None = None
    if design == "convenience":
        corrected = undefined("design_forbids_correction", n)
    elif design == "random" and _enough(moved[known], pairs.people[known]):
        estimator, corrected = "ppi_plus_plus", _powered(moved, pairs.people, draws)
    else:
        estimator, corrected = "shared_recalls", _shared(pairs, draws)
    return VersionDifference(
        traces=n,
        labelled=int(known.sum()),
        raw=draws.estimate([moved, np.ones(n)], _mean),
        corrected=corrected,
        estimator=estimator,
        people=_people(pairs.people, draws),
    )


def _people(people: Array, draws: _Draws) -> Estimate:
    known = np.isfinite(people)
    if not known.any():
        return undefined("no_items")
    found = draws.estimate([np.where(known, people, 0.0), known.astype(float)], _mean)
    return found.model_copy(update={"n": int(known.sum())})


def _enough(moved: Array, people: Array) -> bool:
    """With few pairs on which judge and people differ, their spread is unknown, and PPI is too sure of itself."""
    return len(people) >= MIN_LABELLED and int(np.sum(moved != people)) >= MIN_DIFFERING


def _powered(moved: Array, people: Array, draws: _Draws) -> Estimate:
    """λ·mean(judged difference of unlabelled pairs) + mean(people's - λ·judged difference of labelled ones)."""
    known = np.isfinite(people)
    lam = _tuning(moved, people[known], moved[known])
    rest = np.where(known, people - lam * moved, 0.0)
    columns = [np.where(known, 0.0, lam * moved), (~known).astype(float), rest, known.astype(float)]

    def statistic(totals: Array, _: Array) -> Array:
        labelled = divide(totals[..., 2], totals[..., 3])
        return labelled if known.all() else labelled + divide(totals[..., 0], totals[..., 1])

    found = draws.estimate(columns, statistic)
    return found.model_copy(update={"n": int(known.sum())})


def _tuning(moved: Array, people: Array, judged: Array) -> float:
    """Return λ as `toolgrade.stats.correction` does for one rate: 0 where the judge saw nothing move."""
    n, rest = len(people), len(moved) - len(people)
    variance = float(np.var(moved, ddof=1))
    if not rest or variance <= 0:
        return 0.0
    covariance = float(np.mean(people * judged) - np.mean(people) * np.mean(judged))
    return float(np.clip(covariance / ((1 + n / rest) * variance), 0.0, 1.0))


def _shared(pairs: PairedTraces, draws: _Draws) -> Estimate:
    """The judged difference over Youden's J; refused where J, or either version's own rate, makes no sense."""
    n = len(pairs.clusters)
    recalls = recalls_of(draws.cells.total.reshape(2, 2)) if draws.cells is not None else None
    if recalls is None:
        return undefined("missing_class", n)
    for judged in (pairs.base, pairs.candidate):
        alone = rogan_gladen(Judged(round(float(np.sum(judged))), n), recalls, draws.level)
        if alone.reason is not None:
            return undefined(alone.reason, n)
        if "assumption_violation" in alone.flags:
            return undefined("assumption_violation", n)
    moved = pairs.candidate - pairs.base

    def statistic(totals: Array, cells: Array) -> Array:
        youden = _youden(cells)
        return divide(_mean(totals, cells), np.where(youden > 0, youden, np.nan))

    return draws.estimate([moved, np.ones(n)], statistic, recalls.pass_recall + recalls.fail_recall - 1)


def _mean(totals: Array, _: Array) -> Array:
    return divide(totals[..., 0], totals[..., 1])


def _youden(cells: Array) -> Array:
    fail_recall = divide(cells[..., 0], cells[..., 0] + cells[..., 1])
    return fail_recall + divide(cells[..., 3], cells[..., 2] + cells[..., 3]) - 1


_Joint = Callable[[Array, Array], Array]
"""A statistic of the totals over cases and of the totals over calibration traces."""


class _Draws:
    """Cases and calibration traces, each resampled as a whole, side by side: replicate i is one draw of both."""

    def __init__(self, clusters: Sequence[Hashable], cells: Array, rng: np.random.Generator, level: float) -> None:
        order = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
        self._group = np.array([order[name] for name in clusters], int)
        self._cases = len(order)
        # One start for every estimate: with a perfect judge, judged and corrected difference are one and the same.
        self._seed = int(rng.integers(2**63))
        self.level = level
        self.cells = Bootstrap(cells, rng) if len(cells) else None

    def estimate(self, columns: Sequence[Array], statistic: _Joint, scale: float = 1.0) -> Estimate:
        """Return the statistic of the columns' sums with its interval, BCa of both samples.

        Where no replicate differs, as with two equal versions, the interval is Agresti and Min's on the cases, over
        `scale`: an error of the calibration moves nothing that did not move.
        """
        rows = np.zeros((self._cases, len(columns)))
        np.add.at(rows, self._group, np.column_stack(columns))
        cases = Bootstrap(rows, np.random.default_rng(self._seed))
        here = self.cells.total if self.cells is not None else np.zeros(4)
        value = float(statistic(cases.total, here))
        if not np.isfinite(value):
            return undefined("no_items")
        interval = self._interval(cases, statistic, value) or self._still(value * scale, scale)
        wide = ("wide",) if interval.width > WIDE else ()
        return Estimate(value=value, interval=interval, n=len(self._group), flags=wide)

    def _interval(self, cases: Bootstrap, statistic: _Joint, value: float) -> Interval | None:
        left = [statistic(cases.left_out, self.cells.total if self.cells is not None else np.zeros(4))]
        weights, drawn = [cases.weights], np.zeros(4)
        if self.cells is not None:
            drawn = self.cells.totals
            left.append(statistic(cases.total, self.cells.left_out))
            weights.append(self.cells.weights)
        limits = bca_limits(
            value,
            statistic(cases.totals, drawn),
            np.concatenate([_centred(part, weight) for part, weight in zip(left, weights, strict=True)]),
            np.concatenate(weights),
            self.level,
        )
        if limits is None:
            return None
        return Interval(low=max(-1.0, limits[0]), high=min(1.0, limits[1]), level=self.level, method="joint_bca")

    def _still(self, moved: float, scale: float) -> Interval:
        worse, better = (round(max(0.0, sign * moved) * self._cases) for sign in (-1, 1))
        plain = agresti_min(worse, better, self._cases, self.level)
        low, high = max(-1.0, plain.low / scale), min(1.0, plain.high / scale)
        return plain.model_copy(update={"low": low, "high": high})


def _centred(left_out: Array, weights: Array) -> Array:
    """Distances from each sample's own mean: the acceleration of a statistic of two samples."""
    values = np.broadcast_to(left_out, weights.shape)
    defined = np.isfinite(values)
    return values - np.average(values[defined], weights=weights[defined]) if defined.any() else values

"""A judged PASS rate, corrected by the estimator that the sampling design allows, or not at all.

The design is how items were picked for labelling. A wrong estimator is worse than none: Rogan-Gladen on items
picked by verdict covers 0 to 69 % at nominal 95 %, post-stratification on items balanced by label 0 to 73 %.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.correction import Judged, post_stratified, prediction_powered, recalls_of, rogan_gladen
from toolgrade.stats.estimate import LEVEL, Estimate, undefined
from toolgrade.stats.rates import wilson

Design = Literal["random", "verdict_stratified", "label_stratified", "convenience"]
DESIGNS: tuple[Design, ...] = ("random", "verdict_stratified", "label_stratified", "convenience")

WIDE = 0.5


class CorrectedRate(Frozen):
    """A judge's raw PASS share with what people's labels make of it.

    `estimator` is None where the design forbids correction (`corrected.reason`). `human_only` ignores the judge;
    `label_equivalent` is how many human labels the corrected interval is worth: below their number, the judge
    adds nothing.
    """

    design: Design
    raw: Estimate
    corrected: Estimate
    estimator: Literal["ppi_plus_plus", "post_stratified", "rogan_gladen"] | None = None
    cross_check: Estimate | None = None
    human_only: Estimate
    label_equivalent: float | None = None
    flags: tuple[str, ...] = ()


def corrected_rate(
    judged: Judged, table: Array, design: Design, human_only: Estimate | None = None, level: float = LEVEL
) -> CorrectedRate:
    """Return the PASS rate of `judged` items, corrected with the fail/pass `table` of labelled ones.

    `table` holds unweighted counts; where random items had unequal chances, weighted ones that add up to their
    effective number. `human_only` is the weighted rate of the labelled items where they were not
    picked at random; by default it is taken from `table` for the random design and undefined for others.

    Raises:
        ValueError: nothing was judged, or `judged` is no count of passes.
    """
    if not 0 <= judged.passed <= judged.n or judged.n == 0:
        raise ValueError(f"expected passes among at least one judged item, got {judged.passed} of {judged.n}")
    raw = Estimate(
        value=judged.share, interval=wilson(judged.passed, judged.n, level), n=judged.n, flags=("uncorrected",)
    )
    people = human_only or _human_rate(table, design, level)
    estimator, corrected, check = _dispatch(judged, table, design, level)
    flags = []
    if corrected.interval is not None and corrected.interval.width > WIDE:
        flags.append("wide")
    worth = _label_equivalent(corrected, people)
    if worth is not None and worth < people.n:
        flags.append("judge_adds_nothing")
    return CorrectedRate(
        design=design,
        raw=raw,
        corrected=corrected,
        estimator=estimator,
        cross_check=check,
        human_only=people,
        label_equivalent=worth,
        flags=tuple(flags),
    )


_Chosen = tuple[Literal["ppi_plus_plus", "post_stratified", "rogan_gladen"] | None, Estimate, Estimate | None]


def _dispatch(judged: Judged, table: Array, design: Design, level: float) -> _Chosen:
    if design == "convenience":
        return None, undefined("design_forbids_correction"), None
    if design == "label_stratified":
        recalls = recalls_of(table)
        found = rogan_gladen(judged, recalls, level) if recalls else undefined("missing_class")
        if "assumption_violation" in found.flags:
            found = undefined("assumption_violation", found.n)
        return "rogan_gladen", found, None
    stratified = post_stratified(judged, table, level)
    if design == "verdict_stratified":
        return "post_stratified", stratified, None
    powered = prediction_powered(judged, table, level=level).estimate
    if "few_disagreements" in powered.flags or powered.interval is None:
        return "post_stratified", stratified, powered
    return "ppi_plus_plus", powered, stratified


def _human_rate(table: Array, design: Design, level: float) -> Estimate:
    if design != "random":
        return undefined("design_forbids_correction")
    n = float(np.sum(table))
    if not n:
        return undefined("no_items")
    passed = float(np.sum(np.asarray(table)[1]))
    return Estimate(value=passed / n, interval=wilson(passed, n, level), n=int(n))


def _label_equivalent(corrected: Estimate, people: Estimate) -> float | None:
    if corrected.interval is None or people.interval is None or not corrected.interval.width:
        return None
    return people.n * (people.interval.width / corrected.interval.width) ** 2

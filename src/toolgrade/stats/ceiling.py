"""How well people agree with each other: the ceiling of what any judge can reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.agreement import kappa
from toolgrade.stats.estimate import Estimate, undefined
from toolgrade.stats.pairs import pairs
from toolgrade.stats.raters import krippendorff_alpha, rating_array

MIN_SHARED = 20
MIN_HUMAN_KAPPA = 0.2

Labels = Sequence[str | None]
"""One label an item, None where the rater gave none; all raters in the same order of items."""


class LeaveOneOut(Frozen):
    """One human and the judge against the majority of the other humans, on the same `n` items."""

    n: int
    human: float | None = None
    judge: float | None = None


class Ceiling(Frozen):
    """Agreement between humans, of the judge with each of them, and the ratio of the two.

    `pairwise` maps "a|b" to κ over the items that both labelled; only pairs that share at least 20 enter
    `mean_kappa`. `ratio` is None-with-reason where humans agree too little for it to mean anything.
    """

    pairwise: dict[str, Estimate]
    mean_kappa: Estimate
    alpha: Estimate
    judge: dict[str, Estimate]
    judge_mean: Estimate
    judge_majority: Estimate
    leave_one_out: dict[str, LeaveOneOut]
    ratio: Estimate


def human_ceiling(
    humans: Mapping[str, Labels],
    judge: Labels,
    categories: Sequence[str],
    rng: np.random.Generator | None = None,
) -> Ceiling:
    """Return the human-human ceiling and where the judge stands below it.

    Undefined (`human_ceiling_unknown`) with fewer than two humans, or where no two share 20 items.

    Raises:
        ValueError: raters hold different numbers of items, or a label is not declared.
    """
    names = list(humans)
    pairwise = {f"{a}|{b}": _kappa(humans[a], humans[b], categories) for a, b in combinations(names, 2)}
    enough = [e for e in pairwise.values() if e.n >= MIN_SHARED and e.value is not None]
    mean = _mean(enough) if enough else undefined("human_ceiling_unknown")
    with_judge = {name: _kappa(labels, judge, categories) for name, labels in humans.items()}
    judged = [estimate for estimate in with_judge.values() if estimate.value is not None]
    judge_mean = _mean(judged) if judged else undefined("no_pairable_units")
    ratings = rating_array(list(zip(*humans.values(), strict=True)), categories)
    return Ceiling(
        pairwise=pairwise,
        mean_kappa=mean,
        alpha=krippendorff_alpha(ratings, len(categories), rng),
        judge=with_judge,
        judge_mean=judge_mean,
        judge_majority=_kappa(majority(list(humans.values())), judge, categories),
        leave_one_out={name: _leave_one_out(name, humans, judge) for name in names} if len(names) > 1 else {},
        ratio=_ratio(judge_mean, mean),
    )


def majority(raters: Sequence[Labels]) -> list[str | None]:
    """Return the most frequent label of each item, None at a tie or where nobody labelled."""
    out: list[str | None] = []
    for given in zip(*raters, strict=True):
        ranked = Counter(label for label in given if label is not None).most_common(2)
        tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
        out.append(ranked[0][0] if ranked and not tied else None)
    return out


def _kappa(one: Labels, two: Labels, categories: Sequence[str]) -> Estimate:
    shared = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    if not shared:
        return undefined("no_pairable_units")
    value = float(kappa(pairs([a for a, _ in shared], [b for _, b in shared], categories).total))
    return Estimate(value=value, n=len(shared)) if np.isfinite(value) else undefined("single_class", len(shared))


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    return Estimate(value=sum(values) / len(values), n=min(estimate.n for estimate in estimates))


def _ratio(judge: Estimate, humans: Estimate) -> Estimate:
    if humans.value is None:
        return undefined("human_ceiling_unknown")
    if humans.value <= MIN_HUMAN_KAPPA:
        return undefined("human_agreement_too_low")
    return Estimate(value=judge.value / humans.value, n=judge.n) if judge.value is not None else judge


def _leave_one_out(name: str, humans: Mapping[str, Labels], judge: Labels) -> LeaveOneOut:
    others = majority([labels for other, labels in humans.items() if other != name])
    rows = [
        (human == truth, verdict == truth)
        for human, verdict, truth in zip(humans[name], judge, others, strict=True)
        if None not in (human, verdict, truth)
    ]
    n = len(rows)
    return LeaveOneOut(
        n=n,
        human=sum(row[0] for row in rows) / n if n else None,
        judge=sum(row[1] for row in rows) / n if n else None,
    )

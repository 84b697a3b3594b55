"""May the judge replace an annotator? The alternative annotator test (Calderon, Reichart, Dror, ACL 2025).

It is never sufficient alone: with few failures, a judge that always passes passes it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.ceiling import Labels
from toolgrade.stats.estimate import Reason

MIN_ITEMS = 30
MIN_ITEMS_ADVISORY = 10
MIN_HUMANS = 2
Q = 0.05
WINNING = 0.5


class Annotator(Frozen):
    """One annotator's comparison: `advantage` is how often the judge is at least as close to the others.

    `p` is None with a reason where the differences have no spread and equal ε, or items are too few.
    """

    n: int
    advantage: float | None = None
    mean_difference: float | None = None
    p: float | None = None
    rejected: bool = False
    reason: Reason | None = None


class AltTest(Frozen):
    """Winning rate ω (share of annotators that the judge may replace), advantage probability ρ, and the verdict.

    `passes` is ω >= 0.5. With 10 to 29 items an annotator, p comes from Wilcoxon's test: `advisory`, no verdict.
    """

    epsilon: float
    winning_rate: float | None = None
    advantage: float | None = None
    passes: bool | None = None
    advisory: bool = False
    dropped: int = 0
    annotators: dict[str, Annotator] = Field(default_factory=dict)
    reason: Reason | None = None


def alt_test(humans: Mapping[str, Labels], judge: Labels, epsilon: float) -> AltTest:
    """Return the test over items with at least two human labels and a verdict.

    `epsilon` is the price of a human: 0.2 for experts, 0.15 skilled, 0.1 crowd.
    """
    if len(humans) < MIN_HUMANS:
        return AltTest(epsilon=epsilon, reason="human_ceiling_unknown")
    rows = list(zip(judge, *humans.values(), strict=True))
    kept = [row for row in rows if row[0] is not None and sum(label is not None for label in row[1:]) >= MIN_HUMANS]
    compared = {name: _compare(number, kept) for number, name in enumerate(humans, start=1)}
    least = max((len(difference) for difference, _ in compared.values()), default=0)
    floor = MIN_ITEMS if least >= MIN_ITEMS else MIN_ITEMS_ADVISORY
    tested = {name: pair for name, pair in compared.items() if len(pair[0]) >= floor}
    dropped = len(rows) - len(kept)
    if not tested:
        return AltTest(epsilon=epsilon, dropped=dropped, reason="insufficient_items")
    found = {name: _annotator(*pair, epsilon) for name, pair in tested.items()}
    rejected = _benjamini_yekutieli([one.p for one in found.values()])
    found = {
        name: one.model_copy(update={"rejected": hit}) for (name, one), hit in zip(found.items(), rejected, strict=True)
    }
    rate = sum(rejected) / len(rejected)
    enough = least >= MIN_ITEMS
    return AltTest(
        epsilon=epsilon,
        winning_rate=rate,
        advantage=float(np.mean([one.advantage for one in found.values()])),
        passes=rate >= WINNING if enough else None,
        advisory=not enough,
        dropped=dropped,
        annotators=found,
        reason=None if enough else "insufficient_items",
    )


def _compare(number: int, rows: Sequence[Sequence[str | None]]) -> tuple[Array, Array]:
    """Return, per item of one annotator, d = human at least as close - judge at least as close, and the latter."""
    differences, judge_wins = [], []
    for row in rows:
        if row[number] is None:
            continue
        others = [label for i, label in enumerate(row) if i not in (0, number) and label is not None]
        human, judge = (sum(label == other for other in others) for label in (row[number], row[0]))
        differences.append(float(human >= judge) - float(judge >= human))
        judge_wins.append(float(judge >= human))
    return np.array(differences), np.array(judge_wins)


def _annotator(difference: Array, judge_wins: Array, epsilon: float) -> Annotator:
    p, reason = _p_value(difference, epsilon)
    return Annotator(
        n=len(difference),
        advantage=float(judge_wins.mean()),
        mean_difference=float(difference.mean()),
        p=p,
        reason=reason,
    )


def _p_value(difference: Array, epsilon: float) -> tuple[float | None, Reason | None]:
    if np.ptp(difference) == 0:
        mean = float(difference[0])
        return (None if mean == epsilon else float(mean > epsilon)), "zero_variance"
    from scipy import stats

    if len(difference) < MIN_ITEMS:
        return float(stats.wilcoxon(difference - epsilon, alternative="less").pvalue), None
    return float(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue), None


def _benjamini_yekutieli(p_values: Sequence[float | None], q: float = Q) -> list[bool]:
    """Return which hypotheses are rejected at false discovery rate q under any dependence; None never is."""
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control([1.0 if p is None else p for p in p_values], method="by")
    return [p is not None and bool(value <= q) for p, value in zip(p_values, adjusted, strict=True)]

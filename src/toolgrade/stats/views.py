"""What abstention does to agreement: three views that answer different questions, all reported."""

from __future__ import annotations

from collections.abc import Sequence

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Estimate, Reason, undefined
from toolgrade.stats.judging import CATEGORIES, FAIL
from toolgrade.stats.rates import wilson


class Views(Frozen):
    """Counts of who decided what, and the view in which an abstention counts as wrong.

    `coverage` is the judge's decided share of the items that people decided; `covered` is how many both did.
    `strict_*` count unknown and error as wrong. `decided_when_human_unknown` says how often the judge decided
    where people could not. `both_na` and `one_na` are the applicability table, kept apart from agreement.
    """

    items: int
    human_decided: int
    human_unknown: int
    human_na: int
    human_unresolved: int
    judge_unknown: int
    judge_error: int
    covered: int
    coverage: Estimate
    strict_accuracy: Estimate
    strict_fail_recall: Estimate
    decided_when_human_unknown: Estimate
    both_na: int
    one_na: int


def views(human: Sequence[str], judge: Sequence[str]) -> Views:
    """Return the counts. Human labels: fail, pass, unknown, na, unresolved; verdicts: fail, pass, unknown, na, error.

    Raises:
        ValueError: the two differ in length.
    """
    both = list(zip(human, judge, strict=True))
    decided = [(h, j) for h, j in both if h in CATEGORIES]
    covered = [(h, j) for h, j in decided if j in CATEGORIES]
    failed = [(h, j) for h, j in decided if h == FAIL]
    unsure = [j for h, j in both if h == "unknown"]
    return Views(
        items=len(both),
        human_decided=len(decided),
        human_unknown=len(unsure),
        human_na=sum(h == "na" for h in human),
        human_unresolved=sum(h == "unresolved" for h in human),
        judge_unknown=sum(j == "unknown" for _, j in decided),
        judge_error=sum(j == "error" for _, j in decided),
        covered=len(covered),
        coverage=_share(len(covered), len(decided), "no_items"),
        strict_accuracy=_share(sum(h == j for h, j in decided), len(decided), "no_items"),
        strict_fail_recall=_share(sum(j == FAIL for _, j in failed), len(failed), "missing_class"),
        decided_when_human_unknown=_share(sum(j in CATEGORIES for j in unsure), len(unsure), "no_items"),
        both_na=sum(h == j == "na" for h, j in both),
        one_na=sum((h == "na") != (j == "na") for h, j in both),
    )


def _share(part: int, whole: int, reason: Reason) -> Estimate:
    if not whole:
        return undefined(reason)
    return Estimate(value=part / whole, interval=wilson(part, whole), n=whole)

"""Precision, recall and F1 from counts, and the confusion matrix of expected × actual route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Estimate, undefined
from toolgrade.stats.rates import wilson

NO_TOOL = "no_tool"
UNKNOWN_TOOL = "unknown_tool"
MALFORMED = "malformed"
ROUTE_LABELS = (NO_TOOL, UNKNOWN_TOOL, MALFORMED)
"""Routes that are no tool on offer. They come last in a matrix."""


class Classification(Frozen):
    """Precision, recall and F1 with the counts that they come from.

    Precision is undefined where nothing was given, recall where nothing was expected, F1 where neither.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


def classification(true_positives: int, false_positives: int, false_negatives: int) -> Classification:
    """Return precision, recall (with Wilson intervals) and F1 = 2TP / (2TP + FP + FN) from counts.

    Raises:
        ValueError: a count is negative.
    """
    tp, fp, fn = true_positives, false_positives, false_negatives
    if min(tp, fp, fn) < 0:
        raise ValueError(f"counts are not negative, got {tp}, {fp}, {fn}")
    total = 2 * tp + fp + fn
    return Classification(
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        precision=_share(tp, tp + fp),
        recall=_share(tp, tp + fn),
        f1=Estimate(value=2 * tp / total, n=tp + fp + fn) if total else undefined("zero_denominator"),
    )


def _share(part: int, whole: int) -> Estimate:
    if not whole:
        return undefined("zero_denominator")
    return Estimate(value=part / whole, interval=wilson(part, whole), n=whole)


def route_label(tool: str) -> str:
    """Return the label of a tool on offer: its name, marked where it is spelt like one of ROUTE_LABELS."""
    return f"{tool} (tool)" if tool in ROUTE_LABELS else tool


class ConfusionMatrix(Frozen):
    """Counts of expected × actual route: `counts[i][j]` is how often `labels[i]` was expected and `labels[j]` taken."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> int:
        """How many pairs were counted."""
        return sum(map(sum, self.counts))

    @property
    def diagonal(self) -> int:
        """How many pairs agree."""
        return sum(self.counts[i][i] for i in range(len(self.labels)))

    def per_label(self) -> dict[str, Classification]:
        """Return precision, recall and F1 of each label, the label counting as positive."""
        columns = list(zip(*self.counts, strict=True))
        return {
            label: classification(
                self.counts[i][i], sum(columns[i]) - self.counts[i][i], sum(self.counts[i]) - self.counts[i][i]
            )
            for i, label in enumerate(self.labels)
        }


def confusion_matrix(pairs: Iterable[tuple[str, str]]) -> ConfusionMatrix:
    """Return the matrix of (expected, actual) labels: those seen, sorted, then all of ROUTE_LABELS."""
    seen = Counter(pairs)
    tools = sorted({label for pair in seen for label in pair} - set(ROUTE_LABELS))
    labels = (*tools, *ROUTE_LABELS)
    return ConfusionMatrix(
        labels=labels,
        counts=tuple(tuple(seen[expected, actual] for actual in labels) for expected in labels),
    )

"""Which items people should label next, and with what chance each was picked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from toolgrade.calibration.label import by_item, in_force
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.core.model import Frozen
from toolgrade.stats.judging import CATEGORIES
from toolgrade.stats.selective import MIN_ITEMS, certified_threshold

RANDOM_SHARE = 0.05
"""Share of the undisputed items that is queued as well: labels of hard cases alone say nothing of the rest."""

Why = Literal["people_disagree", "verdicts_flip", "judge_unknown", "low_confidence", "random", "unlabelled"]
RANK: dict[Why, int] = {
    "people_disagree": 1,
    "verdicts_flip": 2,
    "judge_unknown": 3,
    "low_confidence": 4,
    "random": 5,
    "unlabelled": 5,
}


class Queued(Frozen):
    """One item to label. The judge's verdict is left out on purpose: who sees it agrees with it.

    `inclusion_prob` is the chance with which the item was queued.
    """

    item_id: str
    content_hash: str
    fields: dict[str, Any] | None
    rank: int
    why: Why
    inclusion_prob: float
    label: str = ""
    critique: str = ""


def queue(labels: LabelSet, verdicts: Iterable[ItemVerdict], rng: np.random.Generator) -> list[Queued]:
    """Return the items that need a label, the most urgent first, then in a random order.

    First what people disagree on (for an adjudicator); then where repeats flip or the judge answered unknown; then
    where it stated less confidence than is certified on the labelled items (`toolgrade.stats.selective`); then a
    random 5 % of the other unlabelled items. Without any verdict all unlabelled items are queued.
    """
    runs = by_replicate(verdicts)
    said: dict[str, list[str]] = {}
    for run in runs.values():
        for item_id, verdict in run.items():
            said.setdefault(item_id, []).append(verdict.verdict)
    doubtful = _doubtful(labels, next(iter(runs.values()), {}))
    labelled = by_item(in_force(labels.labels, labels.card.rubric_version))
    found = []
    for item_id, item in labels.items.items():
        drawn = float(rng.random())
        chosen = _why(labelled.get(item_id, []), said, item_id, drawn)
        if item_id in doubtful and (chosen is None or chosen[0] == "random"):
            chosen = "low_confidence", 1.0
        if chosen is None or labels.resolved[item_id].label is not None:
            continue
        why, chance = chosen
        found.append(
            Queued(
                item_id=item_id,
                content_hash=item.content_hash,
                fields=item.fields,
                rank=RANK[why],
                why=why,
                inclusion_prob=chance,
            )
        )
    order = rng.permutation(len(found))
    return sorted((found[i] for i in order), key=lambda one: one.rank)


def _doubtful(labels: LabelSet, verdicts: Mapping[str, ItemVerdict]) -> set[str]:
    """Return the items whose stated confidence is not certified; none where too few labelled ones have any."""
    stated = {name: one.confidence for name, one in verdicts.items() if one.confidence is not None}
    known = {
        name: labels.resolved[name].label == verdicts[name].verdict
        for name in stated
        if name in labels.resolved and labels.resolved[name].label in CATEGORIES
    }
    if len(known) < MIN_ITEMS:
        return set()
    found = certified_threshold([stated[name] for name in known], list(known.values()))
    return {name for name, value in stated.items() if found.threshold is None or value < found.threshold}


def _why(labels: list[Any], said: Mapping[str, list[str]], item_id: str, drawn: float) -> tuple[Why, float] | None:
    if len(labels) > 1:
        return "people_disagree", 1.0
    words = said.get(item_id, [])
    if len(set(words)) > 1:
        return "verdicts_flip", 1.0
    if "unknown" in words:
        return "judge_unknown", 1.0
    if not said:
        return "unlabelled", 1.0
    return ("random", RANDOM_SHARE) if drawn < RANDOM_SHARE else None

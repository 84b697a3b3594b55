"""Which items people should label next, and with what chance each was picked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from toolgrade.calibration.item import Item
from toolgrade.calibration.label import Label, by_item, in_force
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, suggestion
from toolgrade.stats.judging import CATEGORIES
from toolgrade.stats.selective import MIN_ITEMS, certified_threshold

RANDOM_SHARE = 0.05
"""Share of the undisputed items that is queued as well: labels of hard cases alone say nothing of the rest."""

Why = Literal[
    "people_disagree",
    "verdicts_flip",
    "judge_unknown",
    "low_confidence",
    "random",
    "unlabelled",
    "second_opinion",
    "blind_repeat",
]
RANK: dict[Why, int] = {
    "people_disagree": 1,
    "verdicts_flip": 2,
    "judge_unknown": 3,
    "low_confidence": 4,
    "random": 5,
    "unlabelled": 5,
    "second_opinion": 1,
    "blind_repeat": 1,
}


class Queued(Frozen):
    """One item to label. The judge's verdict is left out on purpose: who sees it agrees with it.

    `inclusion_prob` is the chance with which the item was queued; 1 for a second look at what is labelled already.
    """

    item_id: str
    content_hash: str
    fields: dict[str, Any] | None
    rank: int
    why: Why
    inclusion_prob: float
    label: str = ""
    critique: str = ""
    blind_repeat_of: str | None = None


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
        found.append(_queued(item, why, chance))
    return sorted(_shuffled(found, rng), key=lambda one: one.rank)


def _queued(item: Item, why: Why, chance: float = 1.0, repeated: str | None = None) -> Queued:
    return Queued(
        item_id=item.item_id,
        content_hash=item.content_hash,
        fields=item.fields,
        rank=RANK[why],
        why=why,
        inclusion_prob=chance,
        blind_repeat_of=repeated,
    )


def second_opinions(labels: LabelSet, rng: np.random.Generator) -> list[Queued]:
    """Return the test items that one person labelled, in a random order, for a second: how far do people agree?"""
    given = _people(labels)
    once = [item for item in labels.in_split("test") if len(given[item.item_id]) == 1]
    return _shuffled([_queued(item, "second_opinion") for item in once], rng)


def blind_repeats(labels: LabelSet, annotator: str, rng: np.random.Generator) -> list[Queued]:
    """Return the test items that `annotator` labelled and never repeated, in a random order, to be repeated blindly.

    Raises:
        ConfigError: nobody of that name labelled anything.
    """
    known = {label.annotator_id for label in labels.labels}
    if annotator not in known:
        raise ConfigError(f"{labels.place}: {annotator!r} labelled nothing.{suggestion(annotator, known)}")
    done = {label.blind_repeat_of for label in labels.labels}
    given = _people(labels)
    own = [
        _queued(item, "blind_repeat", repeated=label.label_id)
        for item in labels.in_split("test")
        for label in given[item.item_id]
        if label.annotator_id == annotator and label.label_id not in done
    ]
    return _shuffled(own, rng)


def _people(labels: LabelSet) -> dict[str, list[Label]]:
    """Return the labels in force that people gave by themselves, by item."""
    given: dict[str, list[Label]] = {item_id: [] for item_id in labels.items}
    for label in in_force(labels.labels, labels.card.rubric_version):
        if label.annotator_role not in ("adjudicator", "derived"):
            given[label.item_id].append(label)
    return given


def _shuffled(found: list[Queued], rng: np.random.Generator) -> list[Queued]:
    return [found[i] for i in rng.permutation(len(found))]


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

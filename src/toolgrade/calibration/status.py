"""How far a label set is: what is labelled, what is open, how many labels a judge of given skill would need."""

from __future__ import annotations

from collections import Counter

import numpy as np

from toolgrade.calibration.label import by_item, in_force, repeat_pairs
from toolgrade.calibration.label_set import Card, LabelSet
from toolgrade.calibration.policy import Policy
from toolgrade.core.model import Frozen
from toolgrade.stats.budget import labels_for_kappa, labels_for_recall, recall_table

OVERLAP = 30
"""Items that two people should label independently, to know how far people agree."""


class Need(Frozen):
    """What the test split lacks for `trusted`: fail, pass, in all, traces, items labelled twice."""

    fail: int
    passed: int
    total: int
    traces: int
    overlap: int

    def __str__(self) -> str:
        """Return what is lacking in words, or an empty text."""
        counts = {
            "fail": self.fail,
            "pass": self.passed,
            "in all": self.total,
            "traces": self.traces,
            "labelled by two": self.overlap,
        }
        return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


class SetStatus(Frozen):
    """Counts of one label set; `test` counts resolved labels of the test split by word.

    `bars` are reasons of the trust policy that no further label of this set lifts: a judge is at most advisory on it.
    """

    dimension: str
    name: str
    items: int
    splits: dict[str, int]
    labels: int
    annotators: int
    resolved: dict[str, int]
    unresolved: int
    unlabelled: int
    overlapping: int
    blind_repeats: int
    test: dict[str, int]
    test_traces: int
    need: Need
    bars: tuple[str, ...] = ()


def set_status(labels: LabelSet, policy: Policy | None = None) -> SetStatus:
    """Return how far a label set is."""
    limits = policy or Policy()
    force = in_force(labels.labels, labels.card.rubric_version)
    groups = by_item(force)
    test = labels.in_split("test")
    words = Counter(labels.resolved[item.item_id].label or "unresolved" for item in test)
    traces = {item.trace_id for item in test if labels.resolved[item.item_id].label in ("pass", "fail")}
    overlap = sum(len({label.annotator_id for label in group}) > 1 for group in groups.values())
    decided = words["pass"] + words["fail"]
    return SetStatus(
        dimension=labels.card.dimension,
        name=labels.card.name,
        items=len(labels.items),
        splits=dict(Counter(item.split for item in labels.items.values())),
        labels=len(labels.labels),
        annotators=len({label.annotator_id for label in force}),
        resolved=dict(Counter(one.label for one in labels.resolved.values() if one.label is not None)),
        unresolved=sum(one.label is None and one.item_id in groups for one in labels.resolved.values()),
        unlabelled=sum(item_id not in groups for item_id in labels.items),
        overlapping=overlap,
        blind_repeats=len(repeat_pairs(labels.labels)),
        test=dict(words),
        test_traces=len(traces),
        need=Need(
            fail=max(0, limits.min_class_gate - words["fail"]),
            passed=max(0, limits.min_class_gate - words["pass"]),
            total=max(0, limits.min_n_gate - decided),
            traces=max(0, limits.min_clusters_gate - len(traces)),
            overlap=max(0, OVERLAP - overlap),
        ),
        bars=_bars(labels.card) if labels.items else (),
    )


def _bars(card: Card) -> tuple[str, ...]:
    convenience = ("convenience_sample",) if card.sampling_design == "convenience" else ()
    return convenience if card.human else (*convenience, "derived_labels")


class Plan(Frozen):
    """Test labels that put each lower limit where `trusted` needs it, for a judge with the recalls assumed.

    None: out of reach, or beyond 5000. It assumes independent items and the FAIL share given; after a pilot of 30,
    plan again from the lower limits that the pilot gave.
    """

    pass_recall: float
    fail_recall: float
    fail_share: float
    for_kappa: int | None
    for_fail_recall: int | None
    for_pass_recall: int | None

    @property
    def labels(self) -> int | None:
        """Labels that meet all three."""
        needs = (self.for_kappa, self.for_fail_recall, self.for_pass_recall)
        known = [need for need in needs if need is not None]
        return max(known) if len(known) == len(needs) else None


def plan(pass_recall: float, fail_recall: float, fail_share: float, rng: np.random.Generator) -> Plan:
    """Return how many test labels a judge of these recalls needs to be trusted, with 80 % chance each.

    Raises:
        ValueError: an argument lies outside [0, 1], or the FAIL share is 0 or 1.
    """
    if not (0 < fail_share < 1 and 0 <= pass_recall <= 1 and 0 <= fail_recall <= 1):
        raise ValueError("recalls lie in [0, 1] and the FAIL share strictly between")
    limits = Policy()
    table = recall_table(pass_recall, fail_recall, fail_share)
    fails = labels_for_recall(fail_recall, limits.recall_gate) if fail_recall > limits.recall_gate else None
    passes = labels_for_recall(pass_recall, limits.recall_gate) if pass_recall > limits.recall_gate else None
    return Plan(
        pass_recall=pass_recall,
        fail_recall=fail_recall,
        fail_share=fail_share,
        for_kappa=labels_for_kappa(table, limits.kappa_gate, rng),
        for_fail_recall=None if fails is None else round(fails / fail_share),
        for_pass_recall=None if passes is None else round(passes / (1 - fail_share)),
    )

"""From resolved labels and verdicts to everything that a calibration run says of a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from toolgrade.calibration.item import Item
from toolgrade.calibration.label import Label, by_item, in_force, repeat_pairs
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.core.model import Frozen
from toolgrade.stats.alt_test import AltTest, alt_test
from toolgrade.stats.ceiling import Ceiling, human_ceiling
from toolgrade.stats.clusters import cluster_error
from toolgrade.stats.confidence import ConfidenceCalibration, confidence_calibration
from toolgrade.stats.estimate import Estimate, undefined
from toolgrade.stats.judging import CATEGORIES, PASS, judge_agreement
from toolgrade.stats.ordinal import ordinal_agreement
from toolgrade.stats.pairs import Pairs, pairs
from toolgrade.stats.raters import flip_rate, unstable_share
from toolgrade.stats.selective import Selection, certified_threshold
from toolgrade.stats.views import Views, views

EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
MIN_STABLE_ITEMS = 35
MIN_REPLICATES = 3
MIN_ANNOTATORS = 2


class Humans(Frozen):
    """How far people agree: the ceiling, the alt-test, blind repeats, and how many items stayed open."""

    annotators: int
    ceiling: Ceiling | None = None
    alt_test: AltTest | None = None
    repeats: int = 0
    repeat_agreement: Estimate
    flags: tuple[str, ...] = ()

    @property
    def kappa(self) -> float | None:
        """Mean pairwise κ between people; None where the ceiling is unknown."""
        return self.ceiling.mean_kappa.value if self.ceiling else None


class Measurement(Frozen):
    """One judge on one set of items: counts, views, statistics, people's own agreement.

    `counts` are raw (FF, FP, PF, PP: human first), `weighted` are by 1 / inclusion probability. `n_effective` is
    Kish's size. `stats` maps a name to its estimate (`toolgrade.stats.judging`). `traces` are the different
    weighted cells of a trace and how many traces have them: (FF, FP, PF, PP, count). `levels` are the statistics of
    an ordinal dimension (`toolgrade.stats.ordinal`), on the items of which people and judge gave a level; None of
    other dimensions, and where the judge gave no level. `selection` is the confidence from which on it may be
    believed, None where it stated none.
    """

    items: int
    clusters: int
    n_effective: float
    counts: dict[str, int]
    weighted: dict[str, float]
    views: Views
    stats: dict[str, Estimate]
    humans: Humans
    design_effect: float | None = None
    confidence: ConfidenceCalibration | None = None
    error_rate: float | None = None
    flags: tuple[str, ...] = ()
    traces: tuple[tuple[float, ...], ...] | None = None
    levels: dict[str, Estimate] | None = None
    selection: Selection | None = None


def measure(
    labels: LabelSet,
    items: Sequence[Item],
    verdicts: Mapping[str, ItemVerdict],
    rng: np.random.Generator,
    level: float = 0.95,
) -> Measurement:
    """Return the measurement of one judge's verdicts on `items`, unweighted where the design is convenience.

    An item without a verdict counts as the judge's error: it was asked and nothing came back.
    """
    human = [labels.resolved[item.item_id].label or "unresolved" for item in items]
    judge = [verdicts[item.item_id].verdict if item.item_id in verdicts else "error" for item in items]
    seen = views(human, judge)
    kept = [i for i in range(len(items)) if human[i] in CATEGORIES and judge[i] in CATEGORIES]
    said = [(human[i], judge[i]) for i in kept]
    weights = [1 / labels.chance(items[i]) for i in kept]
    both = pairs([h for h, _ in said], [j for _, j in said], CATEGORIES, [items[i].trace_id for i in kept], weights)
    stats = judge_agreement(both, rng, level)
    raw = pairs([h for h, _ in said], [j for _, j in said], CATEGORIES).total.ravel()
    effect = cluster_error([float(h == j) for h, j in said], [items[i].trace_id for i in kept])
    unsettled = seen.human_unknown + seen.human_unresolved
    return Measurement(
        items=len(items),
        clusters=both.clusters,
        n_effective=both.effective,
        counts=dict(zip(("FF", "FP", "PF", "PP"), map(int, raw), strict=True)),
        weighted=dict(zip(("FF", "FP", "PF", "PP"), map(float, both.total.ravel()), strict=True)),
        views=seen,
        stats=stats,
        humans=people(labels, items, verdicts, rng),
        design_effect=effect.design_effect,
        confidence=_confidence([(human[i], verdicts[items[i].item_id]) for i in kept]),
        error_rate=sum(word == "error" for word in judge) / len(judge) if judge else None,
        flags=("rubric_ambiguous",) if items and unsettled > 0.1 * len(items) else (),
        traces=_traces(both),
        levels=_levels(labels, items, verdicts, rng, level),
        selection=_selection([(human[i], verdicts[items[i].item_id]) for i in kept]),
    )


def _levels(
    labels: LabelSet,
    items: Sequence[Item],
    verdicts: Mapping[str, ItemVerdict],
    rng: np.random.Generator,
    level: float,
) -> dict[str, Estimate] | None:
    scale = labels.card.scale
    if scale is None or not any(verdict.level for verdict in verdicts.values()):
        return None
    said = [
        (item, human, judge)
        for item in items
        if item.item_id in verdicts
        and (human := labels.resolved[item.item_id].level) is not None
        and (judge := verdicts[item.item_id].level) is not None
    ]
    both = pairs(
        [human for _, human, _ in said],
        [judge for _, _, judge in said],
        scale.levels,
        [item.trace_id for item, _, _ in said],
        [1 / labels.chance(item) for item, _, _ in said],
    )
    return ordinal_agreement(both, rng, level)


def _traces(both: Pairs) -> tuple[tuple[float, ...], ...] | None:
    if not both.n:
        return None
    rows, counts = np.unique(both.rows, axis=0, return_counts=True)
    return tuple((*map(float, row), float(count)) for row, count in zip(rows, counts, strict=True))


def _confidence(said: Sequence[tuple[str, ItemVerdict]]) -> ConfidenceCalibration | None:
    """Confidence is of the verdict given; it becomes the probability of PASS."""
    stated = [(human, verdict, verdict.confidence) for human, verdict in said if verdict.confidence is not None]
    if not stated:
        return None
    passed = [int(human == PASS) for human, _, _ in stated]
    return confidence_calibration(passed, [c if verdict.verdict == PASS else 1 - c for _, verdict, c in stated])


def _selection(said: Sequence[tuple[str, ItemVerdict]]) -> Selection | None:
    stated = [
        (verdict.confidence, human == verdict.verdict) for human, verdict in said if verdict.confidence is not None
    ]
    if not stated:
        return None
    return certified_threshold([confidence for confidence, _ in stated], [right for _, right in stated])


def people(
    labels: LabelSet, items: Sequence[Item], verdicts: Mapping[str, ItemVerdict], rng: np.random.Generator
) -> Humans:
    """Return how far people agree with each other on `items`, and the judge with each of them."""
    ids = {item.item_id for item in items}
    force = [label for label in in_force(labels.labels, labels.card.rubric_version) if label.item_id in ids]
    given = by_item([label for label in force if label.annotator_role not in ("adjudicator", "derived")])
    repeats = [(one.label, two.label) for one, two in repeat_pairs(labels.labels) if one.item_id in ids]
    agreement = (
        Estimate(value=sum(a == b for a, b in repeats) / len(repeats), n=len(repeats))
        if repeats
        else undefined("no_items")
    )
    raters = _columns(given, [item.item_id for item in items])
    if len(raters) < MIN_ANNOTATORS:
        return Humans(annotators=len(raters), repeats=len(repeats), repeat_agreement=agreement)
    judge = [_decided(verdicts.get(item.item_id)) for item in items]
    roles = {label.annotator_role for label in force} & set(EPSILON)
    return Humans(
        annotators=len({label.annotator_id for label in force}),
        ceiling=human_ceiling(raters, judge, CATEGORIES, rng),
        alt_test=alt_test(raters, judge, min((EPSILON[role] for role in roles), default=EPSILON["crowd"])),
        repeats=len(repeats),
        repeat_agreement=agreement,
        flags=("interchangeable_annotators",) if any(name.startswith("rater ") for name in raters) else (),
    )


def _decided(verdict: ItemVerdict | None) -> str | None:
    return verdict.verdict if verdict is not None and verdict.verdict in CATEGORIES else None


def _columns(given: Mapping[str, Sequence[Label]], ids: Sequence[str]) -> dict[str, list[str | None]]:
    """Return one column of fail/pass labels a rater.

    Where many people labelled a few items each, no two share enough: then raters are the first, second, ...
    label of each item, as in crowd data without stable annotators.
    """
    names = sorted({label.annotator_id for labels in given.values() for label in labels})
    by_name: dict[str, list[str | None]] = {}
    for name in names:
        by_name[name] = [
            next((x.label for x in given.get(i, ()) if x.annotator_id == name and x.label in CATEGORIES), None)
            for i in ids
        ]
    if _share_enough(by_name):
        return by_name
    most = max((len(labels) for labels in given.values()), default=0)
    return {f"rater {place + 1}": [_nth(given.get(item_id, ()), place) for item_id in ids] for place in range(most)}


def _nth(labels: Sequence[Label], place: int) -> str | None:
    ordered = sorted(labels, key=lambda label: label.annotator_id)
    word: Any = ordered[place].label if place < len(ordered) else None
    return word if word in CATEGORIES else None


def _share_enough(columns: Mapping[str, Sequence[str | None]]) -> bool:
    from itertools import combinations

    from toolgrade.stats.ceiling import MIN_SHARED

    filled = [{i for i, label in enumerate(column) if label is not None} for column in columns.values()]
    return any(len(one & two) >= MIN_SHARED for one, two in combinations(filled, 2))


class Stability(Frozen):
    """Whether fresh replicates of the same questions agree: measured with three replicates on 35 items or more."""

    replicates: int
    items: int
    flip_rate: Estimate
    unstable: Estimate

    @property
    def upper(self) -> float | None:
        """Upper limit of the share of items that flip; None where it was not measured well enough."""
        enough = self.replicates >= MIN_REPLICATES and self.unstable.n >= MIN_STABLE_ITEMS
        return self.unstable.interval.high if enough and self.unstable.interval else None


def stability(replicates: Mapping[int, Mapping[str, ItemVerdict]], ids: Sequence[str]) -> Stability:
    """Return how often fresh replicates differ. Cached verdicts do not count: a cache hides every flip."""
    rows = [
        [
            run[i].verdict if i in run and not run[i].cached and run[i].verdict in (*CATEGORIES, "unknown") else None
            for run in replicates.values()
        ]
        for i in ids
    ]
    words = (*CATEGORIES, "unknown")
    return Stability(
        replicates=len(replicates),
        items=len(rows),
        flip_rate=flip_rate(rows, words),
        unstable=unstable_share(rows, words),
    )

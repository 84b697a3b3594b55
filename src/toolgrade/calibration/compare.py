"""Two calibration runs on the same items: did the new judge get better, worse, or just different?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolgrade.calibration.history import same_rubric
from toolgrade.calibration.item import Item
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.calibration.run import CalibrationRun
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError
from toolgrade.stats.judging import CATEGORIES
from toolgrade.stats.paired import JudgeComparison, compare_judges, holm


class Comparison(Frozen):
    """The new run against the old one, pooled and by stratum, on items that people and both judges decided.

    `adopt` is whether the new judge is not worse and trusted by itself; None where that is undefined.
    `significant` marks strata that hold after Holm's correction. `relabelled` says that the labels changed since:
    both verdicts were then read against today's labels.
    """

    old: str
    new: str
    items: int
    pooled: JudgeComparison
    strata: dict[str, JudgeComparison]
    significant: dict[str, bool]
    relabelled: bool
    same_judge: bool
    adopt: bool | None


def compare(
    old: tuple[CalibrationRun, Sequence[ItemVerdict]],
    new: tuple[CalibrationRun, Sequence[ItemVerdict]],
    labels: LabelSet,
) -> Comparison:
    """Return the comparison of two runs with their verdicts.

    Raises:
        RubricMismatch: the runs go by different rubrics.
        ConfigError: they are on different label sets, or share no decided item.
    """
    (before, _), (after, _) = old, new
    same_rubric(before, after)
    if before.set != after.set:
        raise ConfigError(
            f"{before.run_id} is on the set {before.set!r}, {after.run_id} on {after.set!r}; expected one"
        )
    said = [next(iter(by_replicate(verdicts).values()), {}) for _, verdicts in (old, new)]
    words = [{item: verdict.verdict for item, verdict in run.items()} for run in said]
    items = [
        item
        for item in labels.in_split("test")
        if labels.resolved[item.item_id].label in CATEGORIES
        and all(run.get(item.item_id) in CATEGORIES for run in words)
    ]
    if not items:
        raise ConfigError(f"{before.run_id} and {after.run_id} share no item that people and both judges decided")
    rng = np.random.default_rng(after.seed)

    def on(members: Sequence[Item]) -> JudgeComparison:
        ids = [item.item_id for item in members]
        human = [labels.resolved[i].label or "" for i in ids]
        traces = [item.trace_id for item in members]
        return compare_judges(human, [words[0][i] for i in ids], [words[1][i] for i in ids], traces, rng)

    pooled = on(items)
    parts = {
        f"{name}={value}": on([item for item in items if item.strata[name] == value])
        for name in labels.card.strata
        for value in sorted({item.strata[name] for item in items})
    }
    return Comparison(
        old=before.run_id,
        new=after.run_id,
        items=len(items),
        pooled=pooled,
        strata=parts,
        significant=holm({name: part.discordance.p for name, part in parts.items()}),
        relabelled=labels.hash() != after.label_set_hash or before.label_set_hash != after.label_set_hash,
        same_judge=before.judge_id == after.judge_id,
        adopt=None if pooled.non_inferior is None else pooled.non_inferior and after.decision.level == "trusted",
    )

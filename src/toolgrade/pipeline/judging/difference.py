"""Two judged runs: how far each dimension's rate moved, as judged and by the labels that the judge was measured on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toolgrade.core.finding import Check
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust
from toolgrade.pipeline.judging.tally import DimensionSummary, JudgingSummary
from toolgrade.pipeline.judging.trusting import LEVELS
from toolgrade.pipeline.rundir import read_results
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.versions import PairedTraces, VersionDifference, version_difference

if TYPE_CHECKING:
    from toolgrade.calibration.store import Store


class Drawn(NamedTuple):
    """What people said of a question, and the chance with which it was drawn for them."""

    passes: bool
    chance: float


LabelsOf = Callable[[str], Mapping[str, Drawn]]
"""What people said of a dimension's questions that were drawn at random, by the content hash of their fields."""

Key = tuple[str, int]


class JudgedDifference(Frozen):
    """One dimension in two runs. `trust` is the lower of the two; `why` says what stands against the comparison.

    `difference` is None where the two runs were not judged by the same judge, or share no judged trace.
    """

    dimension: str
    check: Check
    model: str
    trust: Trust
    difference: VersionDifference | None = None
    why: str | None = None

    def dropped(self, tolerance: float) -> bool:
        """Say whether a trusted judge shows, beyond doubt, a drop by more than `tolerance`."""
        return self.trust == "trusted" and self.difference is not None and self.difference.drop(tolerance) == "shown"


class _Said(NamedTuple):
    """Of one trace's questions: passed of decided by the judge, passed of labelled by people, their chances."""

    passed: int = 0
    decided: int = 0
    people_passed: int = 0
    people: int = 0
    chance: float = 1.0

    @property
    def share(self) -> float:
        return self.passed / self.decided

    @property
    def people_share(self) -> float:
        return self.people_passed / self.people if self.people == self.decided else float("nan")


def nobody(_: str) -> Mapping[str, Drawn]:
    """Know no label of people."""
    return {}


def randomly_labelled(store: Store) -> LabelsOf:
    """Return what people said of items of random label sets: only those may stand for the pairs of two runs."""

    def labels(dimension: str) -> dict[str, Drawn]:
        found: dict[str, Drawn] = {}
        for name in store.sets(dimension):
            labelled = store.label_set(dimension, name)
            if labelled.card.human and labelled.card.sampling_design == "random":
                for name, item in labelled.items.items():
                    if (word := labelled.resolved[name].label) in ("pass", "fail"):
                        found[item.content_hash] = Drawn(word == "pass", labelled.chance(item))
        return found

    return labels


def judged_differences(
    folders: tuple[Path, Path], judging: tuple[JudgingSummary, JudgingSummary], labels: LabelsOf = nobody
) -> tuple[JudgedDifference, ...]:
    """Return how far each dimension moved that both runs, base and candidate, had judged; paired by case and trial.

    Raises:
        UnreadableError: a directory holds no results.
        ConfigError: a label set cannot be read as one.
    """
    base, candidate = judging
    shared = [name for name in base.dimensions if name in candidate.dimensions]
    if not shared:
        return ()
    people = {name: labels(name) for name in shared}
    said = [_read(folder, people) for folder in folders]
    return tuple(
        _difference(name, (base.dimensions[name], candidate.dimensions[name]), (said[0][name], said[1][name]))
        for name in shared
    )


def _read(folder: Path, people: Mapping[str, Mapping[str, Drawn]]) -> dict[str, dict[Key, _Said]]:
    found: dict[str, dict[Key, _Said]] = {name: {} for name in people}
    for result in read_results(folder):
        key = (result.case_id or result.trace_id, result.trial)
        for check in result.checks.values():
            verdicts = {verdict.question_id: verdict.verdict for verdict in check.verdicts}
            for question in check.questions if verdicts else ():
                word = verdicts.get(question.id)
                if word not in ("pass", "fail") or question.dimension not in people:
                    continue
                label = people[question.dimension].get(content_hash(question.fields))
                mine = found[question.dimension]
                old = mine.get(key, _Said())
                mine[key] = _Said(
                    old.passed + (word == "pass"),
                    old.decided + 1,
                    old.people_passed + (label is not None and label.passes),
                    old.people + (label is not None),
                    old.chance * (label.chance if label is not None else 1.0),
                )
    return found


def _difference(
    name: str, parts: tuple[DimensionSummary, DimensionSummary], said: tuple[dict[Key, _Said], dict[Key, _Said]]
) -> JudgedDifference:
    before, after = parts
    found = JudgedDifference(
        dimension=name,
        check=after.check,
        model=after.model,
        trust=max(before.trust, after.trust, key=LEVELS.index),
    )
    pairs = [(key, said[0][key], said[1][key]) for key in said[0] if key in said[1]]
    if before.judge_id != after.judge_id:
        why = f"another judge: {before.model}, then {after.model}; judge both runs by one"
        return found.model_copy(update={"why": why})
    if before.models_reported != after.models_reported:
        served = [", ".join(part.models_reported) or "unknown" for part in parts]
        why = f"the provider served {served[0]}, then {served[1]}; judge both runs by one"
        return found.model_copy(update={"why": why})
    if not pairs:
        return found.model_copy(update={"why": "no trace was judged in both runs"})
    traces = PairedTraces(
        clusters=[key[0] for key, _, _ in pairs],
        base=np.array([old.share for _, old, _ in pairs]),
        candidate=np.array([new.share for _, _, new in pairs]),
        people=_people([(old, new) for _, old, new in pairs]),
    )
    labelled = after.labelled or before.labelled
    rng = np.random.default_rng(0)
    if labelled is None:
        plain = version_difference(traces, np.zeros((0, 4)), "convenience", rng)
        return found.model_copy(update={"difference": plain, "why": "the judge was never calibrated"})
    moved = version_difference(traces, labelled.cells, labelled.design, rng)
    return found.model_copy(update={"difference": moved})


def _people(pairs: Sequence[tuple[_Said, _Said]]) -> Array:
    """Return people's difference of each pair; of none where chances are unequal: urgent items are the hard ones."""
    found = np.array([new.people_share - old.people_share for old, new in pairs])
    chances = [old.chance * new.chance for (old, new), moved in zip(pairs, found, strict=True) if np.isfinite(moved)]
    return found if len({round(chance, 9) for chance in chances}) <= 1 else np.full(len(pairs), np.nan)

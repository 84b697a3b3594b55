"""One calibration: from verdicts on the test split to the record that is appended to the history."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from toolgrade.calibration.history import events, exposures, latest
from toolgrade.calibration.item import Item
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.leak import leaked
from toolgrade.calibration.measure import measure, stability
from toolgrade.calibration.policy import Decision, Now, Policy, decide
from toolgrade.calibration.recorded import ItemVerdict, by_replicate, verdicts_hash
from toolgrade.calibration.run import CalibrationRun, ProbeResult, Stratum, standing_of
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, RubricMismatch, suggestion

ERROR_BUDGET = 0.05


class JudgeIdentity(Frozen):
    """Who judged: the hash of all that shapes a verdict, a name to show, the models, the prompt's text for leakage."""

    judge_id: str
    name: str
    rubric_version: str
    models: tuple[str, ...] = ()
    prompt_text: str = ""


def recorded_judge(name: str, rubric_version: str) -> JudgeIdentity:
    """Return the identity of a judge of which only the recorded verdicts are known."""
    return JudgeIdentity(judge_id=content_hash({"recorded": name}), name=name, rubric_version=rubric_version)


def calibrate(
    labels: LabelSet,
    verdicts: Sequence[ItemVerdict],
    judge: JudgeIdentity,
    history: Sequence[CalibrationRun],
    now: datetime,
    probes: Sequence[ProbeResult] = (),
) -> CalibrationRun:
    """Return the record of a calibration, not yet chained: `append_run` does that.

    The first replicate is measured; all of them say how stable the judge is. Intervals are widened by the number
    of judges that were tried on this test set.

    Raises:
        ConfigError: the test split is empty, or a verdict is of an unknown item or of other content.
        RubricMismatch: the judge goes by another MAJOR rubric than the labels, or a verdict by another rubric.
    """
    items = labels.in_split("test")
    if not items:
        raise ConfigError(f"{labels.place}: the test split is empty; add items before calibrating")
    _check_rubric(labels, judge, verdicts)
    runs = by_replicate(_checked(labels, verdicts))
    first = next(iter(runs.values()), {})
    card, label_hash = labels.card, labels.hash()
    tried = exposures(history, card.name, label_hash, judge.judge_id)
    stamp = now.isoformat(timespec="seconds")
    run_id = f"{card.dimension}-{card.name}-{len(history) + 1:04d}-{now:%Y%m%dT%H%M%S}"
    seed = int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:8], "big")
    rng = np.random.default_rng(seed)
    level = 1 - ERROR_BUDGET / tried
    ids = {item.item_id for item in items}
    mine = [verdict for verdict in verdicts if verdict.item_id in ids]
    draft = CalibrationRun(
        run_id=run_id,
        ts=stamp,
        dimension=card.dimension,
        set=card.name,
        judge_id=judge.judge_id,
        judge=judge.name,
        models=judge.models,
        model_reported=tuple(sorted({verdict.model_reported for verdict in mine if verdict.model_reported})),
        rubric_version=judge.rubric_version,
        label_set_hash=label_hash,
        sampling_design=card.sampling_design,
        human_labels=card.human,
        made_up=card.made_up,
        measurement=measure(labels, items, first, rng, level),
        stability=stability(runs, sorted(ids)) if len(runs) > 1 else None,
        probes=tuple(probes),
        leaked_items=tuple(leaked(items, judge.prompt_text)),
        exposures=tried,
        level=level,
        seed=seed,
        cost=sum(costs) if (costs := [v.cost for v in mine if v.cost is not None]) else None,
        code_version=_code_version(),
        verdict_ids_hash=verdicts_hash(verdicts),
        policy_hash=Policy().hash,
        decision=Decision(level="refused", reasons=("uncalibrated",)),
    )
    parts = _strata(draft, labels, items, first, rng)
    staged = draft.model_copy(update={"strata": parts, "events": events(draft, latest(history, card.name))})
    return staged.model_copy(update={"decision": decide(staged.standing(), _today(staged))})


def _strata(
    run: CalibrationRun,
    labels: LabelSet,
    items: Sequence[Item],
    verdicts: Mapping[str, ItemVerdict],
    rng: np.random.Generator,
) -> dict[str, Stratum]:
    parts: dict[str, Stratum] = {}
    for name in labels.card.strata:
        for value in sorted({item.strata[name] for item in items}):
            members = [item for item in items if item.strata[name] == value]
            measured = measure(labels, members, verdicts, rng, run.level)
            decision = decide(standing_of(run, measured), _today(run))
            parts[f"{name}={value}"] = Stratum(measurement=measured, decision=decision)
    return parts


def _today(run: CalibrationRun) -> Now:
    return Now(
        judge_id=run.judge_id,
        rubric_version=run.rubric_version,
        label_set_hash=run.label_set_hash,
        model_reported=run.model_snapshot,
        age_days=0.0,
    )


def _check_rubric(labels: LabelSet, judge: JudgeIdentity, verdicts: Sequence[ItemVerdict]) -> None:
    mine, theirs = judge.rubric_version, labels.card.rubric_version
    if mine.partition(".")[0] != theirs.partition(".")[0]:
        raise RubricMismatch(
            f"{labels.place}: the labels go by rubric {theirs}, the judge by {mine}; expected the same MAJOR version. "
            "Label the items again under the judge's rubric"
        )
    other = next((v for v in verdicts if v.rubric_version not in (None, mine)), None)
    if other is not None:
        raise RubricMismatch(
            f"verdict on {other.item_id!r} goes by rubric {other.rubric_version}; expected {mine} as for the others"
        )


def _checked(labels: LabelSet, verdicts: Sequence[ItemVerdict]) -> Sequence[ItemVerdict]:
    for verdict in verdicts:
        item = labels.items.get(verdict.item_id)
        if item is None:
            near = suggestion(verdict.item_id, labels.items)
            raise ConfigError(f"{labels.place}: a verdict is of item {verdict.item_id!r}, which is not there.{near}")
        if verdict.content_hash not in (None, item.content_hash):
            raise ConfigError(
                f"{labels.place}: the verdict on {item.item_id!r} is of content {verdict.content_hash}; "
                f"expected {item.content_hash}. Ask the judge about the item as it is"
            )
    return verdicts


def _code_version() -> str:
    try:
        return version("toolgrade")
    except PackageNotFoundError:
        return "unknown"

"""Trust as the files of a store give it now: the history, the label sets as they are, the anchors."""

from __future__ import annotations

from datetime import datetime

from toolgrade.calibration.anchors import drift
from toolgrade.calibration.store import Store
from toolgrade.calibration.trust import JudgeNow, Today, TrustReport, trust


def trust_in(
    store: Store, dimension: str, judge: JudgeNow, now: datetime, fail_rate: float | None = None
) -> TrustReport:
    """Return the trust in `judge` at the time `now`; `fail_rate` is how many fail in use, where that is declared.

    Once a judge was calibrated on label sets of the project's own, only those count: shipped ones stand in for
    labels that are not there yet.

    Raises:
        BrokenHistory: a history is not what was appended.
        ConfigError: a label set cannot be read as one.
    """
    history = store.history(dimension)
    own = {run.set for run in history if run.judge_id == judge.judge_id} & set(store.own_sets(dimension))
    if own:
        history = [run for run in history if run.set in own]
    used = {run.set for run in history} & set(store.sets(dimension))
    hashes = {name: store.label_set(dimension, name).hash() for name in used}
    today = Today(at=now, drifting=drifting(store, dimension, judge.judge_id), fail_rate=fail_rate)
    report = trust(dimension, judge, history, hashes, today)
    if "uncalibrated" in report.reasons and not store.has_labels(dimension):
        return report.model_copy(update={"reasons": ("no_labels", *report.reasons)})
    return report


def drifting(store: Store, dimension: str, judge_id: str) -> bool:
    """Return whether the anchors of any label set sound an alarm for this judge."""
    checks = [check for check in store.anchors(dimension) if check.judge_id == judge_id]
    sets = {check.set for check in checks if check.kind == "baseline"} & set(store.sets(dimension))
    return any(drift(checks, store.label_set(dimension, name), judge_id).alarm for name in sets)

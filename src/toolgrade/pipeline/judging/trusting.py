"""What judges' verdicts count for today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from toolgrade.calibration.history import live
from toolgrade.calibration.store import Store
from toolgrade.calibration.trust import JudgeNow, trust
from toolgrade.core.verdict import Trust, Verdict
from toolgrade.judges.panel import Panel

TrustOf = Callable[[str, JudgeNow], Trust]
"""The trust in a judge of a dimension, given what model its provider reports."""


def refused(dimension: str, judge: JudgeNow) -> Trust:
    """Trust no judge: what holds as long as nobody has calibrated one."""
    return "refused"


def calibrated(store: Store, now: datetime) -> TrustOf:
    """Return the trust that the calibrations in `store` give at the time `now`."""

    def level(dimension: str, judge: JudgeNow) -> Trust:
        history = store.history(dimension)
        hashes = {name: store.label_set(dimension, name).hash() for name in {run.set for run in live(history)}}
        return trust(dimension, judge, history, hashes, now).level

    return level


class Trusting:
    """The trust in each verdict's judge, looked up once for each judge and each model that was reported."""

    def __init__(self, panels: Mapping[str, Panel], level: TrustOf) -> None:
        self._rubrics = {name: panel.judges[0].prompt.rubric.rubric_version for name, panel in panels.items()}
        self._panels = panels
        self._level = level
        self._known: dict[tuple[str, str, str | None], Trust] = {}

    def of(self, verdict: Verdict) -> Trust:
        """Return what a verdict counts for."""
        return self._look_up(verdict.dimension, verdict.judge_id, verdict.model_reported)

    def now(self, dimension: str, reported: tuple[str, ...] = ()) -> Trust:
        """Return what the dimension's judge counts for: the least over the models that were reported."""
        order: tuple[Trust, ...] = ("trusted", "advisory", "refused")
        levels = [self._look_up(dimension, self._panels[dimension].id, model) for model in reported or (None,)]
        return max(levels, key=order.index)

    def _look_up(self, dimension: str, judge_id: str, reported: str | None) -> Trust:
        key = (dimension, judge_id, reported)
        if key not in self._known:
            judge = JudgeNow(judge_id=judge_id, rubric_version=self._rubrics[dimension], model_reported=reported)
            self._known[key] = self._level(dimension, judge)
        return self._known[key]

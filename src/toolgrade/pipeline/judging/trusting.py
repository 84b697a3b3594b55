"""What judges' verdicts count for today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolgrade.core.verdict import Trust, Verdict
from toolgrade.judges.panel import Panel

# The statistics behind a calibration take long to import, and most runs have no judge.
if TYPE_CHECKING:
    from datetime import datetime

    from toolgrade.calibration.store import Store
    from toolgrade.calibration.trust import JudgeNow, TrustReport

TrustOf = Callable[[str, "JudgeNow"], "TrustReport"]
"""The trust in a judge of a dimension, given what model its provider reports."""

LEVELS: tuple[Trust, ...] = ("trusted", "advisory", "refused")
"""From the most to the least."""


def uncalibrated(dimension: str, judge: JudgeNow) -> TrustReport:
    """Refuse every judge: what holds as long as nobody has calibrated one."""
    from toolgrade.calibration.trust import TrustReport

    return TrustReport(dimension=dimension, judge_id=judge.judge_id, level="refused", reasons=("uncalibrated",))


def calibrated(store: Store, now: datetime, fail_rates: Mapping[str, float] | None = None) -> TrustOf:
    """Return the trust that the calibrations in `store` give at the time `now`, its drift alarms included.

    `fail_rates` are the shares that fail in use by dimension, where they are declared.
    """
    from toolgrade.calibration.today import trust_in

    return lambda dimension, judge: trust_in(store, dimension, judge, now, (fail_rates or {}).get(dimension))


def labels_missing(store: Store, dimension: str) -> int:
    """Return how many labelled test items the fullest label set of a dimension lacks for full trust, at least.

    Sets on which no label can bring a judge full trust are passed over.
    """
    from toolgrade.calibration.policy import Policy
    from toolgrade.calibration.status import set_status

    found = [set_status(store.label_set(dimension, name)) for name in store.sets(dimension)]
    return min((status.need.total for status in found if not status.bars), default=Policy().min_n_gate)


class Trusting:
    """The trust in each verdict's judge, looked up once for each judge and each model that was reported."""

    def __init__(self, panels: Mapping[str, Panel], report: TrustOf) -> None:
        self._rubrics = {name: panel.judges[0].prompt.rubric.rubric_version for name, panel in panels.items()}
        self._panels = panels
        self._report = report
        self._known: dict[tuple[str, str, str | None], TrustReport] = {}

    def of(self, verdict: Verdict) -> Trust:
        """Return what a verdict counts for."""
        return self._look_up(verdict.dimension, verdict.judge_id, verdict.model_reported).level

    def blocks(self, verdict: Verdict) -> bool:
        """Say whether this verdict alone may fail a trace."""
        return self._look_up(verdict.dimension, verdict.judge_id, verdict.model_reported).may_block

    def now(self, dimension: str, reported: tuple[str, ...] = ()) -> TrustReport:
        """Return the trust in the dimension's judge: the least over the models that were reported."""
        judge_id = self._panels[dimension].id
        reports = [self._look_up(dimension, judge_id, model) for model in reported or (None,)]
        return max(reports, key=lambda report: LEVELS.index(report.level))

    def _look_up(self, dimension: str, judge_id: str, reported: str | None) -> TrustReport:
        from toolgrade.calibration.trust import JudgeNow

        key = (dimension, judge_id, reported)
        if key not in self._known:
            judge = JudgeNow(judge_id=judge_id, rubric_version=self._rubrics[dimension], model_reported=reported)
            self._known[key] = self._report(dimension, judge)
        return self._known[key]

"""What the calibration history of a dimension says: which run counts, what changed, how often it was looked at."""

from __future__ import annotations

from collections.abc import Sequence

from toolgrade.calibration.run import CalibrationRun, Event
from toolgrade.errors import ConfigError, RubricMismatch, suggestion

HISTORY = "history.jsonl"


def live(runs: Sequence[CalibrationRun]) -> list[CalibrationRun]:
    """Return the runs that no later run supersedes."""
    replaced = {run.supersedes for run in runs if run.supersedes}
    return [run for run in runs if run.run_id not in replaced]


def latest(runs: Sequence[CalibrationRun], name: str, judge_id: str | None = None) -> CalibrationRun | None:
    """Return the last run on a label set, of one judge or of any."""
    mine = [run for run in live(runs) if run.set == name and judge_id in (None, run.judge_id)]
    return mine[-1] if mine else None


def find_run(runs: Sequence[CalibrationRun], run_id: str) -> CalibrationRun:
    """Return the run of that id, or the only one whose id starts so; `last` and `previous` name the last two.

    Raises:
        ConfigError: there is no such run, or several.
    """
    named = {"last": -1, "previous": -2}
    if run_id in named and len(runs) >= -named[run_id]:
        return runs[named[run_id]]
    found = [run for run in runs if run.run_id == run_id] or [run for run in runs if run.run_id.startswith(run_id)]
    if len(found) != 1:
        how = "no run" if not found else f"{len(found)} runs"
        raise ConfigError(f"{how} {run_id!r} in the history.{suggestion(run_id, [run.run_id for run in runs])}")
    return found[0]


def exposures(runs: Sequence[CalibrationRun], name: str, label_set_hash: str, judge_id: str) -> int:
    """Return how many judges have been tried on this test set, this one included."""
    seen = {run.judge_id for run in runs if run.set == name and run.label_set_hash == label_set_hash}
    return len(seen | {judge_id})


def events(run: CalibrationRun, previous: CalibrationRun | None) -> tuple[Event, ...]:
    """Return what changed since the last run on the same set; only `repeat` allows to speak of drift."""
    if previous is None:
        return ("first",)
    found: list[Event] = []
    if run.rubric_version != previous.rubric_version:
        found.append("new_rubric")
    if run.label_set_hash != previous.label_set_hash:
        found.append("new_labels")
    if run.judge_id != previous.judge_id:
        found.append("new_judge")
    elif run.model_snapshot != previous.model_snapshot:
        found.append("silent_swap")
    return tuple(found) or ("repeat",)


def same_rubric(one: CalibrationRun, two: CalibrationRun) -> None:
    """Check that two runs may be compared.

    Raises:
        RubricMismatch: they go by different rubrics.
    """
    if one.rubric_version != two.rubric_version:
        raise RubricMismatch(
            f"{one.run_id} goes by rubric {one.rubric_version}, {two.run_id} by {two.rubric_version}: "
            "a verdict means another thing under each. Calibrate both judges under one rubric"
        )

"""The calibration history of a dimension: append-only, each record chained to the one before by its hash."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolgrade.calibration.jsonl import append_jsonl, read_jsonl
from toolgrade.calibration.run import CalibrationRun, Event
from toolgrade.errors import BrokenHistory, ClockError, ConfigError, RubricMismatch, suggestion

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

HISTORY = "history.jsonl"


def read_history(path: Traversable | Path) -> list[CalibrationRun]:
    """Return the runs in the file, oldest first; none where there is no file.

    Raises:
        BrokenHistory: a record's hash does not fit its content or the record before it.
        ClockError: a record is older than the one before it.
        UnreadableError: the file cannot be read.
    """
    if not path.is_file():
        return []
    runs: list[CalibrationRun] = []
    try:
        for number, run in read_jsonl(path, CalibrationRun):
            _check_link(run, runs[-1] if runs else None, f"{path} line {number}")
            runs.append(run)
    except ConfigError as error:
        raise BrokenHistory(f"{error}. The history is append-only: restore the file from version control") from error
    return runs


def _check_link(run: CalibrationRun, previous: CalibrationRun | None, place: str) -> None:
    expected = previous.run_hash if previous else None
    if run.prev_run_hash != expected:
        raise BrokenHistory(
            f"{place}: prev_run_hash is {run.prev_run_hash}; expected {expected}. "
            "A record before it was changed, lost or reordered: restore the file from version control"
        )
    if run.computed_hash() != run.run_hash:
        raise BrokenHistory(
            f"{place}: the record of {run.run_id} does not fit its run_hash: it was edited. "
            "Restore it; a correction is a new run that supersedes it"
        )
    if previous is not None and run.at < previous.at:
        raise ClockError(f"{place}: {run.ts} lies before the record above it, {previous.ts}: the clock ran backwards")


def append_run(path: Path, run: CalibrationRun) -> CalibrationRun:
    """Append a run, chained to the last one, and return it as written.

    Raises:
        BrokenHistory: the file is not what was appended before.
        ClockError: the run lies before the last one.
    """
    runs = read_history(path)
    previous = runs[-1] if runs else None
    if previous is not None and run.at < previous.at:
        raise ClockError(
            f"{path}: the run at {run.ts} lies before the last one, {previous.ts}: the clock ran backwards. "
            "Set the clock; nothing was written"
        )
    sealed = run.sealed(previous)
    append_jsonl(path, [sealed])
    return sealed


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

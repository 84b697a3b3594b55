"""The history as a picture: κ, FAIL recall and PASS recall over time, with their intervals and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolgrade.errors import ConfigError, UnreadableError

if TYPE_CHECKING:
    from toolgrade.calibration.run import CalibrationRun

MEASURES = {"kappa": "κ", "fail_recall": "FAIL recall", "pass_recall": "PASS recall"}
SHOWN = {
    "new_judge": "new judge",
    "new_labels": "new labels",
    "new_rubric": "new rubric",
    "silent_swap": "silent model swap",
}
COLOURS = ("#1b6ca8", "#b3412e", "#3d7a3a")
SUFFIXES = (".svg", ".png")


def plot_history(runs: Sequence[CalibrationRun], path: Path) -> None:
    """Write the history of one label set as SVG or PNG, by the suffix of `path`.

    A run whose statistic is undefined leaves a gap. matplotlib is imported here.

    Raises:
        ConfigError: there is no run, or the suffix is neither .svg nor .png.
        UnreadableError: the file cannot be written.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: a plot is written as .svg or .png, found {path.suffix or 'no suffix'!r}")
    if not runs:
        raise ConfigError("there is no calibration run to draw; run toolgrade calibrate first")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Fixed ids and no date: the same history gives the same file.
    with rc_context({"svg.hashsalt": "toolgrade", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        axes = figure.subplots(len(MEASURES), 1, sharex=True)
        for axis, (name, title), colour in zip(axes, MEASURES.items(), COLOURS, strict=True):
            _draw(axis, runs, (name, title), colour)
        _events(axes, runs)
        axes[-1].set_xticks(range(len(runs)), [f"{run.ts[:10]}\n{run.judge[:18]}" for run in runs], fontsize=7)
        figure.suptitle(f"{runs[-1].dimension} on {runs[-1].set}: agreement with people", fontsize=11)
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
        try:
            figure.savefig(path, metadata=metadata)
        except OSError as error:
            raise UnreadableError(f"{path}: cannot be written ({error})") from error


def _draw(axis: Any, runs: Sequence[CalibrationRun], measure: tuple[str, str], colour: str) -> None:
    name, title = measure
    points = [(i, run.measurement.stats[name]) for i, run in enumerate(runs)]
    known = [(i, e.value, e.interval) for i, e in points if e.value is not None]
    axis.plot([i for i, _, _ in known], [value for _, value, _ in known], "o-", color=colour, markersize=4)
    for i, _, interval in known:
        if interval is not None:
            axis.vlines(i, interval.low, interval.high, color=colour, alpha=0.6, linewidth=2)
    axis.set_ylabel(title, fontsize=9)
    axis.set_ylim(-0.1 if name == "kappa" else 0.0, 1.02)
    axis.set_xlim(-0.5, len(runs) - 0.5)
    axis.grid(axis="y", alpha=0.3)
    for spine in ("top", "right"):
        axis.spines[spine].set_visible(False)


def _events(axes: Any, runs: Sequence[CalibrationRun]) -> None:
    for i, run in enumerate(runs):
        words = [SHOWN[event] for event in run.events if event in SHOWN]
        if not words:
            continue
        for axis in axes:
            axis.axvline(i, color="#666666", linestyle=":", linewidth=1)
        axes[0].annotate(
            "\n".join(words), (i, 1.0), xycoords=("data", "axes fraction"), fontsize=7, ha="center", va="bottom"
        )

"""Charts of a run as SVG text, drawn by matplotlib: the same run gives the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from toolgrade.calibration.past import PastCalibration
from toolgrade.pipeline.summary import CheckSummary, Consistency
from toolgrade.pipeline.thresholds import ThresholdResult
from toolgrade.stats.classification import ConfusionMatrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#010203"
"""Drawn in this colour and then replaced by `currentColor`, so that charts follow a light or dark page."""
BLUE, RED, GREY = "#3572b0", "#c44f3d", "#888888"
MOST_ROUTES = 30


def svg(figure: Figure) -> str:
    """Return a figure as an SVG element that takes the page's text colour."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "toolgrade", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"^.*?(?=<svg)", "", text, flags=re.DOTALL)
    return text.replace(INK, "currentColor")


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axis = figure.subplots()
    axis.tick_params(colors=INK, labelsize=9)
    for name, spine in axis.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(INK)
    return figure, axis


def rates_chart(checks: Sequence[CheckSummary], thresholds: Sequence[ThresholdResult]) -> str | None:
    """Return the rate of each check with its interval and threshold; None where no check has a rate."""
    rows = [(check.check, check.rate) for check in checks if check.rate is not None and check.rate.value is not None]
    if not rows:
        return None
    asked = {result.name: result.threshold for result in thresholds if result.threshold is not None}
    figure, axis = _figure(7, 0.42 * len(rows) + 0.7)
    for place, (name, rate) in enumerate(rows):
        interval = rate.clustered or rate.interval
        if interval is not None:
            axis.hlines(place, interval.low, interval.high, color=BLUE, linewidth=5, alpha=0.35)
        axis.plot([rate.value], [place], "o", color=BLUE)
        if name in asked:
            axis.vlines(asked[name], place - 0.35, place + 0.35, color=RED, linewidth=2)
    axis.set_yticks(range(len(rows)), [name for name, _ in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlim(-0.02, 1.02)
    axis.set_xlabel("rate, with its 95 % interval (red: threshold)", color=INK, fontsize=9)
    return svg(figure)


def confusion_chart(matrix: ConfusionMatrix) -> str:
    """Return expected × actual routes as a heat map; each cell links to `#route=EXPECTED>ACTUAL`.

    Of more than MOST_ROUTES labels, those with the most counts are drawn.
    """
    weight = {
        label: sum(matrix.counts[i]) + sum(row[i] for row in matrix.counts) for i, label in enumerate(matrix.labels)
    }
    kept = sorted(sorted(weight, key=lambda label: -weight[label])[:MOST_ROUTES], key=matrix.labels.index)
    kept = [label for label in kept if weight[label]]
    size = len(kept)
    figure, axis = _figure(0.5 * size + 3.2, 0.36 * size + 2.6)
    most = max((max(row) for row in matrix.counts), default=1) or 1
    for row, expected in enumerate(kept):
        for column, actual in enumerate(kept):
            count = matrix.counts[matrix.labels.index(expected)][matrix.labels.index(actual)]
            if count:
                _cell(axis, (column, row), count / most, RED if expected != actual else BLUE, f"{expected}>{actual}")
                axis.text(column, row, str(count), ha="center", va="center", color=INK, fontsize=8)
    axis.set_xlim(-0.5, size - 0.5)
    axis.set_ylim(size - 0.5, -0.5)
    axis.set_xticks(range(size), kept, rotation=50, ha="right")
    axis.set_yticks(range(size), kept)
    axis.set_xlabel("called", color=INK)
    axis.set_ylabel("expected", color=INK)
    return svg(figure)


def _cell(axis: Any, place: tuple[int, int], share: float, colour: str, route: str) -> None:
    from matplotlib.patches import Rectangle

    corner = (place[0] - 0.5, place[1] - 0.5)
    patch = Rectangle(corner, 1, 1, facecolor=colour, alpha=0.2 + 0.6 * share, edgecolor="none")
    patch.set_url(f"#route={quote(route, safe='>')}")
    axis.add_patch(patch)


def consistency_chart(curves: Sequence[tuple[str, Sequence[Consistency]]]) -> str | None:
    """Return pass^k (solid) and pass@k (dashed) over k, a pair of lines a check; None where no case has trials."""
    drawn = [(name, points) for name, points in curves if len(points) > 1]
    if not drawn:
        return None
    figure, axis = _figure(7, 3.2)
    for number, (name, points) in enumerate(drawn):
        colour = f"C{number}"
        hat = [(p.k, p.pass_hat_k.value) for p in points if p.pass_hat_k.value is not None]
        at = [(p.k, p.pass_at_k.value) for p in points if p.pass_at_k.value is not None]
        axis.plot([k for k, _ in hat], [v for _, v in hat], "o-", color=colour, label=name, markersize=4)
        axis.plot([k for k, _ in at], [v for _, v in at], "--", color=colour, alpha=0.6)
    axis.set_xticks(sorted({point.k for _, points in drawn for point in points}))
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("k trials (solid: all pass, pass^k; dashed: any passes, pass@k)", color=INK, fontsize=9)
    axis.legend(fontsize=8, frameon=False, labelcolor=INK, loc="center left", bbox_to_anchor=(1, 0.5))
    return svg(figure)


def agreement_chart(past: Sequence[PastCalibration], judge_id: str) -> str | None:
    """Return Cohen's κ with people over a judge's calibrations, a line a label set; None where there is none.

    Filled points are of the judge `judge_id`, hollow ones of others before or beside it.
    """
    drawn = [one for one in past if one.kappa.value is not None]
    if not drawn:
        return None
    figure, axis = _figure(7, 2.6)
    for number, name in enumerate(sorted({one.set for one in drawn})):
        mine = [(place, one) for place, one in enumerate(drawn) if one.set == name]
        colour = f"C{number}"
        axis.plot([place for place, _ in mine], [one.kappa.value for _, one in mine], color=colour, label=name)
        for place, one in mine:
            if one.kappa.interval is not None:
                axis.vlines(
                    place, one.kappa.interval.low, one.kappa.interval.high, color=colour, alpha=0.4, linewidth=4
                )
            face = colour if one.judge_id == judge_id else "none"
            axis.plot([place], [one.kappa.value], "o", markerfacecolor=face, markeredgecolor=colour)
    axis.set_xticks(range(len(drawn)), [f"{one.at:%Y-%m-%d}" for one in drawn], rotation=30, ha="right")
    lowest = min(one.kappa.interval.low if one.kappa.interval else one.kappa.value or 0.0 for one in drawn)
    axis.set_ylim(min(0.0, lowest) - 0.05, 1.05)
    axis.set_ylabel("Cohen's κ", color=INK, fontsize=9)
    axis.legend(fontsize=8, frameon=False, labelcolor=INK, loc="center left", bbox_to_anchor=(1, 0.5))
    return svg(figure)

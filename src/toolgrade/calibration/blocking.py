"""Whether one FAIL of a trusted judge may fail one trace: what a FAIL is worth where failures are as rare as in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from toolgrade.core.model import Frozen
from toolgrade.stats.budget import MOST, labels_for_recall
from toolgrade.stats.projection import project

if TYPE_CHECKING:
    from toolgrade.calibration.run import CalibrationRun

MIN_PRECISION = 0.8
"""Of the traces that a judge fails, this share must really fail; else most red builds are false alarms."""


class Blocking(Frozen):
    """`precision_low` is the least that FAIL precision may be at `fail_rate`: both recalls at their lower limits.

    `source` says where the FAIL rate in use comes from: `declared` in the settings, or people's `labels` where
    items were picked at random or by verdict. None where nobody knows it: then no single FAIL may fail a trace.
    `mend` says what would lift that.
    """

    fail_rate: float | None = None
    source: Literal["declared", "labels"] | None = None
    precision_low: float | None = None
    mend: str | None = None

    @property
    def may(self) -> bool:
        """Whether a single FAIL may fail a trace."""
        return self.precision_low is not None and self.precision_low >= MIN_PRECISION

    def __str__(self) -> str:
        """What the judge may do beyond rates, and why."""
        what = "may fail single traces" if self.may else "may not fail single traces"
        if self.fail_rate is None:
            return f"{what}: it is unknown how many fail in use"
        if self.precision_low is None:
            return f"{what}: FAIL precision is undefined at a FAIL rate of {self.fail_rate:.1%}"
        where = "as declared" if self.source == "declared" else "as in the labels"
        return (
            f"{what}: FAIL precision at least {self.precision_low:.2f} at a FAIL rate of {self.fail_rate:.1%}, {where}"
        )


def blocking(run: CalibrationRun, declared: float | None = None) -> Blocking:
    """Return whether the judge of a calibration may fail single traces; `declared` is the FAIL rate in use."""
    rate, source = declared, "declared"
    if rate is None and run.sampling_design in ("random", "verdict_stratified"):
        cells = run.measurement.weighted
        total = sum(cells.values())
        rate, source = ((cells["FF"] + cells["FP"]) / total if total else None), "labels"
    if rate is None:
        return Blocking(mend=f"declare it in toolgrade.toml: fail_rate = {{{run.dimension} = 0.05}}")
    standing = run.standing()
    tpr, tnr = standing.pass_recall_low, standing.fail_recall_low
    low = project(tpr, tnr, rate).fail_precision.value if tpr is not None and tnr is not None else None
    made = Blocking(fail_rate=rate, source=source, precision_low=low)
    return made if made.may else made.model_copy(update={"mend": _mend(run, rate, tpr, tnr)})


def _mend(run: CalibrationRun, rate: float, tpr: float | None, tnr: float | None) -> str:
    """What PASS recall has to reach, and how many labels that takes if it keeps its value."""
    value = run.measurement.stats["pass_recall"].value
    if tpr is None or tnr is None or value is None or not 0 < rate < 1:
        return "label items of both classes"
    goal = 1 - rate * tnr * (1 - MIN_PRECISION) / (MIN_PRECISION * (1 - rate))
    reached = f"the lower limit of PASS recall must reach {goal:.3f}; it is {tpr:.3f}"
    if value <= goal:
        return f"{reached}: at {value:.3f} no number of labels helps, mend the judge's prompt or model"
    needed = labels_for_recall(value, goal)
    if needed is None:
        return f"{reached}: more than {MOST} items that people pass at {value:.3f}, mend the judge first"
    return f"{reached}: about {max(0, needed - run.standing().n_pass)} more items that people pass, if it keeps this up"

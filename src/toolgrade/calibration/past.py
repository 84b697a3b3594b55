"""What earlier calibrations measured, small enough to be kept with a run that relied on them."""

from __future__ import annotations

from datetime import datetime

from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust
from toolgrade.stats.estimate import Estimate


class PastCalibration(Frozen):
    """One calibration run: Cohen's κ between judge and people with its interval, and the level it gave then.

    `n` counts the labelled items that the judge decided.
    """

    run_id: str
    at: datetime
    set: str
    judge: str
    judge_id: str
    n: int
    kappa: Estimate
    level: Trust

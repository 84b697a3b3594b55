"""The labelled sample behind a judge: what corrects its rates, and the difference of two."""

from __future__ import annotations

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.corrected import CorrectedRate, Design, corrected_rate
from toolgrade.stats.correction import Judged
from toolgrade.stats.estimate import Estimate

CELLS = ("FF", "FP", "PF", "PP")


class Labelled(Frozen):
    """The labelled sample that corrects a judged rate: how it was picked, its raw counts, people's own rate.

    `people` is None where the design needs no weights for it. `traces` are the cells by trace, as
    `Measurement.traces`; None in calibrations older than they are. `effective` is set where items were drawn at
    random with unequal chances: how many equally likely ones they are worth. Then weighted cells correct.
    """

    design: Design
    counts: dict[str, int]
    people: Estimate | None = None
    traces: tuple[tuple[float, ...], ...] | None = None
    effective: float | None = None

    @property
    def cells(self) -> Array:
        """FF, FP, PF, PP of each labelled trace, weighted; of each item where traces were not recorded."""
        if self.traces is None:
            return np.repeat(np.eye(4), [self.counts[cell] for cell in CELLS], axis=0)
        rows = np.array(self.traces, dtype=np.float64).reshape(-1, 5)
        return np.repeat(rows[:, :4], rows[:, 4].astype(int), axis=0)

    def corrected(self, passed: int, judged: int) -> CorrectedRate | None:
        """Return the PASS rate of `judged` items of which the judge passed `passed`; None where none was judged."""
        if not judged:
            return None
        cells = np.array([self.counts[cell] for cell in CELLS], dtype=np.float64)
        if self.effective is not None:
            weighted = self.cells.sum(axis=0)
            cells = weighted * self.effective / weighted.sum()
        table = cells.reshape(2, 2)
        return corrected_rate(Judged(passed, judged), table, self.design, self.people)

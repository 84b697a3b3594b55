"""Which calibrations have to be made again, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from toolgrade.calibration.history import latest
from toolgrade.calibration.policy import Policy
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.trust import DAY, JudgeNow
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Trust

SOON_DAYS = 3
"""An unattended run may be late: what turns stale within this many days is due already."""

_RANK: dict[Trust, int] = {"refused": 0, "advisory": 1, "trusted": 2}


class Due(Frozen):
    """A label set on which the judge has to be calibrated again, with the reasons and the level it had."""

    dimension: str
    set: str
    reasons: tuple[str, ...]
    level_before: Trust | None


def due(
    dimension: str,
    judge: JudgeNow,
    history: Sequence[CalibrationRun],
    label_hashes: Mapping[str, str],
    now: datetime,
    drifting: bool = False,
) -> list[Due]:
    """Return the label sets of a dimension on which `judge` is due: judge, rubric, labels or age demand it."""
    found = []
    for name, label_hash in sorted(label_hashes.items()):
        last = latest(history, name)
        reasons = _reasons(last, judge, label_hash, now)
        if drifting and last is not None and "new_judge" not in reasons:
            reasons.append("drift_alarm")
        if reasons:
            level = last.decision.level if last else None
            found.append(Due(dimension=dimension, set=name, reasons=tuple(reasons), level_before=level))
    return found


def _reasons(last: CalibrationRun | None, judge: JudgeNow, label_hash: str, now: datetime) -> list[str]:
    if last is None:
        return ["never_calibrated"]
    age = (now - last.at).total_seconds() / DAY
    return [
        name
        for name, holds in {
            "new_judge": last.judge_id != judge.judge_id,
            "new_rubric": last.rubric_version != judge.rubric_version,
            "new_labels": last.label_set_hash != label_hash,
            "age": age > Policy().max_age_gate_days - SOON_DAYS,
            "clock": age < 0,
        }.items()
        if holds
    ]


def fell(before: Trust | None, after: Trust) -> bool:
    """Return whether trust is lower than it was; a first calibration cannot fall."""
    return before is not None and _RANK[after] < _RANK[before]

"""Drift on frozen anchors: the same labelled items asked again, uncached, against limits from the judge's own noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from toolgrade.calibration.calibrate import JudgeIdentity
from toolgrade.calibration.chain import Link
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError
from toolgrade.stats.drift import MIN_HISTORY, SHEWHART, Baseline, ChartPoint, baseline, chart, spent_alpha
from toolgrade.stats.judging import CATEGORIES, FAIL
from toolgrade.stats.paired import Discordance, mcnemar

MIN_ANCHORS = 50
MAX_ANCHORS = 100
BASELINE_REPLICATES = 5


class AnchorCheck(Link):
    """One look at the anchors: verdict words by replicate and item, in the order of `items`."""

    kind: Literal["baseline", "check"]
    dimension: str
    set: str
    judge_id: str
    judge: str
    model_reported: tuple[str, ...] = ()
    rubric_version: str
    label_set_hash: str
    items: tuple[str, ...]
    verdicts: tuple[tuple[str, ...], ...]


class Chart(Frozen):
    """One measure over time. `alarm` stays from the first alarm to the next baseline; `fail_share` has two sides."""

    measure: str
    baseline: Baseline
    points: tuple[ChartPoint, ...]
    alarm: bool


class DriftReport(Frozen):
    """What the anchors say of the judge since its baseline.

    `verdict` is `insufficient_history`, `in_control`, `drifting` or `silent_swap`. `last` compares the last check
    with one baseline run, single against single, at the α that this look may spend.
    """

    dimension: str
    set: str
    judge_id: str
    anchors: int
    checks: int
    verdict: Literal["insufficient_history", "in_control", "drifting", "silent_swap"]
    charts: tuple[Chart, ...] = ()
    last: Discordance | None = None
    significant: bool | None = None
    flags: tuple[str, ...] = ()

    @property
    def alarm(self) -> bool:
        """Whether the judge must not be trusted until it is calibrated again."""
        return self.verdict in ("drifting", "silent_swap")

    @property
    def meaning(self) -> str:
        """What to conclude about production scores that moved."""
        return {
            "insufficient_history": "too few checks to speak of stability: at least 3 are needed",
            "in_control": "the judge is in control: a production score that moved moved because of the system",
            "drifting": "the judge changed: discard comparisons since the last check in control, calibrate again",
            "silent_swap": "the provider serves another model under the same name: calibrate again now",
        }[self.verdict]


def anchor_items(labels: LabelSet, most: int = MAX_ANCHORS) -> tuple[str, ...]:
    """Return the anchors of a set: its first labelled test items by content hash, at most `most`."""
    decided = [item for item in labels.in_split("test") if labels.resolved[item.item_id].label in CATEGORIES]
    return tuple(item.item_id for item in sorted(decided, key=lambda item: item.content_hash)[:most])


def enough_for_baseline(replicates: int) -> None:
    """Check that a baseline can be made; to be asked before anything is paid for.

    Raises:
        ConfigError: one replicate says nothing of a judge's noise.
    """
    if replicates < 2:
        raise ConfigError(
            f"the first look at the anchors is the baseline and needs replicates, {BASELINE_REPLICATES} or more; "
            f"found {replicates}"
        )


def anchor_check(
    labels: LabelSet,
    verdicts: Sequence[ItemVerdict],
    judge: JudgeIdentity,
    earlier: Sequence[AnchorCheck],
    now: datetime,
    rebase: bool = False,
) -> AnchorCheck:
    """Return the record of a look at the anchors: a check, or a baseline where this judge has none or with `rebase`.

    Raises:
        ConfigError: verdicts are missing or cached, or a baseline has fewer than two replicates.
    """
    name = labels.card.name
    start = None if rebase else last_baseline(earlier, name, judge.judge_id)
    items = start.items if start else anchor_items(labels)
    if not items:
        raise ConfigError(f"{labels.place}: no labelled test item to serve as an anchor; label some first")
    if any(verdict.cached for verdict in verdicts):
        raise ConfigError("a cached verdict hides drift; ask the judge anew, with the cache off")
    runs = by_replicate(verdicts)
    if start is None:
        enough_for_baseline(len(runs))
    missing = [item for run in runs.values() for item in items if item not in run]
    if missing or not runs:
        raise ConfigError(f"anchor {(missing or list(items))[0]!r} has no verdict; every replicate covers all anchors")
    said = {v.model_reported for v in verdicts if v.model_reported}
    return AnchorCheck(
        run_id=f"{labels.card.dimension}-{name}-anchors-{len(earlier) + 1:04d}-{now:%Y%m%dT%H%M%S}",
        ts=now.isoformat(timespec="seconds"),
        kind="check" if start else "baseline",
        dimension=labels.card.dimension,
        set=name,
        judge_id=judge.judge_id,
        judge=judge.name,
        model_reported=tuple(sorted(said)),
        rubric_version=judge.rubric_version,
        label_set_hash=labels.hash(),
        items=items,
        verdicts=tuple(tuple(run[item].verdict for item in items) for run in runs.values()),
    )


def last_baseline(checks: Sequence[AnchorCheck], name: str, judge_id: str) -> AnchorCheck | None:
    """Return the last baseline of a judge on a set."""
    mine = [c for c in checks if c.set == name and c.judge_id == judge_id and c.kind == "baseline"]
    return mine[-1] if mine else None


def drift(checks: Sequence[AnchorCheck], labels: LabelSet, judge_id: str) -> DriftReport:
    """Return what the anchors say, by today's labels: old verdicts are read anew when labels changed.

    Raises:
        ConfigError: this judge has no baseline on the set.
    """
    name = labels.card.name
    start = last_baseline(checks, name, judge_id)
    if start is None:
        raise ConfigError(
            f"no baseline of judge {judge_id[:19]} on {name!r}; look at the anchors with replicates first"
        )
    since = [c for c in checks[checks.index(start) + 1 :] if c.set == name and c.judge_id == judge_id]
    truth = {item: labels.resolved[item].label for item in start.items if item in labels.resolved}
    charts = tuple(
        found
        for measure, indicator in _MEASURES.items()
        if (found := _chart(measure, indicator, start, since, truth)) is not None
    )
    last = _against_baseline(start, since[-1], truth) if since else None
    swapped = bool(since) and since[-1].model_reported != start.model_reported
    alarms = any(one.alarm for one in charts)
    flags = [
        *(["few_anchors"] if len(start.items) < MIN_ANCHORS else []),
        *(["few_replicates"] if len(start.verdicts) < BASELINE_REPLICATES else []),
    ]
    return DriftReport(
        dimension=start.dimension,
        set=name,
        judge_id=judge_id,
        anchors=len(start.items),
        checks=len(since),
        verdict="silent_swap"
        if swapped
        else "drifting"
        if alarms
        else "insufficient_history"
        if len(since) < MIN_HISTORY
        else "in_control",
        charts=charts,
        last=last,
        significant=last.p < spent_alpha(len(since)) and last.worse > last.better if last else None,
        flags=tuple(flags),
    )


Truth = Mapping[str, str | None]
Indicator = Callable[[str, str | None], int | None]
"""Verdict word and human label to 1, 0, or None where the item does not belong to the measure."""


def _of_class(word: str) -> Indicator:
    return lambda said, human: int(said == human) if human == word else None


_MEASURES: dict[str, Indicator] = {
    "accuracy": lambda said, human: int(said == human) if human in CATEGORIES else None,
    "fail_recall": _of_class(FAIL),
    "pass_recall": _of_class("pass"),
    "coverage": lambda said, _: int(said in CATEGORIES),
    "fail_share": lambda said, _: int(said == FAIL),
}


def _row(words: Sequence[str], items: Sequence[str], indicator: Indicator, truth: Truth) -> list[int]:
    found = (indicator(word, truth.get(item)) for word, item in zip(words, items, strict=True))
    return [value for value in found if value is not None]


def _chart(
    measure: str, indicator: Indicator, start: AnchorCheck, since: Sequence[AnchorCheck], truth: Truth
) -> Chart | None:
    rows = [_row(words, start.items, indicator, truth) for words in start.verdicts]
    if not rows[0]:
        return None
    base = baseline(rows)
    values = [_row(check.verdicts[0], check.items, indicator, truth) for check in since]
    points = chart(base, [sum(row) / len(row) for row in values])
    alarm = any(point.alarm or (measure == "fail_share" and point.z > SHEWHART) for point in points)
    return Chart(measure=measure, baseline=base, points=points, alarm=alarm)


def _against_baseline(start: AnchorCheck, check: AnchorCheck, truth: Truth) -> Discordance:
    indicator = _MEASURES["accuracy"]
    old, new = (_row(words, start.items, indicator, truth) for words in (start.verdicts[0], check.verdicts[0]))
    both = list(zip(old, new, strict=True))
    return mcnemar(both.count((1, 1)), both.count((1, 0)), both.count((0, 1)), both.count((0, 0)))

"""Was each threshold met; a missed one names its check, and an undecided check cannot meet one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from toolgrade.core.finding import Check
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Basis, Status
from toolgrade.pipeline.coverage import missing
from toolgrade.pipeline.judging.tally import JudgingSummary
from toolgrade.pipeline.settings import Settings
from toolgrade.pipeline.summary import CheckSummary, Summary
from toolgrade.stats.estimate import undefined

Outcome = Literal["met", "missed", "undecided"]

EXIT_CODES: dict[Outcome, int] = {"met": 0, "missed": 1, "undecided": 2}


class ThresholdResult(Frozen):
    """One threshold: what was asked, what was reached, and the sentence that says so.

    `name` is the check, `pass^k` of a check, `corrected` of a judge's dimension, or `coverage`.
    """

    name: str
    check: Check | None
    threshold: float | None
    value: float | None
    basis: Basis | None = None
    outcome: Outcome
    message: str


def judge_thresholds(summary: Summary, settings: Settings) -> tuple[ThresholdResult, ...]:
    """Return the result of every threshold in `settings`, in the order of the checks.

    Raises:
        ConfigError: a required coverage pattern matches no bucket.
    """
    results = [
        _rate_threshold(check, threshold, summary.checks.get(check), settings.min_decided)
        for check, threshold in settings.thresholds.items()
    ]
    results = [_tentative(result, summary) for result in results]
    if settings.release:
        results = [_released(result, summary.judging) for result in results]
    results += [_corrected_threshold(name, rate, summary.judging) for name, rate in settings.corrected.items()]
    results += [_consistency_threshold(check, summary, settings) for check in settings.consistency]
    if settings.require_coverage:
        results.append(_coverage_threshold(summary, settings))
    return tuple(results)


def exit_code(summary: Summary, thresholds: tuple[ThresholdResult, ...]) -> int:
    """Return 3 where a trace could not be read or a case has none, 2 undecided, 1 missed, else 0: the highest."""
    worst = max((EXIT_CODES[result.outcome] for result in thresholds), default=0)
    unjudged = any("judge_error" in by for check in summary.checks.values() for by in check.statuses.values())
    return 3 if summary.unreadable or summary.cases_without_traces or unjudged else worst


def _rate_threshold(check: Check, threshold: float, found: CheckSummary | None, least: float) -> ThresholdResult:
    rate = found.rate if found is not None else None
    about: dict[str, Any] = {"name": check, "check": check, "threshold": threshold}
    if found is None or rate is None or rate.applicable == 0:
        message = f"{check}: applies to no trace of this run"
        return ThresholdResult(**about, value=None, outcome="undecided", message=message)
    about |= {"value": rate.value, "basis": found.basis}
    counts = f"{rate.passed} passed / {rate.decided} decided / {rate.applicable} applicable"
    share = rate.decided / rate.applicable
    if rate.value is None or share < least:
        why = _why_undecided(found.statuses.get(found.basis or "none", {}))
        told = f"{share:.0%} < {least:.0%} ({counts}{why})"
        message = f"{check}: too little decided for its threshold {threshold:g}: {told}"
        return ThresholdResult(**about, outcome="undecided", message=message)
    met = rate.value >= threshold
    message = f"{check}: {rate.value:.3f} {'>=' if met else '<'} {threshold:g} ({counts}, basis {found.basis})"
    return ThresholdResult(**about, outcome="met" if met else "missed", message=message)


def _released(result: ThresholdResult, judging: JudgingSummary | None) -> ThresholdResult:
    """Return the result, undecided where the check leans on a judge that is refused."""
    dimensions = judging.dimensions if judging is not None else {}
    leans = {name: part for name, part in dimensions.items() if part.check == result.check and part.trust == "refused"}
    if not leans:
        return result
    told = "; ".join(
        f"{part.questions} questions for {name}, whose judge {part.model} is refused "
        f"({', '.join(part.trust_reasons) or 'no reason given'})"
        for name, part in leans.items()
    )
    return result.model_copy(
        update={"outcome": "undecided", "message": f"{result.check}: not for a release: {told}. {result.message}"}
    )


def _tentative(result: ThresholdResult, summary: Summary) -> ThresholdResult:
    """Return the result, undecided where any fail misses it and only such failed that may fail nothing alone."""
    if result.outcome != "missed" or result.threshold != 1 or result.check is None or summary.judging is None:
        return result
    parts = [part for part in summary.judging.dimensions.values() if part.check == result.check and part.tentative]
    failed = summary.checks[result.check].statuses.get(result.basis or "none", {}).get("failed", 0)
    if not parts or failed > sum(part.tentative for part in parts):
        return result
    told = f"{result.message}; all failed by a judge alone that {parts[0].blocking}"
    return result.model_copy(update={"outcome": "undecided", "message": told})


def _corrected_threshold(dimension: str, least: float, judging: JudgingSummary | None) -> ThresholdResult:
    """Hold the lower limit of a judge's corrected rate to `least`; a judge that is not trusted decides nothing."""
    part = judging.dimensions.get(dimension) if judging is not None else None
    name = f"corrected {dimension}"
    about: dict[str, Any] = {"name": name, "check": part.check if part else None, "threshold": least}
    if part is None or part.trust != "trusted":
        told = "no judge was asked" if part is None else f"its judge is {part.trust} ({', '.join(part.trust_reasons)})"
        return ThresholdResult(**about, value=None, outcome="undecided", message=f"{name}: {told}")
    found = part.corrected.corrected if part.corrected is not None else undefined("nothing_decided")
    if found.interval is None:
        return ThresholdResult(**about, value=None, outcome="undecided", message=f"{name}: {found}, no limits")
    met = found.interval.low >= least
    message = f"{name}: at least {found.interval.low:.3f} {'>=' if met else '<'} {least:g} ({found})"
    return ThresholdResult(**about, value=found.interval.low, outcome="met" if met else "missed", message=message)


def _why_undecided(statuses: Mapping[Status, int]) -> str:
    open_ones = {s: n for s, n in statuses.items() if s not in ("passed", "failed", "not_applicable")}
    return "".join(f"; {count} {status}" for status, count in open_ones.items())


def _consistency_threshold(check: Check, summary: Summary, settings: Settings) -> ThresholdResult:
    asked = settings.consistency[check]
    name = f"pass^{asked.k} of {check}" + (f" over tag {asked.tag}" if asked.tag else "")
    if asked.tag is not None:
        found = summary.tag_consistency.get(asked.tag, {}).get(check, ())
    else:
        found = summary.checks[check].consistency if check in summary.checks else ()
    reached = next((entry.pass_hat_k for entry in found if entry.k == asked.k), undefined("fewer_trials_than_k"))
    about: dict[str, Any] = {"name": name, "check": check, "threshold": asked.rate, "value": reached.value}
    if reached.value is None:
        message = f"{name}: undefined ({reached.reason})"
        return ThresholdResult(**about, basis="expected", outcome="undecided", message=message)
    met = reached.value >= asked.rate
    message = f"{name}: {reached.value:.3f} {'>=' if met else '<'} {asked.rate:g} over {reached.n} cases"
    return ThresholdResult(**about, basis="expected", outcome="met" if met else "missed", message=message)


def _coverage_threshold(summary: Summary, settings: Settings) -> ThresholdResult:
    if summary.coverage is None:
        holes = ["(no cases were given)"]
    else:
        holes = missing(summary.coverage, settings.require_coverage)
    message = f"coverage: empty {', '.join(holes)}" if holes else "coverage: every required bucket has a case"
    return ThresholdResult(
        name="coverage", check=None, threshold=None, value=None, outcome="missed" if holes else "met", message=message
    )

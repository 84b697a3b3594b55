"""Thresholds that only go up: the committed record of what a suite was held to, and what became easier since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from toolgrade.core.case import Case
from toolgrade.core.finding import Check
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError
from toolgrade.pipeline.loosening import loosened
from toolgrade.pipeline.rundir import RUN, read_cases, read_json, read_run, write_json
from toolgrade.pipeline.settings import ConsistencyThreshold, Settings

FILE = "toolgrade-baseline.json"


class Reason(Frozen):
    """Why something was made easier: what it was, and the words of who did it."""

    loosened: tuple[str, ...]
    reason: str = Field(min_length=1)


class RecordedRate(Frozen):
    """A check's rate when the baseline was written."""

    passed: int
    decided: int
    applicable: int
    basis: str


class Baseline(Frozen):
    """What a suite is held to. `cases` hold the whole expectations, so that any loosening can be named."""

    settings: Settings
    checks: tuple[Check, ...]
    rates: dict[Check, RecordedRate]
    cases: tuple[dict[str, Any], ...]
    reasons: tuple[Reason, ...] = ()


def baseline_of(run: Path, reasons: tuple[Reason, ...] = ()) -> Baseline:
    """Return the baseline that a finished run makes.

    Raises:
        UnreadableError: the directory holds no finished run.
    """
    about, (summary, _) = read_json(run / RUN), read_run(run)
    rates = {
        check: RecordedRate(
            passed=found.rate.passed,
            decided=found.rate.decided,
            applicable=found.rate.applicable,
            basis=found.basis or "none",
        )
        for check, found in summary.checks.items()
        if found.rate is not None
    }
    return Baseline(
        settings=Settings.model_validate(about["settings"]),
        checks=tuple(about["checks"]),
        rates=rates,
        cases=tuple(case.model_dump(mode="json", exclude_unset=True) for case in read_cases(run).values()),
        reasons=reasons,
    )


def read_baseline(path: Path) -> Baseline:
    """Return the committed baseline.

    Raises:
        UnreadableError: there is no such file, or it is no JSON.
        ConfigError: it is no baseline.
    """
    value = read_json(path)
    where = ""
    try:
        baseline = Baseline.model_validate(value)
        for number, case in enumerate(baseline.cases):
            where = f"cases.{number}."
            Case.model_validate(case)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = where + ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path}: {place}: {first['msg']}; write the file with `toolgrade baseline write`") from error
    return baseline


def write_baseline(path: Path, run: Path, reason: str | None) -> tuple[str, ...]:
    """Write the baseline of a run; return what it loosens against the one that it replaces.

    Raises:
        ConfigError: something is loosened and no reason was given; the old file is kept.
    """
    if not path.exists():
        write_json(path, baseline_of(run).model_dump(mode="json"))
        return ()
    old = read_baseline(path)
    found = tuple(compare(old, baseline_of(run)))
    if found and not (reason or "").strip():
        told = "".join(f"\n  {line}" for line in found)
        raise ConfigError(f"{path}: the new baseline is looser; give --reason, or undo this:{told}")
    added = (Reason(loosened=found, reason=(reason or "").strip()),) if found else ()
    write_json(path, baseline_of(run, (*old.reasons, *added)).model_dump(mode="json"))
    return found


def compare(old: Baseline, new: Baseline) -> Iterator[str]:
    """Yield one sentence for each way in which `new` is easier to pass than `old`."""
    yield from _thresholds(old.settings, new.settings)
    yield from _judged(old.settings, new.settings)
    if new.settings.min_decided < old.settings.min_decided:
        yield f"min_decided: lowered {old.settings.min_decided:g} → {new.settings.min_decided:g}"
    if old.settings.release and not new.settings.release:
        yield "release: turned off"
    for bucket in old.settings.require_coverage:
        if bucket not in new.settings.require_coverage:
            yield f"required coverage {bucket}: removed"
    for check in old.checks:
        if check not in new.checks:
            yield f"check {check}: no longer run"
    before, after = _cases(old), _cases(new)
    yield from loosened(before, after)
    for tag in dict.fromkeys(asked.tag for asked in old.settings.consistency.values() if asked.tag is not None):
        for name, case in before.items():
            if tag in case.tags and name in after and tag not in after[name].tags:
                yield f"case {name}: tag {tag} removed, over which a consistency threshold is set"


def _thresholds(old: Settings, new: Settings) -> Iterator[str]:
    for check, threshold in old.thresholds.items():
        now = new.thresholds.get(check)
        if now is None:
            yield f"threshold of {check}: {threshold:g} removed"
        elif now < threshold:
            yield f"threshold of {check}: lowered {threshold:g} → {now:g}"
    for check, asked in old.consistency.items():
        given = new.consistency.get(check)
        if given is None:
            yield f"consistency threshold of {check}: removed"
        elif given.rate < asked.rate or given.k < asked.k or given.tag != asked.tag:
            yield f"consistency threshold of {check}: changed {_slice(asked)} → {_slice(given)}"


def _judged(old: Settings, new: Settings) -> Iterator[str]:
    for dimension, rate in old.corrected.items():
        now = new.corrected.get(dimension)
        if now is None or now < rate:
            told = "removed" if now is None else f"lowered to {now:g}"
            yield f"threshold of corrected {dimension}: {rate:g} {told}"
    for dimension, rate in old.fail_rate.items():
        if new.fail_rate.get(dimension, rate) < rate:
            yield f"fail_rate of {dimension}: lowered {rate:g} → {new.fail_rate[dimension]:g}"


def _slice(asked: ConsistencyThreshold) -> str:
    return f"pass^{asked.k} >= {asked.rate:g} over {f'tag {asked.tag}' if asked.tag else 'all cases'}"


def dropped(old: Baseline, new: Baseline) -> Iterator[str]:
    """Yield one sentence for each check whose rate is below the recorded one; they fail nothing by themselves."""
    for check, before in old.rates.items():
        after = new.rates.get(check)
        if after is None or not after.decided or not before.decided or after.basis != before.basis:
            continue
        was, now = before.passed / before.decided, after.passed / after.decided
        if now < was:
            told = f"({before.passed}/{before.decided} → {after.passed}/{after.decided})"
            yield f"{check}: {was:.3f} → {now:.3f} {told}"


def _cases(baseline: Baseline) -> dict[str, Case]:
    cases = [Case.model_validate(case) for case in baseline.cases]
    return {case.id: case for case in cases}

"""A run: read, join, grade, write, add up, compare with the thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import toolgrade
from toolgrade.core.case import Case, Suite
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.core.result import TraceResult
from toolgrade.core.tool import ToolSpec, validate_tools
from toolgrade.core.trace import Trace
from toolgrade.errors import ConfigError, UnreadableError, suggestion
from toolgrade.formats.join import Join, join_case
from toolgrade.formats.record import Record
from toolgrade.formats.registry import read_traces
from toolgrade.gates.contract import validate_case
from toolgrade.pipeline.coverage import coverage, missing
from toolgrade.pipeline.grade import grade_trace, unreadable
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.judging.plan import JudgePlan, PriceOf
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.rundir import GATED, RESULTS, SUMMARY, RunWriter, locked, read_results, write_cases, write_json
from toolgrade.pipeline.settings import Settings
from toolgrade.pipeline.summary import Summary, summarise
from toolgrade.pipeline.tally import Tally
from toolgrade.pipeline.thresholds import ThresholdResult, exit_code, judge_thresholds

Progress = Callable[[int], None]


class RunPlan(Frozen):
    """What is to be graded, against what.

    `select` are patterns over case ids, or `tag:NAME`; only traces of matching cases are graded. `judges` are
    asked what the gates leave open; without them it stays open.
    """

    traces: Path
    suite: Suite | None = None
    tools: dict[str, ToolSpec] | None = None
    format: str | None = None
    join: Join = "case_id"
    checks: tuple[Check, ...] = CHECKS
    select: tuple[str, ...] = ()
    settings: Settings = Settings()
    judges: JudgeOptions | None = None

    @property
    def toolbox(self) -> dict[str, ToolSpec] | None:
        """The tools on offer: those given for the run, else the suite's; None where neither has any."""
        if self.tools is not None:
            return self.tools
        return self.suite.tools if self.suite is not None else None

    def cases(self) -> dict[str, Case]:
        """Return the selected cases by id.

        Raises:
            ConfigError: there are no cases to select from, or a pattern matches none.
        """
        every = dict(self.suite.cases) if self.suite is not None else {}
        if not self.select:
            return every
        if self.suite is None:
            raise ConfigError("--select picks cases, and no cases were given; add --cases")
        chosen: dict[str, Case] = {}
        for pattern in self.select:
            found = {name: case for name, case in every.items() if _matches(pattern, case)}
            if not found:
                tags = {f"tag:{tag}" for case in every.values() for tag in case.tags}
                hint = suggestion(pattern, [*every, *tags])
                raise ConfigError(f"--select {pattern!r} matches no case of {self.suite.source}.{hint}")
            chosen |= found
        return {name: case for name, case in every.items() if name in chosen}

    def identity(self) -> str:
        """Return a hash over the inputs: the same inputs are the same run, and may be resumed."""
        return content_hash(self.about())

    def about(self) -> dict[str, Any]:
        """Return what is run, as JSON: sources with size and time of change, hashes of cases, tools and settings.

        Raises:
            UnreadableError: there are no such traces.
        """
        try:
            files = [path for path in self.traces.rglob("*") if path.is_file()] if self.traces.is_dir() else []
            stats = [path.stat() for path in (self.traces, *files)]
        except OSError as error:
            raise UnreadableError(f"{self.traces}: {error.strerror}") from error
        size, modified = sum(stat.st_size for stat in stats), max(stat.st_mtime_ns for stat in stats)
        return {
            "toolgrade": toolgrade.__version__,
            "traces": {"path": str(self.traces), "bytes": size, "modified_ns": modified},
            "format": self.format,
            "join": self.join,
            "checks": list(self.checks),
            "select": list(self.select),
            "suite": self.suite.name if self.suite else None,
            "cases_from": self.suite.source if self.suite else None,
            "cases_hash": _hash(self.suite.cases if self.suite else None),
            "tools_hash": _hash(self.toolbox),
            "settings": self.settings.model_dump(mode="json"),
            "judges": None if self.judges is None else {name: panel.id for name, panel in self.judges.panels().items()},
        }


def _matches(pattern: str, case: Case) -> bool:
    if pattern.startswith("tag:"):
        return any(fnmatchcase(tag, pattern[4:]) for tag in case.tags)
    return fnmatchcase(case.id, pattern)


def _hash(values: dict[str, Any] | None) -> str | None:
    return content_hash({k: v.model_dump(mode="json") for k, v in values.items()}) if values is not None else None


class RunOutcome(Frozen):
    """A finished run: where it lies, its summary, its thresholds, and what the process should return."""

    folder: Path
    summary: Summary
    thresholds: tuple[ThresholdResult, ...]
    exit_code: int


def default_folder(plan: RunPlan) -> Path:
    """Return the run directory used where none was named: the same inputs give the same one."""
    name = plan.suite.name if plan.suite is not None else plan.traces.stem
    return Path("runs") / f"{_file_name(name)}-{plan.identity().removeprefix('sha256:')[:8]}"


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:60] or "run"


def run(plan: RunPlan, folder: Path, progress: Progress = lambda _: None, judging: Judging | None = None) -> RunOutcome:
    """Grade every trace of `plan` into the run directory `folder`, going on where an interrupted run stopped.

    Calls `progress` with the number of traces graded so far. `judging` asks the judges of `plan.judges`; None
    makes it from there, with no judge trusted.

    Raises:
        ConfigError: a case does not fit the tools, a selector matches nothing, nothing was graded, a judge's
            prompt is wrong, or another process is grading into `folder`.
        UnreadableError: the source or the run directory cannot be read or written.
        KeyboardInterrupt: the judging was interrupted; what was judged is written, and the run can go on.
    """
    cases = _checked(plan)
    if plan.traces.is_dir() and folder.resolve().is_relative_to(plan.traces.resolve()):
        raise ConfigError(f"{folder} lies inside {plan.traces}: what is written would be read. Choose another --out")
    if judging is None and plan.judges is not None:
        judging = Judging(plan.judges)
    with locked(folder):
        return _run(plan, cases, folder, progress, judging)


def _run(
    plan: RunPlan, cases: dict[str, Case], folder: Path, progress: Progress, judging: Judging | None
) -> RunOutcome:
    tally = Tally()
    with RunWriter(folder, plan.identity(), plan.about(), RESULTS if judging is None else GATED) as writer:
        write_cases(folder, cases.values(), plan.toolbox)
        for number, (result, trace) in enumerate(_graded(plan, cases, writer), 1):
            tally.add(result)
            if judging is not None:
                judging.see(result)
            if trace is not _ALREADY:
                writer.add(result, trace if isinstance(trace, Trace) else None)
            progress(number)
    if not tally.traces:
        raise ConfigError(f"{plan.traces}: nothing was graded: no trace belongs to a selected case")
    judged = None
    if judging is not None:
        judged = judging.ask(read_results(folder, name=GATED))
        tally = judged.write(folder)
    summary = summarise(tally, cases, plan.toolbox)
    if judged is not None:
        summary = summary.model_copy(update={"judging": judged.summary()})
    thresholds = judge_thresholds(summary, plan.settings)
    code = exit_code(summary, thresholds)
    whole = summary.model_dump(mode="json") | {
        "thresholds": [threshold.model_dump(mode="json") for threshold in thresholds],
        "exit_code": code,
    }
    write_json(folder / SUMMARY, whole)
    if judged is not None and judged.answers.interrupted:
        raise KeyboardInterrupt
    return RunOutcome(folder=folder, summary=summary, thresholds=thresholds, exit_code=code)


def plan_judging(plan: RunPlan, judging: Judging, price: PriceOf) -> JudgePlan:
    """Return what a judged run of `plan` would ask and cost; nothing is asked and nothing written.

    Raises:
        ConfigError: as `run`.
        UnreadableError: the source cannot be read.
    """
    cases = _checked(plan)
    return judging.plan((result for result, _ in _graded(plan, cases, None)), price)


def _checked(plan: RunPlan) -> dict[str, Case]:
    """Return the selected cases, each of which fits its tools."""
    if not plan.traces.exists():
        raise UnreadableError(f"{plan.traces}: No such file or directory")
    cases = plan.cases()
    validate_tools(plan.toolbox or {})
    for case in cases.values():
        tools = {tool.name: tool for tool in case.tools} if case.tools is not None else plan.toolbox
        validate_case(case, tools)
    _check_coverage(plan, cases)
    return cases


def _check_coverage(plan: RunPlan, cases: dict[str, Case]) -> None:
    """Refuse a required bucket that cannot be: what a bucket counts is known later, that it is one is known now."""
    required = plan.settings.require_coverage
    if required and plan.suite is None:
        raise ConfigError(f"require_coverage {required[0]!r} is about cases, and no cases were given; add --cases")
    missing(coverage(cases.values(), plan.toolbox, {}), required)


_ALREADY = object()
"""Stands for the trace of a result that an interrupted run had already written."""


def _graded(
    plan: RunPlan, cases: dict[str, Case], writer: RunWriter | None
) -> Iterator[tuple[TraceResult, Trace | object | None]]:
    """Yield each selected record's result and trace; what an interrupted run already graded is not graded again."""
    existing = writer.existing() if writer is not None and writer.done else iter(())
    for record in read_traces(plan.traces, plan.format):
        case, problem = _joined(plan, record)
        if plan.select and problem is None and (case is None or case.id not in cases):
            continue
        done = next(existing, None)
        if done is not None:
            if done.origin is None or done.origin.sha256 != record.origin.sha256:
                raise ConfigError(
                    f"{plan.traces}: the traces changed since the run was interrupted; choose another --out"
                )
            yield done, _ALREADY
        elif record.trace is None or problem is not None:
            failed = unreadable(record.error or problem or "", record.origin, plan.checks)
            name = failed.trace_id if record.trace is None else record.trace.id
            yield failed.model_copy(update={"trace_id": name}), record.trace
        else:
            yield grade_trace(record.trace, case, plan.toolbox, plan.checks, record.origin), record.trace


def _joined(plan: RunPlan, record: Record) -> tuple[Case | None, str | None]:
    if record.trace is None:
        return None, record.error
    if plan.suite is None:
        return None, None
    return join_case(record, plan.suite, plan.join)

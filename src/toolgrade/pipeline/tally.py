"""What a run adds up while traces stream through: counters only, so memory does not grow with the traces."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from toolgrade.core.finding import CHECKS, Check, FindingName
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Basis, CheckResult, Status

_UNDECIDED = ("unknown", "judge_error")


@dataclass
class FindingTally:
    """One finding name over a run: how often, in how many traces, what it cost, and one trace to look at."""

    count: int = 0
    traces: int = 0
    lost: float = 0.0
    example: str = ""
    example_text: str = ""


@dataclass
class CheckTally:
    """One check over a run."""

    statuses: Counter[tuple[Basis | None, Status]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    findings: dict[FindingName, FindingTally] = field(default_factory=dict)
    by_case: defaultdict[str, Counter[Status]] = field(default_factory=lambda: defaultdict(Counter))
    units: int = 0
    questions: int = 0
    score: float = 0.0
    scored: int = 0


@dataclass
class Spread:
    """Sum, count and extremes of a number that some traces do not have."""

    known: int = 0
    total: float = 0.0
    high: float = 0.0

    def add(self, value: float | None) -> None:
        """Count one trace; None is counted as not known."""
        if value is not None:
            self.known += 1
            self.total += value
            self.high = max(self.high, value)


@dataclass
class Path:
    """The trials of one case: how many took how many steps, and how many have a verdict and completed."""

    steps: Counter[int] = field(default_factory=Counter)
    decided: int = 0
    completed: int = 0


class Tally:
    """Adds up trace results."""

    def __init__(self) -> None:
        self.traces = 0
        self.unreadable = 0
        self.first_errors: list[str] = []
        self.aggregate: Counter[Status] = Counter()
        self.undecided: Counter[Check] = Counter()
        self.aggregate_by_case: defaultdict[str, Counter[Status]] = defaultdict(Counter)
        self.checks: dict[Check, CheckTally] = {check: CheckTally() for check in CHECKS}
        self.routes: Counter[tuple[str, str]] = Counter()
        self.call_counts: Counter[str] = Counter()
        self.fields: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.tools_called: Counter[str] = Counter()
        self.error_kinds: Counter[str] = Counter()
        self.sizes = {name: Spread() for name in ("turns", "steps", "calls", "tokens", "latency_ms")}
        self.paths: defaultdict[str, Path] = defaultdict(Path)
        self.cases_seen: Counter[str] = Counter()
        self.dimensions: Counter[str] = Counter()

    def add(self, result: TraceResult) -> None:
        """Count one graded trace."""
        self.traces += 1
        if (problem := _problem(result)) is not None:
            self.unreadable += 1
            if len(self.first_errors) < 5:
                self.first_errors.append(problem)
        whole = result.aggregate
        self.aggregate[whole.status] += 1
        if whole.status == "unknown":
            self.undecided.update(check for check, (status, _) in whole.components.items() if status in _UNDECIDED)
        if result.case_id is not None:
            self.cases_seen[result.case_id] += 1
            self.aggregate_by_case[result.case_id][whole.status] += 1
            self._path(result)
        self.tools_called.update(result.tools_called)
        for name, spread in self.sizes.items():
            spread.add(getattr(result.counts, name))
        for check, checked in result.checks.items():
            self._check(check, checked, result)

    def _check(self, check: Check, checked: CheckResult, result: TraceResult) -> None:
        tally = self.checks[check]
        tally.statuses[checked.basis, checked.status] += 1
        tally.units += checked.units
        tally.questions += len(checked.questions)
        for question in checked.questions:
            self.dimensions[question.dimension] += 1
        if checked.reason and checked.status not in ("passed", "failed", "trace_error"):
            tally.reasons[checked.reason] += 1
        if checked.score is not None:
            tally.score += checked.score
            tally.scored += 1
        if result.case_id is not None and checked.basis == "expected":
            tally.by_case[result.case_id][checked.status] += 1
        if checked.status == "failed":
            self._findings(tally, checked, result)
        self._details(check, checked)

    @staticmethod
    def _findings(tally: CheckTally, checked: CheckResult, result: TraceResult) -> None:
        """A check's lost score is shared evenly by the finding names that made it fail."""
        names = Counter(finding.name for finding in checked.findings)
        lost = (1.0 - (checked.score or 0.0)) / max(len(names), 1)
        for name, count in names.items():
            entry = tally.findings.setdefault(name, FindingTally())
            entry.count += count
            entry.traces += 1
            entry.lost += lost
            if not entry.example:
                first = next(finding for finding in checked.findings if finding.name == name)
                entry.example, entry.example_text = result.trace_id, str(first)

    def _details(self, check: Check, checked: CheckResult) -> None:
        detail = checked.detail
        if check == "selection":
            self.routes.update((expected, actual) for expected, actual in detail.get("routes", ()))
            for name in ("expected", "called", "matched"):
                value = detail.get(name)
                if value is not None and "routes" in detail:
                    self.call_counts[name] += value if isinstance(value, int) else len(value)
        elif check == "arguments" and checked.status in ("passed", "failed", "unknown"):
            for place, outcomes in detail.get("fields", {}).items():
                self.fields[place].update(outcomes)
            for name in ("expected_fields", "matched_fields", "given_fields"):
                self.call_counts[name] += detail.get(name, 0)
        elif check == "recovery":
            self.error_kinds.update(detail.get("errors", {}))

    def _path(self, result: TraceResult) -> None:
        steps = result.counts.steps
        if result.case_id is None or result.error is not None or steps < 1:
            return
        path = self.paths[result.case_id]
        path.steps[steps] += 1
        path.decided += result.aggregate.status in ("passed", "failed")
        path.completed += result.aggregate.status == "passed"


def _problem(result: TraceResult) -> str | None:
    """Return why a trace could not be read, or not be graded in full; None where it could.

    The message names the file already where the record could not be read, else the trace.
    """
    if result.error is not None:
        placed = result.origin is not None and result.error.startswith(result.origin.source)
        return result.error if placed else f"{result.trace_id}: {result.error}"
    reasons = (checked.reason for checked in result.checks.values() if checked.status == "trace_error")
    return next((f"{result.trace_id}: {reason}" for reason in reasons), None)

"""What grading one trace gives: every check, the aggregate with its components, and the costs."""

from __future__ import annotations

from pydantic import Field

from toolgrade.core.case import AggregatePolicy
from toolgrade.core.finding import Check
from toolgrade.core.model import Frozen
from toolgrade.core.printable import printable
from toolgrade.core.verdict import CheckResult, Status


class Origin(Frozen):
    """Identity of a record: where it was read (`index` counts records from 0) and the hash of its content."""

    source: str
    index: int
    sha256: str


class Counts(Frozen):
    """Size of a trace; tokens and latency are None where the source does not say."""

    turns: int = 0
    steps: int = 0
    calls: int = 0
    tokens: int | None = None
    latency_ms: float | None = None


class Aggregate(Frozen):
    """The verdict on a whole trace, together with the status and score of every check it was made from.

    `status` is `passed`, `failed`, or why there is no verdict; `score` is the weighted mean, None for `binary`.
    """

    status: Status
    policy: AggregatePolicy
    score: float | None = None
    components: dict[Check, tuple[Status, float | None]]
    reason: str | None = None

    def __str__(self) -> str:
        """The verdict with every component beside it."""
        parts = [
            f"{check} {status}" + (f" {score:.2f}" if score is not None else "")
            for check, (status, score) in self.components.items()
        ]
        head = self.status if self.score is None else f"{self.status} {self.score:.2f}"
        return f"{head} ({self.policy.policy}): " + ", ".join(parts)


class TraceResult(Frozen):
    """One graded trace. `case_place` is where its case is written, as `file:line`."""

    trace_id: str
    case_id: str | None = None
    case_place: str | None = None
    trial: int = 0
    origin: Origin | None = None
    checks: dict[Check, CheckResult]
    aggregate: Aggregate
    counts: Counts = Counts()
    tags: tuple[str, ...] = ()
    tools_called: tuple[str, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = Field(default=())

    def __str__(self) -> str:
        """Every component: the aggregate, each check with its status, score and findings, and the counts."""
        lines = [f"trace {self.trace_id}" + (f", case {self.case_id}, trial {self.trial}" if self.case_id else "")]
        if self.error:
            lines.append(f"  trace error: {self.error}")
        for check, result in self.checks.items():
            score = "" if result.score is None else f" {result.score:.2f}"
            basis = f" [{result.basis}]" if result.basis else ""
            why = f": {result.reason}" if result.reason else ""
            lines.append(f"  {check:<12} {result.status}{score}{basis}{why}")
            lines += [f"    {finding}" for finding in result.findings]
            if result.questions:
                lines.append(f"    {len(result.questions)} open for {result.questions[0].dimension}")
        counts = self.counts
        tokens = "unknown" if counts.tokens is None else str(counts.tokens)
        lines.append(f"  {counts.turns} turns, {counts.steps} steps, {counts.calls} calls, tokens {tokens}")
        lines.append(f"  aggregate    {self.aggregate}")
        return printable("\n".join(lines))

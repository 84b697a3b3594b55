"""Grade one trace: every gate on its own expected field, blocking, counts, the aggregate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolgrade.core.case import AggregatePolicy, Case
from toolgrade.core.expected import Expected
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.model import construct
from toolgrade.core.result import Counts, Origin, TraceResult
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace
from toolgrade.core.verdict import CheckResult
from toolgrade.core.view import TraceView
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.efficiency import check_efficiency
from toolgrade.gates.ordering import check_ordering
from toolgrade.gates.outcome import check_outcome
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.selection import check_selection
from toolgrade.gates.utilization import check_utilization
from toolgrade.pipeline.aggregate import aggregate

GATES: dict[Check, Callable[..., CheckResult]] = {
    "selection": check_selection,
    "arguments": check_arguments,
    "ordering": check_ordering,
    "efficiency": check_efficiency,
    "utilization": check_utilization,
    "recovery": check_recovery,
    "outcome": check_outcome,
}
"""Each gate takes its own expected field (or None) and a view of the trace, and nothing else."""

NOTHING_EXPECTED = Expected.model_construct(_fields_set=set())


def grade_trace(
    trace: Trace,
    case: Case | None = None,
    tools: dict[str, ToolSpec] | None = None,
    checks: Sequence[Check] = CHECKS,
    origin: Origin | None = None,
) -> TraceResult:
    """Return the result of every check in `checks` on one trace.

    Tools are those of the case, else `tools`, else those that the trace recorded.
    """
    if case is not None and case.tools is not None:
        tools = {tool.name: tool for tool in case.tools}
    view = TraceView(trace, tools)
    expected = case.expected if case is not None and case.expected is not None else NOTHING_EXPECTED
    results: dict[Check, CheckResult] = {}
    for check in checks:
        results[check] = GATES[check](getattr(expected, check), view)
    if trace.error is not None:
        results = {check: _broken(check, trace.error) for check in checks}
    block(results)
    return construct(
        TraceResult,
        trace_id=trace.id,
        case_id=case.id if case is not None else trace.case_id,
        case_place=case.place if case is not None else None,
        trial=trace.trial,
        origin=origin,
        checks=results,
        aggregate=aggregate(case.aggregate if case is not None else AggregatePolicy(), results),
        counts=counts(view),
        tags=case.tags if case is not None else (),
        tools_called=tuple(view.names),
        error=trace.error,
        notes=(),
    )


def unreadable(message: str, origin: Origin, checks: Sequence[Check] = CHECKS) -> TraceResult:
    """Return the result of a record that could not be read: every check is `trace_error`."""
    results = {check: _broken(check, message) for check in checks}
    return TraceResult(
        trace_id=f"{origin.source}#{origin.index}",
        origin=origin,
        checks=results,
        aggregate=aggregate(AggregatePolicy(), results),
        error=message,
    )


def block(results: dict[Check, CheckResult]) -> None:
    """Mark `arguments` as blocked where `selection` failed: its findings are kept and not counted."""
    selection, arguments = results.get("selection"), results.get("arguments")
    if selection is None or arguments is None or selection.status != "failed":
        return
    if arguments.status not in ("passed", "failed", "unknown") or arguments.basis != "expected":
        return
    results["arguments"] = arguments.model_copy(
        update={"status": "blocked", "score": None, "questions": (), "reason": "selection failed"}
    )


def counts(view: TraceView) -> Counts:
    """Return the size of a trace: turns, steps, calls, tokens and latency (None where not recorded)."""
    return construct(
        Counts,
        turns=view.turns,
        steps=view.steps,
        calls=len(view.calls),
        tokens=view.tokens,
        latency_ms=view.latency_ms,
    )


def _broken(check: Check, message: str) -> CheckResult:
    return construct(CheckResult, check=check, status="trace_error", reason=message)

"""Faults that a run was to inject: did they really happen in this trace?"""

from __future__ import annotations

from typing import Any, NamedTuple

from toolgrade.core.expected import Fault
from toolgrade.core.trace import ToolResult
from toolgrade.core.view import CallView, TraceView, payload
from toolgrade.gates.recovery import verbs
from toolgrade.gates.recovery.envelope import unwrap
from toolgrade.gates.recovery.failures import Failure, is_empty

KINDS = {"empty": "empty", "malformed": "malformed", "wrong_schema": "malformed"}


class Fired(NamedTuple):
    """Whether a fault happened, in which calls, and if not, why not."""

    fault: Fault
    calls: tuple[int, ...]
    reason: str | None = None


def check_faults(faults: tuple[Fault, ...], view: TraceView, failures: dict[int, Failure]) -> list[Fired]:
    """Return for each declared fault whether it happened.

    It did where the trace echoes it in `metadata.faults` and the result of the call shows it. An empty result
    and one of another schema look like any other; there the echo and an empty (or any) result suffice.
    """
    echoes = view.trace.metadata.get("faults")
    return [_check(fault, echoes, view, failures) for fault in faults]


def _check(fault: Fault, echoes: Any, view: TraceView, failures: dict[int, Failure]) -> Fired:
    if not isinstance(echoes, list):
        return Fired(fault, (), "the trace echoes no faults; expected a list in metadata.faults")
    if not any(_echoes(fault, echo) for echo in echoes):
        return Fired(fault, (), f"metadata.faults does not list {fault.kind} at call {fault.nth} of {fault.tool}")
    calls = [call for call in view.calls if fault.tool in (call.name, verbs.acting(call.call))][
        fault.nth - 1 : fault.nth - 1 + fault.times
    ]
    if not calls:
        return Fired(fault, (), f"{fault.tool} was called less than {fault.nth} times")
    shown = tuple(call.number for call in calls if _shows(fault, call, failures.get(call.number)))
    return Fired(
        fault, shown, None if shown else f"the result of call {fault.nth} of {fault.tool} shows no {fault.kind}"
    )


def _echoes(fault: Fault, echo: Any) -> bool:
    if not isinstance(echo, dict):
        return False
    same = echo.get("tool") == fault.tool and echo.get("kind") == fault.kind and echo.get("nth", 1) == fault.nth
    return same and echo.get("status", fault.status) == fault.status and echo.get("fired", True) is not False


def _shows(fault: Fault, call: CallView, failure: Failure | None) -> bool:
    if call.result is None:
        return False
    if fault.kind == "status":
        return failure is not None and (failure.status is None or failure.status == fault.status)
    if fault.kind == "timeout":
        return failure is not None and failure.kind == "transient"
    if fault.kind == "empty":
        return is_empty(unwrap(payload(call.result)))
    if fault.kind == "malformed":
        return failure is not None or not isinstance(unwrap(payload(call.result)), dict | list)
    return True


def add_injected(fired: list[Fired], view: TraceView, failures: dict[int, Failure]) -> dict[int, Failure]:
    """Return the failures with those added that only the injection tells apart from ordinary results."""
    added = {
        number: Failure(KINDS[item.fault.kind], _said(view.calls[number].result))  # type: ignore[arg-type]
        for item in fired
        if item.fault.kind in KINDS
        for number in item.calls
    }
    return {**added, **failures}


def _said(result: ToolResult | None) -> str:
    content = result.content if result else None
    return content[:200] if isinstance(content, str) else ""

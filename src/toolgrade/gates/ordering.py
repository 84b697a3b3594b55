"""The ordering gate: what must come before what; anything else may come in any order."""

from __future__ import annotations

from toolgrade.core.expected import OrderingExpected
from toolgrade.core.finding import Finding, Place
from toolgrade.core.model import construct
from toolgrade.core.verdict import CheckResult
from toolgrade.core.view import CallView, TraceView


def check_ordering(expected: tuple[OrderingExpected, ...] | None, view: TraceView) -> CheckResult:
    """Grade the constraints: the first call of `before` precedes every call of `after`.

    Calls of one message are unordered, so neither of two precedes the other. A constraint whose `after`
    was never called holds; where that is so of all, there was nothing to order: `not_applicable`.
    Score: constraints that hold / constraints. `units` counts constraints.
    `detail`: `{"constraints": n, "held": n}`.
    """
    if expected is None:
        return construct(CheckResult, check="ordering", status="not_applicable", reason="the case expects no order")
    calls = view.calls_of
    total = len(expected)
    if not any(constraint.after in calls for constraint in expected):
        return construct(
            CheckResult,
            check="ordering",
            status="not_applicable",
            basis="expected",
            units=total,
            reason="no tool that must come after another was called",
            detail={"constraints": total, "held": total},
        )
    findings = tuple(
        found
        for constraint in expected
        if (found := _violation(calls.get(constraint.before, []), calls.get(constraint.after, []), constraint))
    )
    held = total - len(findings)
    return construct(
        CheckResult,
        check="ordering",
        status="failed" if findings else "passed",
        basis="expected",
        score=held / total,
        findings=findings,
        units=total,
        detail={"constraints": total, "held": held},
    )


def _violation(before: list[CallView], after: list[CallView], constraint: OrderingExpected) -> Finding | None:
    if not after:
        return None
    first = after[0]
    earliest = before[0].step if before else None
    if earliest is not None and first.step > earliest:
        return None
    place = construct(Place, step=first.step, turn=first.turn, tool=constraint.after, call=first.number)
    wanted = f"a call of {constraint.before} before"
    if earliest is None:
        return construct(
            Finding, name="missing_predecessor", place=place, expected=wanted, actual="no such call in the trace"
        )
    early = sum(made.step <= earliest for made in after)
    same = "in the same message" if first.step == earliest else f"at step {earliest}"
    note = f"{early} calls came too early" if early > 1 else None
    actual = f"its first call {same}"
    return construct(Finding, name="order_violated", place=place, expected=wanted, actual=actual, note=note)

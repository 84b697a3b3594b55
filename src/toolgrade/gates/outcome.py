"""The outcome gate: assertions on the recorded final state, and texts that some answer must contain."""

from __future__ import annotations

from typing import Any

from toolgrade.core.expected import OutcomeExpected, StateAssertion
from toolgrade.core.finding import Finding, Place
from toolgrade.core.model import construct
from toolgrade.core.verdict import CheckResult, Status
from toolgrade.core.view import TraceView
from toolgrade.gates.equality import equal
from toolgrade.gates.paths import select


def check_outcome(expected: OutcomeExpected | None, view: TraceView) -> CheckResult:
    """Grade the final state and the required outputs; what the agent says it did is no evidence of state.

    Where the case asserts on a state that was not recorded, nothing false is enough to fail and nothing
    true enough to pass: `unknown`. Texts are compared as they are written.
    Score: what holds / what is asserted. `units` counts assertions and outputs.
    `detail`: `{"assertions": n, "held": n, "basis": "environment" | "recorded_verdict"}`.
    """
    if expected is None:
        return construct(CheckResult, check="outcome", status="not_applicable", reason="the case expects no outcome")
    basis = view.trace.final_state_basis
    recorded = view.trace.final_state is not None
    findings: list[Finding] = []
    if recorded:
        note = "a verdict that the source recorded" if basis == "recorded_verdict" else None
        findings += [
            found for assertion in expected.state if (found := _mismatch(assertion, view.trace.final_state, note))
        ]
    answers = view.said("assistant") if expected.outputs else []
    texts = [said.text for said in answers]
    findings += [found for output in expected.outputs if (found := _missing(output, texts))]
    total = len(expected.state) + len(expected.outputs)
    undecided = len(expected.state) if not recorded else 0
    status: Status = "failed" if findings else "unknown" if undecided else "passed"
    held = total - undecided - len(findings)
    return construct(
        CheckResult,
        check="outcome",
        status=status,
        basis="expected",
        score=None if status == "unknown" else held / total,
        findings=tuple(findings),
        units=total,
        reason="no final state was recorded in the trace" if undecided else None,
        detail={"assertions": total, "held": held, "basis": basis},
    )


def _mismatch(assertion: StateAssertion, state: Any, note: str | None) -> Finding | None:
    nodes = list(select(assertion.path, state).values())
    relation = assertion.relation
    wanted: Any
    if relation == "equals":
        wanted, holds = assertion.equals, len(nodes) == 1 and equal(nodes[0], assertion.equals)
    elif relation == "contains":
        wanted, holds = {"contains": assertion.contains}, any(equal(node, assertion.contains) for node in nodes)
    elif relation == "count":
        wanted, holds = {"count": assertion.count}, len(nodes) == assertion.count
    else:
        wanted, holds = {"exists": assertion.exists}, bool(nodes) == assertion.exists
    if holds:
        return None
    actual: Any = nodes[0] if len(nodes) == 1 else nodes or None
    if relation == "count":
        actual = {"count": len(nodes)}
    if relation == "equals" and len(nodes) > 1:
        note = f"the path selects {len(nodes)} values, equals takes one" + (f"; {note}" if note else "")
    return construct(
        Finding,
        name="state_mismatch",
        place=construct(Place, pointer=assertion.path),
        expected=wanted,
        actual=actual,
        note=note,
    )


def _missing(output: str, texts: list[str]) -> Finding | None:
    if any(output in text for text in texts):
        return None
    folded = _folded(output)
    near = any(folded in _folded(text) for text in texts)
    return construct(
        Finding,
        name="missing_output",
        expected=output,
        actual=f"not in any of {len(texts)} answers",
        note="an answer has it in another case or with other separators" if near else None,
    )


def _folded(text: str) -> str:
    return text.casefold().replace(",", "")

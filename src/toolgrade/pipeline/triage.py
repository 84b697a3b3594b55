"""What people decided about red results: who was wrong. A decision is a record beside the run and silences nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from toolgrade.core.case import Case
from toolgrade.core.finding import Check, Finding, FindingName
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.core.result import TraceResult
from toolgrade.errors import UnreadableError

FILE = "triage.jsonl"
Who = Literal["agent_wrong", "case_wrong", "grader_wrong"]


class Decision(Frozen):
    """One person's decision about one finding. `finding_id` ties it to the trace's content and the finding."""

    finding_id: str
    trace_id: str
    check: Check
    finding: FindingName
    decision: Who
    note: str = ""
    decided_at: str


class Red(NamedTuple):
    """One finding of a failed check, to be looked at."""

    id: str
    result: TraceResult
    check: Check
    finding: Finding


def red_findings(results: Iterable[TraceResult]) -> Iterator[Red]:
    """Yield every finding of every failed check, in the order of the traces."""
    for result in results:
        for check, checked in result.checks.items():
            if checked.status == "failed":
                for finding in checked.findings:
                    about = [
                        result.origin.sha256 if result.origin else result.trace_id,
                        check,
                        finding.model_dump(mode="json"),
                    ]
                    yield Red(content_hash(about), result, check, finding)


def read_decisions(run: Path) -> list[Decision]:
    """Return the decisions recorded beside a run, in order; none where there are none.

    Raises:
        UnreadableError: a line is no decision.
    """
    path = run / FILE
    if not path.exists():
        return []
    decisions = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            decisions.append(Decision.model_validate_json(line))
        except ValidationError as error:
            raise UnreadableError(f"{path}:{number}: no decision: {error.errors()[0]['msg']}") from error
    return decisions


def record(run: Path, decision: Decision) -> None:
    """Append one decision; an earlier one about the same finding stays and is superseded."""
    with (run / FILE).open("a", encoding="utf-8") as file:
        file.write(decision.model_dump_json() + "\n")


class Upheld(Frozen):
    """How people saw a check's findings: `share` is upheld / decided, None where nothing was decided."""

    decided: int
    upheld: int
    case_wrong: int
    grader_wrong: int

    @property
    def share(self) -> float | None:
        """The share of decided findings for which the agent was wrong."""
        return self.upheld / self.decided if self.decided else None


def upheld(decisions: Iterable[Decision]) -> dict[Check, Upheld]:
    """Return per check how many of its findings people upheld; the last decision about a finding counts."""
    last = {decision.finding_id: decision for decision in decisions}
    counts: dict[Check, Counter[Who]] = {}
    for decision in last.values():
        counts.setdefault(decision.check, Counter())[decision.decision] += 1
    return {
        check: Upheld(
            decided=sum(by.values()),
            upheld=by["agent_wrong"],
            case_wrong=by["case_wrong"],
            grader_wrong=by["grader_wrong"],
        )
        for check, by in counts.items()
    }


def case_edit(case: Case | None, finding: Finding) -> str:
    """Return the edit to make in the case file so that the case says what is right.

    It names the place of the case, the field, what stands there and what to write; nothing is changed.
    """
    if case is None:
        return "This trace has no case: the rule is intrinsic. Write a case that states what is right here."
    where = f"{case.place or 'the case file'}, case {case.id}"
    tool = finding.place.tool or "?"
    actual = json.dumps(finding.actual, ensure_ascii=False, default=str)
    edits: dict[str, str] = {
        "missing_call": f"expected.selection.required: remove {tool}; or add the calls that were made as a list "
        "under expected.selection.alternatives",
        "unexpected_call": f"expected.selection.extras: add {tool} to the list (or write allow)",
        "forbidden_call": f"expected.selection.forbidden: remove {tool}",
        "call_when_none_expected": f"expected.selection.required: write [{tool}] instead of []",
        "unknown_tool": f"tools: add {tool} to the tools file",
        "order_violated": f"expected.ordering: remove the constraint on {tool}",
        "missing_predecessor": f"expected.ordering: remove the constraint on {tool}",
        "over_budget": f"expected.efficiency: raise the budget to at least {actual}",
        "ignored_result": "expected.utilization.must_use: remove the entry",
        "missing_output": f"expected.outcome.outputs: remove {json.dumps(finding.expected, ensure_ascii=False)}",
        "state_mismatch": f"expected.outcome.state at {finding.place.pointer}: write {actual}",
        "wrong_fallback": f"expected.recovery.fallbacks: add {tool}",
        "missing_escalation": "expected.recovery.must_escalate: remove it",
        "no_retry": "expected.recovery: check max_retries and faults",
    }
    edit = edits.get(finding.name)
    if finding.name == "wrong_value":
        edit = _value_edit(case, finding, tool, actual)
    edit = edit or f"expected.{finding.check}: no field of the case causes {finding.name}; edit the tools"
    return f"{where}: {edit}"


def _value_edit(case: Case, finding: Finding, tool: str, actual: str) -> str:
    parameter = (finding.place.pointer or "/").split("/")[1]
    entries = [entry for entry in (case.expected.arguments or () if case.expected else ()) if entry.tool == tool]
    stands: Any = next((entry.values[parameter] for entry in entries if parameter in entry.values), None)
    old = json.dumps(stands, ensure_ascii=False, default=str)
    field = f"expected.arguments, tool {tool}, values.{parameter}"
    return f"{field}: replace {old} with {actual} at {finding.place.pointer}, or choose a comparator that accepts both"

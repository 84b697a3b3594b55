"""What people decided about red results: who was wrong. A decision is a record beside the run and silences nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

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

"""Which questions people should look at, first the ones that judges disagreed on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolgrade.core.finding import Check
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Question, Verdict

SAMPLE = 0.05
"""Share of the undisputed verdicts that is queued as well, so that labels do not come from hard cases alone."""


class Reason(NamedTuple):
    """Why a question is queued, its rank (1 comes first), and the probability with which it was picked."""

    rank: int
    why: str
    probability: float


def reason(verdict: Verdict, members: Sequence[Verdict]) -> Reason | None:
    """Return why people should label this question; None where they need not.

    Order: the answers differ, the judge could not tell or failed, then a sample that the question's own
    hash picks: the same questions in every run.
    """
    words = {vote.verdict for vote in members}
    if len(words) > 1 and "error" not in words:
        return Reason(1, verdict.unknown_reason or "split", 1.0)
    if verdict.verdict in ("unknown", "error"):
        return Reason(2, verdict.unknown_reason or verdict.error or verdict.verdict, 1.0)
    picked = int.from_bytes(hashlib.sha256(f"review|{verdict.question_id}".encode()).digest()[:8], "big") / 2**64
    return Reason(3, f"sample of {SAMPLE:.0%}", SAMPLE) if picked < SAMPLE else None


def entry(
    result: TraceResult, check: Check, question: Question, why: Reason, members: Sequence[Verdict]
) -> dict[str, Any]:
    """Return one line of the queue: where the question arose, what a person needs to answer it, what was said."""
    return {
        "rank": why.rank,
        "why": why.why,
        "inclusion_probability": why.probability,
        "dimension": question.dimension,
        "question_id": members[0].question_id,
        "trace_id": result.trace_id,
        "case_id": result.case_id,
        "check": check,
        "place": question.place.model_dump(exclude_none=True),
        "fields": question.fields,
        "verdicts": [vote.model_dump(mode="json", exclude_defaults=True) for vote in members],
    }

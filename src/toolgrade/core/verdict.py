"""What a check says of a trace, what it leaves open, and what judges answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field

from toolgrade.core.finding import Check, Finding, Place
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen

Status = Literal["passed", "failed", "blocked", "not_applicable", "unknown", "judge_error", "trace_error"]
Basis = Literal["expected", "intrinsic"]
Dimension = Literal["route_choice", "argument_grounding", "result_utilization", "recovery_quality"]
Trust = Literal["trusted", "advisory", "refused"]

STATUSES: tuple[Status, ...] = (
    "passed",
    "failed",
    "blocked",
    "not_applicable",
    "unknown",
    "judge_error",
    "trace_error",
)


class Question(Frozen):
    """What a gate could not decide, addressed to one judge dimension.

    `fields` hold exactly what the judge may see (names as the dimension's prompt declares them).
    `on_fail` are the findings that a trusted `fail` adds; `weight` is the share of the check's score, in
    [0, 1], that it costs. `on_pass` is implied: nothing is added, nothing is lost.
    """

    dimension: str
    place: Place = Field(default_factory=Place)
    fields: dict[str, Any]
    on_fail: tuple[Finding, ...] = ()
    weight: float = 1.0

    @cached_property
    def id(self) -> str:
        """Hash over the dimension and the fields: equal questions have equal ids wherever they arise."""
        return content_hash({"dimension": self.dimension, "fields": self.fields})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changed fields; the id is made anew."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("id", None)
        return copied


class Evidence(Frozen):
    """A quote that a judge gave, the field it named, and whether it occurs there literally.

    `match` says how it was found or why not (`exact`, `normalized`, `not_found`, ...). Where `field` is
    `rubric`, the quote is the id of a clause about an omission, for which there is nothing to quote.
    """

    quote: str
    field: str
    verified: bool = False
    match: str | None = None


class Verdict(Frozen):
    """One judge's answer to one question.

    `cost` is in US dollars, None where the price is unknown. `error` is set where `verdict` is `error`.
    """

    dimension: str
    question_id: str
    verdict: Literal["pass", "fail", "unknown", "error"]
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    unknown_reason: str | None = None
    judge_id: str = ""
    model: str = ""
    model_reported: str | None = None
    replicate: int = 0
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    cached: bool = False
    attempts: int = 1
    error: str | None = None
    warnings: tuple[str, ...] = ()


class CheckResult(Frozen):
    """One check on one trace.

    `score` in [0, 1] comes with `passed` and `failed` only. `units` counts what the check looked at (calls,
    fields, turns, episodes); each question stands for one of them. `reason` says why a status is not a
    verdict. `detail` holds the check's own counts, for statistics over the run. `kept` are findings that
    are shown but not counted (a blocked check). `tentative` marks a `failed` that rests on a judge whose single
    fails are too often wrong to fail a trace: it counts in the check's rate and decides no aggregate.
    """

    check: Check
    status: Status
    basis: Basis | None = None
    score: float | None = None
    findings: tuple[Finding, ...] = ()
    questions: tuple[Question, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    units: int = 0
    reason: str | None = None
    detail: dict[str, Any] = Field(default_factory=dict)
    tentative: bool = False

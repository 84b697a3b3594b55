"""A case: one task, what is expected of it, and how its checks are put together."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from toolgrade.core.expected import Expected
from toolgrade.core.finding import Check
from toolgrade.core.model import Frozen
from toolgrade.core.tool import ToolSpec


class AggregatePolicy(Frozen):
    """How the checks of one trace make one verdict.

    `binary`: every check that applies must pass. `weighted`: the weighted mean of the scores reaches
    `threshold`. `hybrid`: the checks in `must_pass` pass, and the weighted mean of the rest reaches it.
    """

    policy: Literal["binary", "weighted", "hybrid"] = "binary"
    must_pass: tuple[Check, ...] = ()
    weights: dict[Check, float] = Field(default_factory=dict)
    threshold: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _fits_policy(self) -> Self:
        if self.policy == "binary" and (self.must_pass or self.weights or self.threshold is not None):
            raise ValueError("policy 'binary' takes no must_pass, weights or threshold")
        if self.policy != "binary" and (not self.weights or self.threshold is None):
            raise ValueError(f"policy {self.policy!r} needs weights and a threshold")
        if self.policy == "hybrid" and not self.must_pass:
            raise ValueError("policy 'hybrid' needs must_pass")
        if self.policy == "weighted" and self.must_pass:
            raise ValueError("policy 'weighted' takes no must_pass; use 'hybrid'")
        if any(weight < 0 for weight in self.weights.values()) or (self.weights and not any(self.weights.values())):
            raise ValueError("weights must not be negative, and not all zero")
        twice = set(self.must_pass) & set(self.weights)
        if twice:
            raise ValueError(f"{sorted(twice)} are in must_pass and in weights; each check counts once")
        return self


class Case(Frozen):
    """One task and what is expected of it.

    `input` is what the user asks (a text or a list of messages). `tools` are the tools on offer, None where
    the suite, the trace or the caller gives them. `place` says where it was written, for messages.
    """

    id: str = Field(min_length=1)
    input: str | tuple[dict[str, Any], ...] | None = None
    tags: tuple[str, ...] = ()
    expected: Expected | None = None
    tools: tuple[ToolSpec, ...] | None = None
    aggregate: AggregatePolicy = AggregatePolicy()
    metadata: dict[str, Any] = Field(default_factory=dict)
    place: str | None = Field(default=None, exclude=True)


class Suite(Frozen):
    """The cases of one file by id, in the order written; `tools` are on offer in every case that names none.

    `source` is the file as the user named it. `tools` is None where neither the file nor the caller gives any.
    """

    name: str = Field(min_length=1)
    cases: dict[str, Case]
    tools: dict[str, ToolSpec] | None = None
    source: str = ""

"""The expected trace as named fields, one per check: what a person writes in a case.

Each model is read by its own check only. Absent means that the check has no expectation; a field that
is declared but says nothing is refused, because it would look like an expectation and test nothing.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from toolgrade.core.model import Frozen


class Declared(Frozen):
    """An expected field; refuses to be empty."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("is declared but empty; state an expectation or remove the field")
        return self


class SelectionExpected(Declared):
    """Which tools must, may and must not be called.

    `required` is a multiset of tool names; `[]` means that no tool may be called at all; None sets no
    requirement. `extras` says which calls beyond the required ones are fine: all, none, or the named tools.
    `alternatives` are other multisets that are as good as `required`. With `judge_routes`, a missing
    required call while another known tool was called is a question for the `route_choice` judge.
    """

    required: tuple[str, ...] | None = None
    extras: Literal["allow", "forbid"] | tuple[str, ...] = "allow"
    forbidden: tuple[str, ...] = ()
    alternatives: tuple[tuple[str, ...], ...] = ()
    judge_routes: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.required is None and not self.forbidden:
            raise ValueError("needs `required` or `forbidden`")
        if self.required is None and self.alternatives:
            raise ValueError("`alternatives` are alternatives to `required`, which is absent")
        clash = set(self.required or ()) & set(self.forbidden)
        if clash:
            raise ValueError(f"{sorted(clash)} are both required and forbidden")
        return self


class Comparator(Frozen):
    """How one value is compared with the expected one.

    `kind` names the relation. `abs`/`rel` are the tolerances of `number` (either suffices; without any, equal
    but for rounding), `values` the accepted ones of `one_of`, `pattern` the regular expression of `regex`
    (searched, not anchored). `text` folds case and runs of spaces; `date` and `datetime` read any common
    spelling that names a whole day, month first where it is ambiguous; `unordered` takes a list's items in any
    order; with `subset` everything expected is there, and more is fine. `or_absent` accepts an omitted
    argument as well.
    """

    kind: Literal[
        "exact",
        "one_of",
        "number",
        "text",
        "date",
        "datetime",
        "unordered",
        "subset",
        "regex",
        "ignore",
        "semantic",
    ] = "exact"
    abs: float | None = Field(default=None, ge=0)
    rel: float | None = Field(default=None, ge=0)
    values: tuple[Any, ...] | None = None
    pattern: str | None = None
    or_absent: bool = False

    @model_validator(mode="after")
    def _parameters(self) -> Self:
        allowed = {"number": {"abs", "rel"}, "one_of": {"values"}, "regex": {"pattern"}}.get(self.kind, set())
        given = {name for name in ("abs", "rel", "values", "pattern") if getattr(self, name) is not None}
        if given - allowed:
            raise ValueError(f"comparator {self.kind!r} takes no {', '.join(sorted(given - allowed))}")
        if self.kind == "one_of" and not self.values:
            raise ValueError("comparator 'one_of' needs a non-empty list of `values`")
        if self.kind == "regex" and self.pattern is None:
            raise ValueError("comparator 'regex' needs a `pattern`")
        return self

    @classmethod
    def read(cls, written: Any) -> Any:
        """Return the model input for what a person writes: a name, or `{name: parameters}`.

        `text`, `{number: {abs: 0.01}}`, `{one_of: [a, b]}`, `{regex: "^A"}`, `{text: {or_absent: true}}`.
        """
        if isinstance(written, str):
            return {"kind": written}
        if isinstance(written, dict) and len(written) == 1 and "kind" not in written:
            kind, parameters = next(iter(written.items()))
            if kind == "one_of" and isinstance(parameters, list):
                return {"kind": kind, "values": parameters}
            if kind == "regex" and isinstance(parameters, str):
                return {"kind": kind, "pattern": parameters}
            if isinstance(parameters, dict):
                return {"kind": kind, **parameters}
        return written


class ArgumentsExpected(Frozen):
    """What one call of `tool` must carry.

    `values` maps parameters to expected values; parameters that are not named are not compared.
    `compare` maps JSON paths into the arguments (`$.flights[*].date`) to comparators; the default is `exact`.
    `extras` says whether parameters beyond `values` are fine. An argument equal to its schema default equals
    an omitted one unless `default_is_absent` is false; null equals absent only where `null_is_absent` is true.
    """

    tool: str = Field(min_length=1)
    values: dict[str, Any] = Field(default_factory=dict)
    compare: dict[str, Comparator] = Field(default_factory=dict)
    extras: Literal["allow", "forbid"] = "allow"
    default_is_absent: bool = True
    null_is_absent: bool = False

    @field_validator("compare", mode="before")
    @classmethod
    def _short_forms(cls, written: Any) -> Any:
        if isinstance(written, dict):
            return {path: Comparator.read(item) for path, item in written.items()}
        return written

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.values and not self.compare and self.extras == "allow":
            raise ValueError("names a tool and expects nothing of it; give `values`, or use expected.selection")
        return self


class OrderingExpected(Frozen):
    """One constraint: the first call of `before` precedes every call of `after`."""

    before: str = Field(min_length=1)
    after: str = Field(min_length=1)


class EfficiencyExpected(Declared):
    """Budgets for the whole trace. A step is an assistant message; tokens are input and output together."""

    max_steps: int | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)


class MustUse(Frozen):
    """A value that must reach an answer: at `path` (JSONPath) in a result of `tool`."""

    tool: str = Field(min_length=1)
    path: str = Field(min_length=1)


class UtilizationExpected(Declared):
    """Values that must be used in the answers."""

    must_use: tuple[MustUse, ...] = Field(default=(), min_length=1)


class ErrorRule(Frozen):
    """When a result of a tool counts as failed: a JSONPath that selects something truthy, or a regex in the text."""

    path: str | None = None
    regex: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.path is None) == (self.regex is None):
            raise ValueError("needs exactly one of `path` and `regex`")
        return self


class Fault(Frozen):
    """A fault that the run injected into the `nth` call (from 1) of `tool`, `times` times in a row."""

    tool: str = Field(min_length=1)
    nth: int = Field(default=1, ge=1)
    times: int = Field(default=1, ge=1)
    kind: Literal["status", "timeout", "empty", "malformed", "wrong_schema"]
    status: int | None = None

    @model_validator(mode="after")
    def _status(self) -> Self:
        if (self.kind == "status") != (self.status is not None):
            raise ValueError("`status` goes with kind 'status', and only there")
        return self


class RecoveryExpected(Declared):
    """The contract for what happens after a failed result.

    `max_retries` identical retries of a transient error; `fallbacks` maps a tool to the tools that may
    stand in for it; `must_escalate` is the tool to hand over with; `may_give_up` allows an honest report to
    end an episode; `error_when` and `empty_is_error` (tool names) refine what counts as failed.
    """

    faults: tuple[Fault, ...] = ()
    max_retries: int = Field(default=3, ge=0)
    fallbacks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    must_escalate: str | None = None
    may_give_up: bool = True
    error_when: dict[str, ErrorRule] = Field(default_factory=dict)
    empty_is_error: tuple[str, ...] = ()


class StateAssertion(Frozen):
    """An assertion on the recorded final state: what `path` (RFC 9535 JSONPath) selects.

    `equals`: exactly one node, equal to the value; `exists`: some node, or none; `contains`: some selected
    node equals the value; `count`: how many nodes are selected.
    """

    path: str = Field(min_length=1)
    equals: Any = None
    contains: Any = None
    exists: bool | None = None
    count: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = self.model_fields_set - {"path"}
        if len(given) != 1:
            raise ValueError("needs exactly one of `equals`, `contains`, `exists`, `count`")
        return self

    @property
    def relation(self) -> Literal["equals", "contains", "exists", "count"]:
        """The one relation that is asserted."""
        (name,) = self.model_fields_set - {"path"}
        return name  # type: ignore[return-value]


class OutcomeExpected(Declared):
    """What must be true in the end: assertions on the final state, texts that some answer must contain."""

    state: tuple[StateAssertion, ...] = ()
    outputs: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.state and not self.outputs:
            raise ValueError("is declared but empty; state an expectation or remove the field")
        return self


class Expected(Declared):
    """One optional field per check."""

    selection: SelectionExpected | None = None
    arguments: tuple[ArgumentsExpected, ...] | None = Field(default=None, min_length=1)
    ordering: tuple[OrderingExpected, ...] | None = Field(default=None, min_length=1)
    efficiency: EfficiencyExpected | None = None
    utilization: UtilizationExpected | None = None
    recovery: RecoveryExpected | None = None
    outcome: OutcomeExpected | None = None

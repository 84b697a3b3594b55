"""The front file of a prompt: one question, what may be seen, what each label means."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from toolgrade.core.model import Frozen

Label = Literal["pass", "fail", "unknown"]


class Input(Frozen):
    """One field that the judge sees: its name, what it holds, and where its text is cut (in characters)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    max_chars: int = Field(ge=200)


class Clause(Frozen):
    """One way to fail. An `omission` may be named as evidence where there is nothing to quote."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    text: str = Field(min_length=1)
    omission: bool = False


class Example(Frozen):
    """A made-up case of a pattern, with its verdict and why."""

    pattern: str
    material: str
    verdict: Label
    why: str


class Rubric(Frozen):
    """What one dimension asks, of what unit, and by what rules it is answered.

    `rubric_version` is `MAJOR.MINOR`: labels by people survive a new minor version, not a new major one.
    """

    dimension: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: str = Field(pattern=r"^v[0-9]+$")
    rubric_version: str = Field(pattern=r"^[0-9]+\.[0-9]+$")
    question: str = Field(min_length=1)
    unit: str
    notes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = Field(min_length=1)
    labels: dict[Label, str]
    clauses: tuple[Clause, ...] = ()
    examples: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        missing = {"pass", "fail", "unknown"} - set(self.labels)
        if missing:
            raise ValueError(f"labels lack {', '.join(sorted(missing))}")
        for what, names in (("input", [i.name for i in self.inputs]), ("clause", [c.id for c in self.clauses])):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"{what} {sorted(twice)[0]!r} is declared twice")
        if "rubric" in self.input_names:
            raise ValueError("an input cannot be called 'rubric': evidence names the rubric's clauses by that word")
        return self

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs, in order."""
        return tuple(item.name for item in self.inputs)

    @property
    def omissions(self) -> frozenset[str]:
        """The ids of the clauses that a failure by omission may name instead of a quote."""
        return frozenset(clause.id for clause in self.clauses if clause.omission)

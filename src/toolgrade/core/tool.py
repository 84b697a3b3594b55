"""What a tool promises: its name, its description and the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr

from toolgrade.core.model import Frozen
from toolgrade.core.schema import ArgumentSchema
from toolgrade.errors import ConfigError


class ToolSpec(Frozen):
    """One tool that the agent could call.

    `parameters` is the JSON Schema of the arguments object; an empty one (`{}`) says nothing about them.
    `writes` says whether a call changes the environment; None where nobody said (then every call counts as
    a possible write).
    """

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    writes: bool | None = None
    _model: type[BaseModel] | None = PrivateAttr(default=None)

    @classmethod
    def from_model(
        cls, name: str, model: type[BaseModel], *, description: str | None = None, writes: bool | None = None
    ) -> Self:
        """Return the tool whose arguments are validated by a pydantic model, with the model's own rules.

        The description is the model's docstring where none is given.
        """
        parameters = model.model_json_schema()
        told = parameters.get("description", "") if description is None else description
        spec = cls(name=name, description=told, parameters=parameters, writes=writes)
        spec._model = model
        return spec

    @cached_property
    def argument_schema(self) -> ArgumentSchema:
        """The compiled schema, made on first use.

        Raises:
            ConfigError: the schema is broken; the message names the tool and the reason.
        """
        return ArgumentSchema(self.name, self.parameters, self._model)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changed fields; the compiled schema is not taken along."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("argument_schema", None)
        return copied


def validate_tools(tools: Mapping[str, ToolSpec]) -> None:
    """Refuse tools whose arguments cannot be validated.

    Raises:
        ConfigError: a schema is broken; the message names every such tool and what is wrong with it.
    """
    problems: list[str] = []
    for tool in tools.values():
        try:
            _ = tool.argument_schema
        except ConfigError as problem:
            problems.append(str(problem))
    if problems:
        raise ConfigError("\n  ".join(problems))

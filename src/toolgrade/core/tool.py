"""What a tool promises: its name, its description and the JSON Schema of its arguments."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolgrade.core.model import Frozen


class ToolSpec(Frozen):
    """One tool that the agent could call.

    `parameters` is the JSON Schema of the arguments object. `writes` says whether a call changes the
    environment; None where nobody said (then every call counts as a possible write).
    """

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    writes: bool | None = None

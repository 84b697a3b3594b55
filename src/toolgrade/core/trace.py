"""One recorded run of an agent, as it happened.

Names follow the OpenAI chat format. Steps, turns and the pairing of calls with results are derived from
the order of messages (`toolgrade.core.view`), so a trace cannot contradict itself about them.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from toolgrade.core.model import Frozen
from toolgrade.core.tool import ToolSpec

Role = Literal["system", "user", "assistant", "tool"]


def is_finite(value: Any) -> bool:
    """Whether every number in a JSON value is one that JSON has: neither NaN nor infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        if item.__class__ is not str and not is_finite(item):  # most items are texts
            return False
    return True


def _finite(value: Any) -> Any:
    if value is None or value.__class__ is str:
        return value
    try:
        fine = is_finite(value)
    except RecursionError:
        raise ValueError("is nested deeper than can be followed; expected a few hundred levels at most") from None
    if not fine:
        raise ValueError("holds a number that is NaN or infinite, which JSON does not have")
    return value


Json = Annotated[Any, AfterValidator(_finite)]


class Usage(Frozen):
    """Tokens of one model call or of a whole run; None where the source does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total(self) -> int | None:
        """Input and output tokens together; None where neither is known."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


class ToolCall(Frozen):
    """One call that the agent asked for.

    `arguments` is None only where the recorded text was no JSON object: then `arguments_raw` holds that
    text and `parse_error` says why. Absent or null arguments are read as `{}`.
    """

    name: str
    id: str | None = None
    arguments: Annotated[dict[str, Any] | None, AfterValidator(_finite)] = Field(default_factory=dict)
    arguments_raw: str | None = None
    parse_error: str | None = None


class ToolResult(Frozen):
    """What came back for one call.

    `content` is the payload as recorded: any JSON value, or text (which may itself hold JSON).
    `is_error` is the source's own flag, None where it has none; `status` is an HTTP-like code;
    `error` is an error text recorded apart from the content.
    """

    call_id: str | None = None
    name: str | None = None
    content: Json = None
    status: int | None = None
    error: str | None = None
    is_error: bool | None = None


class Message(Frozen):
    """One message. Assistant messages may carry `tool_calls`; tool messages carry one `result`."""

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    result: ToolResult | None = None
    agent: str | None = None
    timestamp: str | None = None
    latency_ms: float | None = None
    usage: Usage | None = None


class Trace(Frozen):
    """One recorded run: who said and called what, what came back, and how the environment ended.

    `final_state` is the recorded final state of the environment (any JSON value; None where none was
    recorded). `final_state_basis` says whether the environment itself was recorded or only a verdict that
    the source gave about it. `tools` are the tools on offer in this run, None where not recorded.
    """

    id: str = Field(min_length=1)
    case_id: str | None = None
    trial: int = 0
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] | None = None
    final_state: Json = None
    final_state_basis: Literal["environment", "recorded_verdict"] = "environment"
    error: str | None = None
    model: str | None = None
    started_at: str | None = None
    latency_ms: float | None = None
    usage: Usage | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

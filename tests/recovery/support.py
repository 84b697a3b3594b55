"""Short ways to write traces for the recovery tests."""

from __future__ import annotations

from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.verdict import CheckResult
from toolgrade.core.view import TraceView

BAD = {"error": {"code": 400, "message": "reservation_id must be six characters"}}
TOOLS = ("get_reservation", "delete_reservation", "refund_reservation", "transfer_to_human_agents", "get_job")


def call(name: str, arguments: dict | None = None, content: Any = None, **result: Any) -> tuple[Message, Message]:
    """A call and its result."""
    made = ToolCall(name=name, id=None, arguments=arguments if arguments is not None else {"reservation_id": "4WQ150"})
    return (
        Message(role="assistant", tool_calls=(made,)),
        Message(role="tool", result=ToolResult(name=name, content=content, **result)),
    )


def user(text: str) -> tuple[Message]:
    return (Message(role="user", content=text),)


def agent(text: str) -> tuple[Message]:
    return (Message(role="assistant", content=text),)


def view(*parts: tuple[Message, ...], metadata: dict | None = None, tools: Any = TOOLS) -> TraceView:
    messages = tuple(message for part in parts for message in part)
    trace = Trace(id="t", messages=messages, metadata=metadata or {})
    return TraceView(trace, {name: ToolSpec(name=name) for name in tools} if tools is not None else None)


def names(result: CheckResult) -> list[str]:
    return [finding.name for finding in result.findings]


ASK = user("Please delete my reservation 4WQ150.")

"""SWE-agent trajectories (`.traj`): the history, and the steps that only the trajectory holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.formats.access import as_list, as_object, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_text, read_usage
from toolgrade.formats.conversation import said
from toolgrade.formats.format import Format
from toolgrade.formats.messages import read_message
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source


def _build(part: Part) -> Trace:
    item = as_object(part.value, "")
    steps = as_list(item.get("trajectory"), "trajectory")
    messages: list[Message] = []
    acted = 0
    for number, value in enumerate(opt_list(item.get("history"), "history")):
        entry = as_object(value, f"history[{number}]")
        if entry.get("is_demo") is True:
            continue
        if entry.get("role") == "assistant":
            acted += 1
        messages += _history(entry, f"history[{number}]", messages)
    for number, value in enumerate(steps[acted:], start=acted):
        messages += _step(as_object(value, f"trajectory[{number}]"), f"trajectory[{number}]")
    info = opt_object(item.get("info"), "info")
    stats = opt_object(info.get("model_stats"), "info.model_stats")
    usage = {"input_tokens": stats.get("tokens_sent"), "output_tokens": stats.get("tokens_received")}
    return Trace(
        id=opt_text(item.get("instance_id"), "instance_id") or part.default_id,
        case_id=opt_text(item.get("instance_id"), "instance_id"),
        messages=said(messages, "history"),
        usage=read_usage(usage) if any(usage.values()) else None,
        metadata={key: item[key] for key in item if key not in ("trajectory", "history", "instance_id")},
    )


def _history(entry: dict[str, Any], field: str, before: list[Message]) -> list[Message]:
    """Return the messages of one entry; an action without a recorded call is a call of the shell."""
    role, agent = entry.get("role"), opt_text(entry.get("agent"), f"{field}.agent")
    if role == "tool":
        ids = opt_list(entry.get("tool_call_ids"), f"{field}.tool_call_ids")
        result = ToolResult(call_id=opt_text(ids[0], field) if ids else None, content=read_text(entry.get("content")))
        return [Message(role="tool", result=result, agent=agent)]
    pending = before and before[-1].role == "assistant" and before[-1].tool_calls
    if role == "user" and entry.get("message_type") == "observation" and pending:
        return [Message(role="tool", result=ToolResult(content=read_text(entry.get("content"))), agent=agent)]
    found = read_message(entry, field)
    action = entry.get("action")
    if role == "assistant" and found and not found[0].tool_calls and isinstance(action, str) and action.strip():
        return [found[0].model_copy(update={"tool_calls": (_action(action),)})]
    return found


def _step(step: dict[str, Any], field: str) -> list[Message]:
    action = step.get("action")
    if not isinstance(action, str) or not action.strip():
        return []
    text = opt_text(step.get("response", step.get("thought")), f"{field}.response")
    result = ToolResult(content=opt_text(step.get("observation"), f"{field}.observation"))
    return [
        Message(role="assistant", content=text or None, tool_calls=(_action(action),)),
        Message(role="tool", result=result),
    ]


def _action(action: str) -> ToolCall:
    """Return the call for an action that was recorded as a command line only."""
    if action.strip() == "submit":
        return ToolCall(name="submit")
    return ToolCall(name="bash", arguments={"command": action})


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trajectory."""
    return read_parts(source, _build)


def _detect(source: Source) -> bool:
    first = source.first
    return (
        isinstance(first, dict)
        and isinstance(first.get("trajectory"), list)
        and ("history" in first or "info" in first)
    )


FORMAT = Format(
    name="swe-agent",
    description="SWE-agent trajectories (.traj)",
    looked_for='"trajectory" beside "history" or "info"',
    detect=_detect,
    read=read,
)

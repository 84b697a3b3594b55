"""Items of OpenAI's Responses API and Conversations: messages, function, custom, MCP and built-in calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolgrade.core.trace import Message, Role, ToolResult
from toolgrade.formats.access import as_object, describe, opt_text
from toolgrade.formats.calls import read_call, read_text
from toolgrade.formats.parts import About, Block, fold, joined, read_parts_of
from toolgrade.formats.record import Malformed

_SILENT = {"reasoning", "item_reference", "compaction", "mcp_list_tools"}
_SILENT |= {"mcp_approval_request", "mcp_approval_response"}
_OUTCOMES = ("output", "outputs", "result", "results", "tools")
_ABOUT_ITEM = {"id", "type", "status", "call_id", "error", "server_label", "execution", *_OUTCOMES}
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def is_item(value: Any) -> bool:
    """Whether `value` is an item that chat messages do not have: a call, its output, or typed `message`."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return False
    if kind == "message":
        return "role" in value and "stop_reason" not in value  # which Anthropic's have
    return kind.endswith(("_call", "_call_output")) or kind in _SILENT


def read_items(items: Iterable[Any], field: str, role: str = "user", about: About | None = None) -> list[Message]:
    """Return items as messages; calls that follow each other without a result between share a message.

    Raises:
        Malformed: an item has no type, or a call has no name.
    """
    messages: list[Message] = []
    run: list[Block] = []
    speaker: Role = "user"
    for number, value in enumerate(items):
        at = f"{field}[{number}]"
        who, blocks = _item(value, at, role)
        if who != speaker:
            messages += fold(speaker, run, about if speaker == "assistant" else None)
            run, speaker = [], who
        run += blocks
    return messages + fold(speaker, run, about if speaker == "assistant" else None)


def _item(value: Any, field: str, role: str) -> tuple[Role, list[Block]]:
    item = as_object(value, field)
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str):
        raise Malformed(f"{field}.type", describe(kind), "the type of an item, such as message or function_call")
    if kind == "message":
        who = item.get("role", role)
        if not isinstance(who, str) or who not in _ROLES:
            raise Malformed(f"{field}.role", describe(who), "user, assistant, system or developer")
        return _ROLES[who], read_parts_of(item.get("content"), f"{field}.content")
    if kind in _SILENT:
        return "assistant", []
    if kind.endswith("_output"):
        return "assistant", [_output(item, kind, field)]
    if kind.endswith("_call"):
        return "assistant", list(_call(item, kind.removesuffix("_call"), field))
    return "assistant", []


def _output(item: dict[str, Any], kind: str, field: str) -> ToolResult:
    content = next((item[key] for key in _OUTCOMES if item.get(key) is not None), None)
    name = kind.removesuffix("_call_output").removesuffix("_output")
    return ToolResult(
        call_id=opt_text(item.get("call_id"), f"{field}.call_id"),
        name=None if name in ("function", "custom_tool") else name,
        content=read_text(content) if _is_output_text(content) else joined(content),
        is_error=True if item.get("status") == "failed" else None,
    )


def _is_output_text(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content)
    )


def _call(item: dict[str, Any], kind: str, field: str) -> Iterator[Block]:
    call_id = item.get("call_id") or item.get("id")
    if kind == "function":
        yield read_call(item.get("name"), item.get("arguments"), call_id, field)
        return
    if kind == "custom_tool":
        yield read_call(item.get("name"), {"input": item.get("input")}, call_id, field)
        return
    name = item.get("name") if kind == "mcp" else kind
    yield read_call(name, _arguments(item), call_id, field)
    content = next((item[key] for key in _OUTCOMES if item.get(key) is not None), None)
    error = item.get("error")
    if content is not None or error is not None or item.get("status") == "failed":
        failed = error is not None or item.get("status") == "failed"
        yield ToolResult(
            call_id=opt_text(call_id, f"{field}.id"),
            name=name,
            content=content,
            error=None if error is None else str(error.get("message", error) if isinstance(error, dict) else error),
            is_error=True if failed else None,
        )


def _arguments(item: dict[str, Any]) -> Any:
    """Return the arguments of an MCP or built-in call: its own field, else whatever describes the action."""
    for key in ("arguments", "action", "operation"):
        if item.get(key) is not None:
            return item[key]
    return {key: value for key, value in item.items() if key not in _ABOUT_ITEM and value is not None}

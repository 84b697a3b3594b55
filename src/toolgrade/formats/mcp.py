"""MCP transcripts: JSON-RPC requests and answers between a client and servers, in a list or one a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.formats.access import as_list, as_object, opt_object, opt_text
from toolgrade.formats.calls import read_call
from toolgrade.formats.conversation import one_list, said
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by, offered_tools
from toolgrade.formats.parts import joined
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_WRAPPERS = ("message", "payload", "data", "body", "rpc", "content")


def unwrapped(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the JSON-RPC message in one entry of a log, None where it holds none, and what was written around it."""
    if not isinstance(value, dict):
        return None, {}
    if "jsonrpc" in value:
        return value, {}
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, dict) and "jsonrpc" in inner:
            return inner, {name: item for name, item in value.items() if name != key}
    return None, {}


def _build(part: Part) -> Trace:
    entries = part.value if isinstance(part.value, list) else [part.value]
    messages: list[Message] = []
    names: dict[str, str] = {}
    tools: dict[str, ToolSpec] = {}
    listed: set[str] = set()
    for number, value in enumerate(as_list(entries, "")):
        rpc, around = unwrapped(value)
        if rpc is None:
            continue
        field = f"[{number}]"
        key = str(rpc.get("id"))
        agent = next((str(around[name]) for name in ("client", "agent") if around.get(name)), None)
        stamp = opt_text(around.get("timestamp"), f"{field}.timestamp")
        if rpc.get("method") == "tools/list":
            listed.add(key)
        elif rpc.get("method") == "tools/call":
            call = _call(rpc, key, field)
            names[key] = call.name
            messages.append(Message(role="assistant", tool_calls=(call,), agent=agent, timestamp=stamp))
        elif "method" not in rpc and key in names:
            messages.append(Message(role="tool", result=_result(rpc, key, names[key], field), timestamp=stamp))
        elif "method" not in rpc and key in listed and isinstance(rpc.get("result"), dict):
            tools |= {tool.name: tool for tool in offered_tools(rpc["result"].get("tools")) or ()}
    found = said(messages, "") if messages or not tools else ()
    return Trace(id=part.default_id, messages=found or said([], ""), tools=tuple(tools.values()) or None)


def _call(rpc: dict[str, Any], key: str, field: str) -> ToolCall:
    params = as_object(rpc.get("params"), f"{field}.params")
    return read_call(params.get("name"), params.get("arguments"), key, f"{field}.params")


def _result(rpc: dict[str, Any], key: str, name: str, field: str) -> ToolResult:
    """Return a result; an error of the protocol and one that the tool reports are both errors."""
    error = opt_object(rpc.get("error"), f"{field}.error")
    if error:
        text = opt_text(error.get("message"), f"{field}.error.message")
        return ToolResult(call_id=key, name=name, content=error.get("data"), error=text or "error", is_error=True)
    result = opt_object(rpc.get("result"), f"{field}.result")
    structured = result.get("structuredContent")
    content = structured if structured is not None else joined(result.get("content"))
    failed = result.get("isError")
    return ToolResult(call_id=key, name=name, content=content, is_error=failed if isinstance(failed, bool) else None)


def read(source: Source) -> Iterator[Record]:
    """Yield one record for the transcript."""
    return read_parts(one_list(source), _build)


def _detect(source: Source) -> bool:
    first = source.first
    entries = first if isinstance(first, list) else [first]
    return any(unwrapped(item)[0] is not None for item in entries[:20])


FORMAT = Format(
    name="mcp",
    description="MCP transcripts (JSON-RPC messages)",
    looked_for='"jsonrpc" messages, with "tools/call"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

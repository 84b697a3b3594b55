"""Messages in every dialect, told apart by the message itself, and the envelopes that carry them.

`read_message` takes one message. `interpret` takes whatever a span recorded as the input or output of a
model call (JSON text, a message, a list, a request, a response) and gives the messages in it, or None
where there is none that it knows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import from_json, to_json

from toolgrade.core.trace import Message, Role, ToolCall, ToolResult
from toolgrade.formats.access import as_list, as_object, describe, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_call, read_usage
from toolgrade.formats.parts import About, Block, fold, joined, read_parts_of
from toolgrade.formats.record import Malformed
from toolgrade.formats.response_items import is_item, read_items
from toolgrade.formats.source import parse_json

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MAX_DEPTH = 6
_MOST_KEPT = 16_384


def read_message(value: Any, field: str, role: str | None = None) -> list[Message]:
    """Return what one message of any dialect says, as one or more messages.

    Args:
        value: the message.
        field: its place, for messages.
        role: the role of a message that does not name one.

    Raises:
        Malformed: it has no known role, or a call without a name.
    """
    item = _unwrapped(as_object(value, field), field)
    written = item.get("role", item.get("type", item.get("kind", role)))
    about = _about(item, field)
    if item.get("kind") in ("request", "response") and isinstance(item.get("parts"), list):
        return _pydantic(item, field, about)
    key = ROLES.get(str(written).lower())
    if key is None:
        raise Malformed(f"{field}.role", describe(written), "system, developer, user, assistant, model or tool")
    content = item.get("parts") if isinstance(item.get("parts"), list) else item.get("content")
    if key == "tool":
        return _tool(item, content, field, about)
    calls = _calls(item, field)
    blocks = read_parts_of(content, f"{field}.content")
    if calls:  # LangChain and Anthropic record the same calls in the content again
        blocks = [block for block in blocks if not isinstance(block, ToolCall)]
    elif len(blocks) == 1 and isinstance(blocks[0], str):
        blocks = list(_printed_calls(blocks[0])) or blocks
    if key == "assistant" and not blocks and item.get("refusal") is not None:
        blocks = [str(item["refusal"])]
    return fold(key, [*blocks, *calls], about) or [Message(role=key, agent=about.agent, usage=about.usage)]


def read_messages(value: Any, field: str) -> list[Message]:
    """Return a list of messages of any dialect, in order."""
    return [
        message
        for number, item in enumerate(as_list(value, field))
        if not advertises(item)
        for message in read_message(item, f"{field}[{number}]")
    ]


def advertises(item: Any) -> bool:
    """Whether a message of role `tool` is the schema of a tool on offer, as LangChain's tracer writes them."""
    content = item.get("content") if isinstance(item, dict) else None
    if not isinstance(content, dict) or item.get("role") != "tool" or item.get("tool_call_id"):
        return False
    function = content.get("function")
    return content.get("type") == "function" and isinstance(function, dict) and "arguments" not in function


def _unwrapped(item: dict[str, Any], field: str) -> dict[str, Any]:
    """Return the message inside LangChain's serialised forms and OpenTelemetry's choice events."""
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        name = str(opt_list(item.get("id"), f"{field}.id")[-1:])
        kinds = {"Human": "human", "AI": "ai", "Tool": "tool", "System": "system", "Function": "tool"}
        kind = next((kind for word, kind in kinds.items() if word in name), None)
        return {"type": kind, **item["kwargs"]}
    if isinstance(item.get("kwargs"), dict) and "role" not in item and "content" in item["kwargs"]:
        return dict(item["kwargs"])
    if isinstance(item.get("data"), dict) and isinstance(item.get("type"), str) and "content" in item["data"]:
        return {**item["data"], "type": item["type"]}
    if isinstance(item.get("message"), dict) and "content" not in item:
        return {"role": "assistant", **item["message"]}
    return item


def _about(item: dict[str, Any], field: str) -> About:
    usage = item.get("usage_metadata") or item.get("usage")
    metadata = item.get("metadata")
    if usage is None and isinstance(metadata, dict):
        usage = metadata.get("usage")
    name = item.get("name") if item.get("role") in ("assistant", "user") or item.get("type") == "ai" else None
    stamp = item.get("timestamp")
    return About(
        agent=opt_text(item.get("agent", name), f"{field}.name") or None,
        timestamp=stamp if isinstance(stamp, str) else None,
        usage=read_usage(usage),
    )


def _calls(item: dict[str, Any], field: str) -> list[ToolCall]:
    extra = opt_object(item.get("additional_kwargs"), f"{field}.additional_kwargs")
    listed = opt_list(item.get("tool_calls"), f"{field}.tool_calls") or opt_list(extra.get("tool_calls"), field)
    calls = [_call(call, f"{field}.tool_calls[{number}]") for number, call in enumerate(listed)]
    for number, bad in enumerate(opt_list(item.get("invalid_tool_calls"), f"{field}.invalid_tool_calls")):
        calls.append(_call(bad, f"{field}.invalid_tool_calls[{number}]"))
    legacy = item.get("function_call") or extra.get("function_call")
    if legacy and not calls:
        function = as_object(legacy, f"{field}.function_call")
        calls.append(read_call(function.get("name"), function.get("arguments"), None, f"{field}.function_call"))
    return calls


def _call(value: Any, field: str) -> ToolCall:
    item = as_object(value, field)
    if isinstance(item.get("tool_call"), dict):  # OpenInference
        return _call(item["tool_call"], f"{field}.tool_call")
    inner = item.get("function", item.get("custom"))
    if isinstance(inner, str):  # Inspect names the function itself
        item, inner = {**item, "name": inner}, None
    body = as_object(inner, f"{field}.function") if inner is not None else item
    arguments = body.get("arguments", body.get("args", body.get("input")))
    if item.get("type") == "custom" and isinstance(arguments, str):
        arguments = {"input": arguments}
    return read_call(body.get("name"), arguments, item.get("id", item.get("tool_call_id")), field)


def _printed_calls(text: str) -> list[Block]:
    """Return the calls in content that is nothing but a JSON list of OpenAI calls."""
    if not text.startswith("[{"):
        return []
    try:
        items = parse_json(text)
    except ValueError:
        return []
    if not isinstance(items, list) or not all(_is_call(item) for item in items):
        return []
    return [_call(item, "content") for item in items]


def _is_call(item: Any) -> bool:
    function = item.get("function") if isinstance(item, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str) and "arguments" in function


def _tool(item: dict[str, Any], content: Any, field: str, about: About) -> list[Message]:
    if isinstance(content, str) and (calls := _printed_calls(content)):
        return fold("assistant", calls, about)
    blocks = read_parts_of(content, f"{field}.content") if isinstance(content, list) else []
    results = [block for block in blocks if isinstance(block, ToolResult)]
    if results:
        return fold("tool", results, about)
    if any(isinstance(block, ToolCall) for block in blocks):  # OpenTelemetry, inside the span of a tool
        return fold("assistant", blocks, about)
    error = item.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    failed = True if error or item.get("status") == "error" else None
    call_id = item.get("tool_call_id", item.get("toolCallId"))
    function = item.get("function")  # Inspect
    name = item.get("name", item.get("tool_name", function if isinstance(function, str) else None))
    result = ToolResult(
        call_id=opt_text(call_id, f"{field}.tool_call_id") or None,
        name=opt_text(name, f"{field}.name"),
        content=joined(content),
        error=opt_text(message, f"{field}.error") if not isinstance(message, bool) else None,
        is_error=failed,
    )
    return fold("tool", [result], about)


def _pydantic(item: dict[str, Any], field: str, about: About) -> list[Message]:
    """Return the messages of one pydantic-ai request or response: its parts carry the roles."""
    messages: list[Message] = []
    if isinstance(item.get("instructions"), str):
        messages += fold("system", [item["instructions"]])
    if item["kind"] == "response":
        return messages + fold("assistant", read_parts_of(item["parts"], f"{field}.parts"), about)
    for number, part in enumerate(item["parts"]):
        kind = part.get("part_kind") if isinstance(part, dict) else None
        role: Role = "system" if kind == "system-prompt" else "user"
        messages += fold(role, read_parts_of([part], f"{field}.parts[{number}]"))
    return messages


def interpret(value: Any, role: str, depth: int = 0) -> list[Message] | None:
    """Return the messages in what a span recorded, None where there are none that are known.

    Args:
        value: JSON text, a message, a list of them, a request or a response.
        role: the role of messages that do not name one: `user` for inputs, `assistant` for outputs.
        depth: how many envelopes were opened; only so many are.
    """
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return interpret(_decoded(value), role, depth + 1) if value[:1] in ("{", "[") else None
    try:
        if isinstance(value, list):
            return _interpret_list(value, role, depth)
        return _interpret_object(value, role, depth) if isinstance(value, dict) else None
    except Malformed:
        return None


def _decoded(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _interpret_list(items: list[Any], role: str, depth: int) -> list[Message] | None:
    if items and all(isinstance(item, dict) and "toolCallId" in item and "role" not in item for item in items):
        return fold("assistant", read_parts_of([{"type": "tool-call", **item} for item in items], ""))
    if items and any(map(is_item, items)):
        return read_items(items, "", role) or None
    messages: list[Message] = []
    for item in items:
        if advertises(item):
            continue
        found = interpret(_from_tool(item, messages), role, depth + 1)
        if found is None:
            return None
        messages += found
    return messages or None


def _from_tool(item: Any, before: list[Message]) -> Any:
    """Return a message whose role is the name of a tool that was called before it as that tool's message."""
    name = item.get("role") if isinstance(item, dict) else None
    if not isinstance(name, str) or name.lower() in ROLES:
        return item
    called = {call.name for message in before for call in message.tool_calls}
    return {**item, "role": "tool", "name": name} if name in called else item


def _interpret_object(item: dict[str, Any], role: str, depth: int) -> list[Message] | None:
    for key in ("messages", "choices", "candidates", "generations", "output"):
        if isinstance(item.get(key), list) and not isinstance(item.get("role"), str):
            found = interpret(item[key], "assistant" if key != "messages" else role, depth + 1)
            return None if found is None else [*instructions(item), *found]
    if isinstance(item.get("contents"), (str, list)):  # Gemini
        contents = item["contents"]
        found = fold("user", [contents]) if isinstance(contents, str) else interpret(contents, role, depth + 1)
        return None if found is None else [*instructions(item), *found]
    for key in ("content", "new_message", "response", "message"):  # a response around a message
        inner = item.get(key)
        if isinstance(inner, dict) and ("parts" in inner or "role" in inner or "kwargs" in inner or "data" in inner):
            return interpret(inner, role, depth + 1)
    if _is_message(item):
        raw = to_json(item)
        return list(_read_once(raw, role)) if len(raw) <= _MOST_KEPT else read_message(item, "", role)
    if isinstance(item.get("message"), dict):
        return interpret({"role": role, "content": item.get("text"), **item["message"]}, role, depth + 1)
    for key in ("prompt", "text"):
        if isinstance(item.get(key), str):
            return fold(ROLES[role], [item[key]])
    return None


@lru_cache(maxsize=4096)
def _read_once(raw: bytes, role: str) -> tuple[Message, ...]:
    """Return the messages of one message; every model call repeats the history, so most are read many times."""
    return tuple(read_message(from_json(raw), "", role))


def _is_message(item: dict[str, Any]) -> bool:
    written = item.get("role", item.get("type"))
    known = isinstance(written, str) and written.lower() in ROLES
    body = {"content", "parts", "tool_calls", "function_call", "message", "data"} & set(item)
    inner = item.get("kwargs")
    dumped = isinstance(inner, dict) and "content" in inner and ("lc" in item or "type" in inner)
    return bool(known and body) or dumped or item.get("kind") in ("request", "response")


def instructions(item: dict[str, Any]) -> list[Message]:
    """Return the system prompt that a request carries beside its messages."""
    config = item.get("config") if isinstance(item.get("config"), dict) else {}
    written = item.get("system") or item.get("system_instruction") or item.get("systemInstruction")
    written = written or item.get("instructions") or config.get("system_instruction")  # type: ignore[union-attr]
    if isinstance(written, dict):
        written = written.get("parts")
    return fold("system", read_parts_of(written, "system")) if written else []

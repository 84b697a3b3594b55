"""OpenAI chat messages: a list of them, `{"messages": [...]}`, several of these, or one message a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.result import Origin
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.formats.access import as_list, as_object, as_text, describe, opt_int, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_call, read_text, read_usage
from toolgrade.formats.format import Format
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Document, Source, digest
from toolgrade.formats.tools import recorded_tools

_ROLES = {"developer": "system", "function": "tool"}
_KNOWN = {"messages", "tools", "functions", "metadata", "id", "case_id", "trial", "model", "usage"}
_CASE_KEYS = ("case_id", "task_id")


def read_messages(messages: Any, field: str = "messages") -> tuple[Message, ...]:
    """Return chat messages as toolgrade's.

    Raises:
        Malformed: a message has no role, an unknown one, or a call without a name.
    """
    return tuple(_message(item, f"{field}[{number}]") for number, item in enumerate(as_list(messages, field)))


def _message(value: Any, field: str) -> Message:
    item = as_object(value, field)
    written = as_text(item.get("role"), f"{field}.role")
    role = _ROLES.get(written, written)
    if role == "tool":
        return Message(role="tool", result=_result(item, field))
    if role == "assistant":
        return Message(
            role="assistant",
            content=_assistant_text(item),
            tool_calls=_calls(item, field),
            agent=opt_text(item.get("name"), f"{field}.name"),
            usage=read_usage(item.get("usage")),
        )
    if role == "user":
        return Message(role="user", content=read_text(item.get("content")))
    if role == "system":
        return Message(role="system", content=read_text(item.get("content")))
    raise Malformed(f"{field}.role", describe(written), "system, developer, user, assistant, tool or function")


def _assistant_text(item: dict[str, Any]) -> str | None:
    content = item.get("content")
    return read_text(item.get("refusal")) if content is None else read_text(content)


def _calls(item: dict[str, Any], field: str) -> tuple[ToolCall, ...]:
    calls = [_call(call, f"{field}.tool_calls[{n}]") for n, call in enumerate(opt_list(item.get("tool_calls"), field))]
    legacy = item.get("function_call")
    if legacy is not None and not calls:
        function = as_object(legacy, f"{field}.function_call")
        calls.append(read_call(function.get("name"), function.get("arguments"), None, f"{field}.function_call"))
    return tuple(calls)


def _call(value: Any, field: str) -> ToolCall:
    item = as_object(value, field)
    inner = item.get("function", item.get("custom"))
    body = as_object(inner, f"{field}.function") if inner is not None else item
    arguments = body.get("arguments", body.get("args", body.get("input")))
    return read_call(body.get("name"), arguments, item.get("id"), field)


def _result(item: dict[str, Any], field: str) -> ToolResult:
    content = item.get("content")
    return ToolResult(
        call_id=opt_text(item.get("tool_call_id"), f"{field}.tool_call_id"),
        name=opt_text(item.get("name"), f"{field}.name"),
        content=read_text(content) if isinstance(content, list) else content,
        status=opt_int(item.get("status")),
        error=item["error"] if isinstance(item.get("error"), str) else None,
        is_error=item["is_error"] if isinstance(item.get("is_error"), bool) else None,
    )


def _build(part: Part) -> Trace:
    if isinstance(part.value, list):
        return Trace(id=part.default_id, messages=read_messages(part.value, ""))
    item = as_object(part.value, "")
    metadata = opt_object(item.get("metadata"), "metadata")
    offered = recorded_tools(item.get("tools") or item.get("functions"))
    known = _KNOWN if offered else _KNOWN - {"tools", "functions"}
    rest = {key: value for key, value in item.items() if key not in known}
    return Trace(
        id=opt_text(item.get("id"), "id") or part.default_id,
        case_id=_case_id(item, metadata),
        trial=opt_int(item.get("trial", metadata.get("trial"))) or 0,
        messages=read_messages(item.get("messages")),
        tools=offered,
        model=opt_text(item.get("model"), "model"),
        usage=read_usage(item.get("usage")),
        metadata={**metadata, **rest},
    )


def _case_id(*places: dict[str, Any]) -> str | None:
    found = (opt_text(place.get(key), key) for place in places for key in _CASE_KEYS)
    return next(filter(None, found), None)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "messages" not in value


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _split(value: Any) -> Iterator[Part]:
    if value == []:
        return  # no message and no run
    if isinstance(value, list) and value and not _is_message(value[0]):
        for number, item in enumerate(value):
            yield Part(item, f"[{number}]")
    else:
        yield Part(value)


def read(source: Source) -> Iterator[Record]:
    """Yield one record a list of messages; a file with one message a line is one trace."""
    if source.layout == "lines" and _is_message(source.first):
        return iter([_lines_of_one(source)])
    return read_parts(source, _build, _split)


def _lines_of_one(source: Source) -> Record:
    documents = list(source.documents())
    origin = Origin(source=source.name, index=0, sha256=digest("".join(one.sha256 for one in documents).encode()))
    try:
        broken = next((one.error for one in documents if one.error), None)
        if broken is not None:
            return Record(origin, error=broken)
        messages = tuple(message for one in documents for message in _line(one))
        return Record(origin, trace=Trace(id=source.stem, messages=messages))
    except Malformed as error:
        return Record(origin, error=str(error))


def _line(document: Document) -> tuple[Message, ...]:
    try:
        return read_messages([document.value], "")
    except Malformed as error:
        error.field = f"{document.place}: {error.field.removeprefix('[0].')}"
        raise


def _detect(source: Source) -> bool:
    first = source.first
    for _ in range(2):  # a list of runs, each of which may be a list of messages
        if isinstance(first, list) and first:
            first = first[0]
    return _is_message(first) or _is_run(first)


FORMAT = Format(
    name="openai-chat",
    description='OpenAI chat messages: a list, {"messages": [...]}, or one of these a line',
    looked_for='"messages", or a list of objects with "role"',
    detect=_detect,
    read=read,
)

"""Anthropic Messages: responses, requests, both together, streamed events, and managed-agent sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Trace
from toolgrade.formats.access import as_object, opt_object
from toolgrade.formats.anthropic_sessions import build_session, is_session_event
from toolgrade.formats.conversation import Session, blocks_in, build, messages_in, split_runs, trace_of
from toolgrade.formats.format import Format
from toolgrade.formats.messages import read_message
from toolgrade.formats.offered import offered_by
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_BLOCKS = {"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result"}


def assembled(events: list[Any]) -> dict[str, Any]:
    """Return the message that streamed events add up to."""
    message: dict[str, Any] = {}
    blocks: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    for number, value in enumerate(events):
        event = as_object(value, f"[{number}]")
        kind, index = event.get("type"), str(event.get("index"))
        if kind == "message_start":
            message = dict(as_object(event.get("message"), f"[{number}].message"))
        elif kind == "content_block_start":
            blocks[index] = dict(as_object(event.get("content_block"), f"[{number}].content_block"))
        elif kind == "content_block_delta" and index in blocks:
            delta = opt_object(event.get("delta"), f"[{number}].delta")
            if isinstance(delta.get("partial_json"), str):
                texts[index] = texts.get(index, "") + delta["partial_json"]
            elif isinstance(delta.get("text"), str):
                blocks[index]["text"] = str(blocks[index].get("text") or "") + delta["text"]
        elif kind == "message_delta":
            message |= opt_object(event.get("delta"), f"[{number}].delta")
            message["usage"] = {**opt_object(message.get("usage"), "usage"), **opt_object(event.get("usage"), "usage")}
    for index, text in texts.items():
        if text:
            blocks[index]["input"] = text
    return {**message, "content": list(blocks.values())}


def _build(part: Part) -> Trace:
    value = part.value
    if isinstance(value, list) and value and _is_stream_event(value[0]):
        value = assembled(value)
    if isinstance(value, list) and any(map(is_session_event, value)):
        return build_session(value, part.default_id)
    if isinstance(value, dict) and value.get("type") == "message" and "messages" not in value:
        message = {key: item for key, item in value.items() if key != "type"}
        return trace_of(value, read_message(message, "", "assistant"), part.default_id)
    return build(part._replace(value=value))


def _is_stream_event(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "message_start"


def _is_run_of_one_file(source: Source) -> bool:
    first = source.first
    return source.layout == "lines" and (_is_stream_event(first) or is_session_event(first))


def read(source: Source) -> Iterator[Record]:
    """Yield one record a response, conversation, stream or session."""
    if _is_run_of_one_file(source):
        return read_parts(Session(source.path), _build)
    return read_parts(source, _build, split_runs(_is_piece))


def _is_piece(value: Any) -> bool:
    """Whether `value` is a part of a run rather than a run."""
    if is_session_event(value):
        return True
    return isinstance(value, dict) and value.get("type") != "message" and ("role" in value or "type" in value)


def _detect(source: Source) -> bool:
    first = source.first
    if _is_run_of_one_file(source) or (isinstance(first, list) and bool(first) and is_session_event(first[0])):
        return True
    messages = messages_in(first)
    if any(str(block.get("type")) in _BLOCKS for block in blocks_in(messages)):
        return True
    if not isinstance(first, dict):
        return False
    if first.get("type") == "message" and first.get("role") == "assistant" and "stop_reason" in first:
        return True
    tools = first["tools"] if isinstance(first.get("tools"), list) else []
    offers = any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
    return offers and isinstance(first.get("messages"), list)


FORMAT = Format(
    name="anthropic",
    description="Anthropic Messages: requests, responses, streamed events; managed-agent session events",
    looked_for='content with "tool_use" or "tool_result" blocks, "type": "message", or session events',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

"""OpenAI Responses API and Conversations: responses, requests, items, streamed events, Codex session rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Message, Trace
from toolgrade.formats.access import as_list, as_object, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_usage
from toolgrade.formats.conversation import Session, said
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by, offered_tools
from toolgrade.formats.parts import About, fold
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.response_items import is_item, read_items
from toolgrade.formats.source import Source

_ROLLOUT = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_READ = {"id", "model", "input", "output", "instructions", "tools", "usage", "metadata", "error"}
_READ |= {"items", "data", "object"}


def read_response(item: dict[str, Any], default_id: str) -> Trace:
    """Return the trace of one request, response, or both in one object.

    Raises:
        Malformed: it holds no item, or one that is wrong.
    """
    usage = read_usage(item.get("usage"))
    messages: list[Message] = []
    if isinstance(item.get("instructions"), str):
        messages += fold("system", [item["instructions"]])
    given = item.get("input")
    messages += fold("user", [given]) if isinstance(given, str) else read_items(opt_list(given, "input"), "input")
    for key in ("items", "data", "output"):
        if item.get(key) is not None:
            messages += read_items(as_list(item[key], key), key, "assistant", About(usage=usage))
    offers = [*opt_list(item.get("tools"), "tools")]
    lists = [found for found in opt_list(item.get("output"), "output") if _is_listing(found)]
    offers = [tool for tool in offers if not (lists and opt_object(tool, "tools").get("type") == "mcp")] + lists
    error = item.get("error")
    metadata = opt_object(item.get("metadata"), "metadata")
    return Trace(
        id=opt_text(item.get("id"), "id") or default_id,
        case_id=opt_text(metadata.get("case_id"), "metadata.case_id"),
        messages=said(messages, ""),
        tools=offered_tools(offers),
        error=None if error is None else str(error.get("message", error) if isinstance(error, dict) else error),
        model=opt_text(item.get("model"), "model"),
        usage=usage,
        metadata={**metadata, **{key: value for key, value in item.items() if key not in _READ and value is not None}},
    )


def _is_listing(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "mcp_list_tools"


def _streamed(events: list[Any]) -> dict[str, Any]:
    """Return the response that streamed events end with, or the items that were done when they broke off."""
    final: dict[str, Any] = {}
    done: list[Any] = []
    for number, value in enumerate(events):
        event = as_object(value, f"[{number}]")
        if isinstance(event.get("response"), dict):
            final = event["response"]
        elif event.get("type") == "response.output_item.done":
            done.append(event.get("item"))
    return final if final.get("output") else {**final, "output": done}


def _rollout(lines: list[Any]) -> dict[str, Any]:
    """Return the items of a Codex session, with what its first line says about it."""
    payloads = [(line.get("type"), line.get("payload")) for line in lines if isinstance(line, dict)]
    items = [payload for kind, payload in payloads if kind == "response_item"]
    known = opt_object(next((payload for kind, payload in payloads if kind == "session_meta"), None), "session_meta")
    return {"id": known.get("id"), "items": items, "metadata": {key: known[key] for key in known if key != "id"}}


def _build(part: Part) -> Trace:
    value = part.value
    if isinstance(value, list) and value and _is_event(value[0]):
        value = _streamed(value)
    elif isinstance(value, list) and any(_is_rollout(line) for line in value):
        value = _rollout(value)
    elif isinstance(value, list):
        value = {"items": value}
    item = as_object(value, "")
    if isinstance(item.get("request"), dict) and isinstance(item.get("response"), dict):
        item = {**item["request"], **item["response"]}
    return read_response(item, part.default_id)


def _split(value: Any) -> Iterator[Part]:
    """Split a list of responses; a list of items or of events is one run."""
    if isinstance(value, list) and value and not any(map(_is_piece, value)):
        for number, item in enumerate(value):
            yield Part(item, f"[{number}]")
    else:
        yield Part(value)


def _is_piece(value: Any) -> bool:
    """Whether `value` is a part of a run rather than a run."""
    return is_item(value) or _is_event(value) or _is_rollout(value)


def _holds_items(value: Any) -> bool:
    return isinstance(value, list) and any(map(is_item, value))


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type", "")).startswith("response.")


def _is_rollout(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type")) in _ROLLOUT and "payload" in value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a response, request, list of items, stream or session."""
    one = source.layout == "lines" and (_is_event(source.first) or _is_rollout(source.first) or is_item(source.first))
    return read_parts(Session(source.path) if one else source, _build, _split)


def _detect(source: Source) -> bool:
    first = source.first_object
    if is_item(first) or _is_event(first) or _is_rollout(first) or first.get("object") == "response":
        return True
    if isinstance(first.get("response"), dict) and first["response"].get("object") == "response":
        return True
    if isinstance(first.get("input"), str | list) and {"model", "conversation", "previous_response_id"} & set(first):
        return True
    return any(_holds_items(first.get(key)) for key in ("items", "data"))


FORMAT = Format(
    name="openai-responses",
    description="OpenAI Responses and Conversations: requests, responses, items, streamed events, Codex rollouts",
    looked_for='"object": "response", items such as "function_call", or a request with "input"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

"""Vercel AI SDK: model messages, UI messages, and the steps of `generateText` results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Message, Trace
from toolgrade.formats.access import as_list, as_object, opt_object
from toolgrade.formats.conversation import blocks_in, build, messages_in, split_runs, trace_of
from toolgrade.formats.format import Format
from toolgrade.formats.messages import read_messages
from toolgrade.formats.offered import offered_by
from toolgrade.formats.parts import fold, read_parts_of
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_STEP = ("toolCalls", "toolResults")


def _build(part: Part) -> Trace:
    value = part.value
    if isinstance(value, dict) and isinstance(value.get("steps"), list) and "messages" not in value:
        messages = fold("user", [value["prompt"]]) if isinstance(value.get("prompt"), str) else []
        for number, step in enumerate(value["steps"]):
            messages += _step(as_object(step, f"steps[{number}]"), f"steps[{number}]")
        kept = {key: item for key, item in value.items() if key not in ("steps", "prompt", "response", "text")}
        return trace_of(kept, messages, part.default_id)
    return build(part)


def _step(step: dict[str, Any], field: str) -> list[Message]:
    """Return the messages of one step: what its response holds, else its text, calls and results."""
    response = opt_object(step.get("response"), f"{field}.response")
    if isinstance(response.get("messages"), list):
        return read_messages(response["messages"], f"{field}.response.messages")
    text = step.get("text")
    calls = [{**as_object(item, field), "type": "tool-call"} for item in as_list(step.get("toolCalls") or [], field)]
    results = [
        {**as_object(item, field), "type": "tool-result"} for item in as_list(step.get("toolResults") or [], field)
    ]
    blocks = read_parts_of([text, *calls] if isinstance(text, str) else calls, field)
    return fold("assistant", [*blocks, *read_parts_of(results, field)])


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a conversation or result."""
    return read_parts(source, _build, split_runs(_is_message))


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and isinstance(first.get("steps"), list) and first["steps"]:
        step = first["steps"][0]
        if isinstance(step, dict) and any(key in step for key in _STEP):
            return True
    messages = messages_in(first)
    parts = [*blocks_in(messages), *blocks_in(messages, "parts")]
    kinds = [kind for part in parts if isinstance(kind := part.get("type"), str)]
    return any(kind.startswith("tool-") or kind in ("dynamic-tool", "step-start") for kind in kinds)


FORMAT = Format(
    name="vercel-ai",
    description="Vercel AI SDK model and UI messages, generateText steps",
    looked_for='parts of type "tool-call", "tool-result", "tool-invocation" or "tool-<name>"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

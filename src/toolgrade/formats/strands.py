"""Strands Agents and Bedrock Converse: messages with toolUse and toolResult, sessions, responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Trace
from toolgrade.formats.conversation import blocks_in, build, messages_in, split_runs
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_KEYS = {"toolUse", "toolResult"}


def _unwrapped(value: Any) -> Any:
    """Return the message inside a line of a Strands session store."""
    inner = value.get("message") if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) and "role" in inner else value


def _build(part: Part) -> Trace:
    value = part.value
    if isinstance(value, list):
        return build(part._replace(value=[_unwrapped(item) for item in value]))
    if isinstance(value, dict) and isinstance(value.get("output"), dict) and "message" in value["output"]:
        return build(part._replace(value={**value, "output": None, "messages": [value["output"]["message"]]}))
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return build(part._replace(value={**value, "messages": [_unwrapped(item) for item in value["messages"]]}))
    return build(part)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    inner = value.get("message")
    return "role" in value or (isinstance(inner, dict) and "role" in inner)


def read(source: Source) -> Iterator[Record]:
    """Yield one record a conversation."""
    return read_parts(source, _build, split_runs(_is_message))


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and isinstance(first.get("output"), dict) and isinstance(first.get("stopReason"), str):
        return True
    messages = [_unwrapped(item) for item in messages_in(first)]
    if isinstance(first, list) and first and isinstance(first[0], dict) and "message" in first[0]:
        messages = [_unwrapped(item) for item in first]
    return any(_KEYS & set(block) for block in blocks_in(messages))


FORMAT = Format(
    name="strands",
    description="Strands Agents messages and sessions, Bedrock Converse requests and responses",
    looked_for='content with "toolUse" or "toolResult"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

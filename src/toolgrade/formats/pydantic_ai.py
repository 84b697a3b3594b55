"""pydantic-ai message histories: `ModelMessagesTypeAdapter` dumps, alone or under `messages`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.conversation import build, messages_in, split_runs
from toolgrade.formats.format import Format
from toolgrade.formats.reading import read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") in ("request", "response") and "parts" in value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a history."""
    return read_parts(source, build, split_runs(_is_message))


FORMAT = Format(
    name="pydantic-ai",
    description="pydantic-ai message histories",
    looked_for='messages with "kind": "request" or "response" and "parts"',
    detect=lambda source: any(map(_is_message, messages_in(source.first))),
    read=read,
)

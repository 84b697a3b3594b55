"""Gemini contents: requests, responses, both together, and lists of contents with functionCall and functionResponse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.conversation import blocks_in, build, messages_in, split_runs
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by
from toolgrade.formats.reading import read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_PARTS = {"text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "fileData"}


def _is_content(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("parts"), list) and "kind" not in value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a list of contents, request or response."""
    return read_parts(source, build, split_runs(_is_content))


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and isinstance(first.get("response"), dict) and "candidates" in first["response"]:
        return True
    if isinstance(first, dict) and isinstance(first.get("candidates"), list):
        return True
    messages = messages_in(first)
    return any(map(_is_content, messages)) and any(
        _PARTS & set(part) and "type" not in part for part in blocks_in(messages, "parts")
    )


FORMAT = Format(
    name="gemini",
    description="Gemini contents, generateContent requests and responses",
    looked_for='"contents" or "candidates" with "parts"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

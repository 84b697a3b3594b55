"""Any JSON value as plain text that a judge can read and quote literally.

JSON text would escape quotes and line breaks, so that nothing copied from a conversation occurs in it
literally. Here a text that needs no escape stands in quotes, and any other as an indented block: a line
inside a text is always deeper than the name it belongs to, so no text can pass for a field of its own.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

from toolgrade.judges.fence import cut

LEAST_SHARE = 200
"""Characters that an entry keeps, however many there are."""

_LISTS = (list, tuple)
_NESTED = (dict, list, tuple)
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_.$\-]*")


def plain(value: Any) -> str:
    """Return `value` as indented plain text; a bare text stays as it is."""
    if isinstance(value, str):
        return value
    return "\n".join(_lines(value))


def fair(values: Any, limit: int) -> str:
    """Return a list like `plain`, but where it is longer than `limit` characters cut each entry to a fair share.

    Short entries stay whole, long ones share what is left: one huge result does not hide the others.
    """
    if not isinstance(values, list | tuple):
        return plain(values)
    entries = [plain([value]) for value in values]
    if sum(len(entry) + 1 for entry in entries) <= limit:
        return "\n".join(entries)
    share, left = limit, limit - len(entries)
    for done, size in enumerate(sorted(len(entry) for entry in entries)):
        share = max(left // (len(entries) - done), LEAST_SHARE)
        if size > share:
            break
        left -= size
    return "\n".join(cut(entry, share) for entry in entries)


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        return [line for key, item in value.items() for line in _entry(_head(str(key)), item)]
    if isinstance(value, _LISTS) and value:
        return [line for item in value for line in _entry("-", item)]
    return [_scalar(value)]


def _entry(head: str, value: Any) -> list[str]:
    if isinstance(value, str):
        line = encode_basestring(value)
        if _needs_block(value, line):
            return [f"{head} |", *(f"    {line}" for line in value.splitlines())]
        return [f"{head} {line}"]
    if isinstance(value, _NESTED) and value:
        inner = _lines(value)
        if head == "-":
            return [f"- {inner[0]}", *[f"  {line}" for line in inner[1:]]]
        return [head, *[f"  {line}" for line in inner]]
    return [f"{head} {_scalar(value)}"]


def _scalar(value: Any) -> str:
    return encode_basestring(value) if isinstance(value, str) else _encode(value)


def _needs_block(text: str, line: str) -> bool:
    """Return whether the JSON text `line` of `text` has an escape, or would be read as several lines."""
    return len(line) != len(text) + 2 or (not text.isascii() and len(f"{text}.".splitlines()) > 1)


@lru_cache(maxsize=1024)
def _head(key: str) -> str:
    return f"{key if _NAME.fullmatch(key) else json.dumps(key)}:"

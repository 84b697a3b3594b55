"""What JSON values are made of: numbers in texts, tables by column, things named by their keys."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from toolgrade.core.trace import ToolResult
from toolgrade.core.view import CallView, payload
from toolgrade.gates.utilization.texts import structured

_HUGE = 1e100
_NUMBERS = (int, float)
_NUMERIC = re.compile(
    r"\s*(?:(?P<cur>US\$|[$€£¥₹]|USD|EUR|GBP)\s?)?(?P<num>[-−]?\d+(?:,\d{3})*(?:\.\d+)?)\s?(?P<post>%|USD|EUR|GBP|€)?\s*"
)

NESTED = (dict, list)
"""What JSON values nest; a tuple, since building a union type for every value takes longer than the test."""


def content(call: CallView) -> Any:
    """Return a payload with the structure that its texts hold: JSON, a table, named lines."""
    assert call.result is not None  # noqa: S101
    held = payload(call.result)
    if isinstance(held, str):
        return structured(held)
    if isinstance(held, list) and held and all(isinstance(x, dict) and x.get("type") == "text" for x in held):
        return [{**part, "text": _read(part.get("text"))} for part in held]
    return held


def _read(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    read = payload(ToolResult(content=text))
    return structured(read) if isinstance(read, str) else read


def quantity(value: Any) -> float | None:
    """Return the number that a payload value is or holds as text (`"$45.00"`, `"15%"`, `"1,234"`)."""
    if isinstance(value, str):
        found = _NUMERIC.fullmatch(value) if len(value) < 40 else None
        return float(found["num"].replace(",", "").replace("−", "-")) if found else None
    if isinstance(value, _NUMBERS) and not isinstance(value, bool):
        return float(value) if abs(value) < _HUGE else None
    return None


def escape(key: str) -> str:
    """Return one token of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def columns(value: dict[str, Any]) -> list[str] | None:
    """Return the columns where an object is a table written column by column, as data frames export it."""
    if len(value) < 2:
        return None
    items = iter(value.values())
    first = next(items)
    if isinstance(first, dict):
        keys = first.keys()
        if not keys or not all(key.isdigit() for key in keys):
            return None
        if all(isinstance(item, dict) and item.keys() == keys for item in items) and not _nested(first.values()):
            return list(value)
    elif isinstance(first, list) and len(first) > 1 and not _nested(first):
        size = len(first)
        if all(isinstance(item, list) and len(item) == size and not _nested(item) for item in items):
            return list(value)
    return None


def _nested(items: Any) -> bool:
    return any(isinstance(item, NESTED) for item in items)


def alike(value: dict[str, Any]) -> frozenset[str]:
    """Return the keys of sibling objects with the same fields that stand for things, each named by its key.

    Groups of mere numbers (`prices` and `seats` by class) are fields, unless their keys hold digits.
    """
    objects = [(key, item) for key, item in value.items() if isinstance(item, dict) and item]
    if len(objects) < 2:
        return frozenset()
    shapes: dict[frozenset[str], list[str]] = defaultdict(list)
    for key, item in objects:
        shapes[frozenset(item)].append(key)
    out: set[str] = set()
    for keys in shapes.values():
        named = any(isinstance(inner, str) for inner in value[keys[0]].values())
        if len(keys) > 1 and (named or any(any(c.isdigit() for c in key) for key in keys)):
            out.update(keys)
    if len(objects) == len(value) > 1 and any(any(c.isdigit() for c in key) for key in value):
        out.update(value)
    return frozenset(out)

"""Reading fields of foreign JSON: each accessor returns the wanted type or says what stands there instead."""

from __future__ import annotations

import json
from typing import Any

from toolgrade.formats.record import Malformed

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}


def describe(value: Any) -> str:
    """Return a short description of a JSON value for messages: its kind, and its beginning."""
    if value is None:
        return "null"
    kind = _KINDS.get(type(value), type(value).__name__)
    if isinstance(value, dict):
        keys = ", ".join(sorted(map(str, value))[:6])
        return f"an object with {keys}"[:120] if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=False)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"


def as_object(value: Any, field: str) -> dict[str, Any]:
    """Return `value` as an object, or raise `Malformed` naming `field`."""
    if isinstance(value, dict):
        return value
    raise Malformed(field, describe(value), "an object")


def as_list(value: Any, field: str) -> list[Any]:
    """Return `value` as a list, or raise `Malformed` naming `field`."""
    if isinstance(value, list):
        return value
    raise Malformed(field, describe(value), "a list")


def as_text(value: Any, field: str) -> str:
    """Return `value` as non-empty text, or raise `Malformed` naming `field`."""
    if isinstance(value, str) and value:
        return value
    raise Malformed(field, describe(value), "non-empty text")


def opt_object(value: Any, field: str) -> dict[str, Any]:
    """Return `value` as an object; null and absent give `{}`."""
    return {} if value is None else as_object(value, field)


def opt_list(value: Any, field: str) -> list[Any]:
    """Return `value` as a list; null and absent give `[]`."""
    return [] if value is None else as_list(value, field)


def opt_text(value: Any, field: str) -> str | None:
    """Return `value` as text; null and absent give None, numbers their text (identifiers are often numbers)."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise Malformed(field, describe(value), "text")


def opt_number(value: Any) -> float | None:
    """Return `value` as a number; anything else gives None (for measurements, which are never required)."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def opt_int(value: Any) -> int | None:
    """Return `value` as an integer; anything else gives None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None

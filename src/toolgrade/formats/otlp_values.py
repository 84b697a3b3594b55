"""OTLP's values, attributes and times as plain JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from toolgrade.formats.access import as_object, opt_list, opt_object


def seconds(value: Any) -> float | None:
    """Return a time as seconds since 1970: ISO text, or a number (or its text) whose size tells its unit."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 25:
            value = int(value)
        else:
            try:
                moment = datetime.fromisoformat(value)
            except ValueError:
                return None
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    unit = next((unit for limit, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)) if value > limit), 1.0)
    return value / unit


def value_of(value: Any) -> Any:
    """Return an OTLP AnyValue as plain JSON."""
    if not isinstance(value, dict):
        return value
    for key, inner in value.items():
        if key in ("intValue", "int_value"):
            text = str(inner)
            return int(text) if text.removeprefix("-").isdigit() and len(text) < 20 else inner
        if key in ("arrayValue", "array_value"):
            return [value_of(item) for item in opt_list(opt_object(inner, key).get("values"), key)]
        if key in ("kvlistValue", "kvlist_value"):
            return attributes_of(opt_object(inner, key).get("values"), key)
        if key.endswith(("Value", "_value")):
            return inner
    return None


def attributes_of(value: Any, field: str) -> dict[str, Any]:
    """Return attributes by name, from OTLP's list of pairs, Jaeger's tags, or an object (nested or flat)."""
    if isinstance(value, dict):
        nested = {key: item for key, item in value.items() if "." not in key and isinstance(item, dict)}
        flat = {key: item for key, item in value.items() if key not in nested}
        return flat | dict(_flattened(nested, ""))
    found = {}
    for number, item in enumerate(opt_list(value, field)):
        pair = as_object(item, f"{field}[{number}]")
        found[str(pair.get("key"))] = value_of(pair.get("value"))
    return found


def _flattened(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flattened(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _flattened(item, f"{prefix}.{number}")
    else:
        yield prefix, value

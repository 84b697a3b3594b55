"""JSON Schemas as other systems spell them, brought to the standard spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

GEMINI_TYPES: dict[str, str | None] = {
    name.upper(): name for name in ("string", "number", "integer", "boolean", "array", "object", "null")
} | {"TYPE_UNSPECIFIED": None}

_ONE = ("items", "additionalProperties", "not")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")


def rename_types(schema: Any, names: Mapping[str, str | None]) -> Any:
    """Return `schema` with its `type` names replaced at every depth; a name mapped to None is left out."""

    def renamed(one: dict[str, Any]) -> dict[str, Any]:
        kind = one.get("type")
        if not isinstance(kind, str) or kind not in names:
            return one
        rest = {key: value for key, value in one.items() if key != "type"}
        return rest if names[kind] is None else one | {"type": names[kind]}

    return _everywhere(schema, renamed)


def enums_to_items(schema: Any) -> Any:
    """Return `schema` with an `enum` of what no array is moved from an array to its items, at every depth.

    On the array itself it would refuse every value; whoever writes it there means the items.
    """

    def moved(one: dict[str, Any]) -> dict[str, Any]:
        enum = one.get("enum")
        if one.get("type") != "array" or not isinstance(enum, list) or any(isinstance(value, list) for value in enum):
            return one
        items = one.get("items")
        rest = {key: value for key, value in one.items() if key != "enum"}
        return rest | {"items": (items if isinstance(items, dict) else {}) | {"enum": enum}}

    return _everywhere(schema, moved)


def _everywhere(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Apply `change` wherever a schema may stand, and only there: a parameter called `type` stays as it is."""
    if not isinstance(schema, dict):
        return schema
    out = dict(change(schema))
    for key in _ONE:
        if key in out:
            out[key] = _everywhere(out[key], change)
    for key in _MANY:
        if isinstance(out.get(key), list):
            out[key] = [_everywhere(item, change) for item in out[key]]
    for key in _NAMED:
        if isinstance(out.get(key), dict):
            out[key] = {name: _everywhere(item, change) for name, item in out[key].items()}
    return out

"""JSON Schemas as other systems spell them, brought to the standard spelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GEMINI_TYPES: dict[str, str | None] = {
    name.upper(): name for name in ("string", "number", "integer", "boolean", "array", "object", "null")
} | {"TYPE_UNSPECIFIED": None}

_ONE = ("items", "additionalProperties", "not")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")


def rename_types(schema: Any, names: Mapping[str, str | None]) -> Any:
    """Return `schema` with its `type` names replaced at every depth; a name mapped to None is left out.

    Only places where a schema may stand are visited, so a parameter called `type` stays as it is.
    """
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    kind = out.get("type")
    if isinstance(kind, str) and kind in names:
        if names[kind] is None:
            del out["type"]
        else:
            out["type"] = names[kind]
    for key in _ONE:
        if key in out:
            out[key] = rename_types(out[key], names)
    for key in _MANY:
        if isinstance(out.get(key), list):
            out[key] = [rename_types(item, names) for item in out[key]]
    for key in _NAMED:
        if isinstance(out.get(key), dict):
            out[key] = {name: rename_types(item, names) for name, item in out[key].items()}
    return out

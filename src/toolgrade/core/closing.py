"""Close a JSON Schema: make it refuse the properties that it does not name.

`unevaluatedProperties: false` does it, because it sees through `allOf`, `anyOf`, `oneOf`, `if` and `$ref`,
where `additionalProperties: false` would refuse what a sibling names.
"""

from __future__ import annotations

from typing import Any

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OPENING = {"additionalProperties", "unevaluatedProperties"}
_NAMING = {"properties", "patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf"}

# keyword -> how its schemas are held, and whether they apply in place, to the holder's own object
_HOLDERS: dict[str, tuple[type, bool]] = {
    "properties": (dict, False),
    "patternProperties": (dict, False),
    "$defs": (dict, True),  # whoever refers to a definition is its holder
    "definitions": (dict, True),
    "dependentSchemas": (dict, True),
    "allOf": (list, True),
    "anyOf": (list, True),
    "oneOf": (list, True),
    "prefixItems": (list, False),
    "then": (object, True),
    "else": (object, True),
    "items": (object, False),
    "contains": (object, False),
    "additionalProperties": (object, False),
    "unevaluatedItems": (object, False),
    "unevaluatedProperties": (object, False),
}


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy, in draft 2020-12, that refuses properties which the schema does not name, at every depth.

    An object below the top that names no property at all is free-form and stays open; the arguments
    themselves do not: a tool without parameters takes none. An empty schema says nothing and stays as it is.
    """
    if not schema:
        return schema
    copy: dict[str, Any] = _close(schema, in_place=False)
    if not _OPENING & copy.keys():
        copy["unevaluatedProperties"] = False
    return {**copy, "$schema": _DRAFT}


def _close(schema: Any, *, in_place: bool) -> Any:
    if not isinstance(schema, dict):
        return schema
    out = {key: _close_value(key, value) for key, value in _modern(schema).items()}
    if not in_place and _NAMING & out.keys() and not _OPENING & out.keys():
        out["unevaluatedProperties"] = False
    return out


def _close_value(key: str, value: Any) -> Any:
    kind, in_place = _HOLDERS.get(key, (None, False))
    if kind is None:
        return value
    if kind is dict and isinstance(value, dict):
        return {name: _close(child, in_place=in_place) for name, child in value.items()}
    if kind is list and isinstance(value, list):
        return [_close(child, in_place=in_place) for child in value]
    return _close(value, in_place=in_place)


def _modern(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the keywords of older drafts in the form that draft 2020-12 has for them."""
    out = dict(schema)
    if isinstance(out.get("items"), list):
        out["prefixItems"] = out.pop("items")
        if "additionalItems" in out:
            out["items"] = out["additionalItems"]
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        strict = out.pop(exclusive) if isinstance(out.get(exclusive), bool) else False
        if strict and limit in out:
            out[exclusive] = out.pop(limit)
    return out

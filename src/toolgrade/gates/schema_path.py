"""Whether a JSON Schema can hold what a JSONPath selects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.gates.paths import compiled

_UNIONS = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("then", "else")


def lacks(schema: dict[str, Any], path: str) -> str | None:
    """Return the first name in `path` that no value of the schema can have; None where there is none.

    Where the schema says nothing (`{}`, an open object, a recursive descent), everything is possible.

    Raises:
        ConfigError: the text is no JSONPath.
    """
    if not schema:
        return None
    nodes = list(_parts(schema, schema))
    for segment in compiled(path).segments:
        if "Recursive" in type(segment).__name__:
            return None
        below: list[Any] = []
        for selector in segment.selectors:
            name = getattr(selector, "name", None)
            found = [child for node in nodes for child in _children(node, name)]
            if not found:
                return name if isinstance(name, str) else str(selector)
            below += found
        nodes = [part for child in below for part in _parts(child, schema)]
        if any(_says_nothing(node) for node in nodes):
            return None
    return None


def _parts(schema: Any, root: dict[str, Any], seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the schema and everything that applies in its place: referred, combined, conditional."""
    yield schema
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        yield from _parts(_referred(reference, root), root, (*seen, reference))
    for key in _UNIONS:
        for part in schema.get(key, ()):
            yield from _parts(part, root, seen)
    for key in _BRANCHES:
        if key in schema:
            yield from _parts(schema[key], root, seen)


def _referred(reference: str, root: dict[str, Any]) -> Any:
    """Return what a reference within the document means; an open schema for any other."""
    if not reference.startswith("#"):
        return {}
    node: Any = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        node = node.get(key, {}) if isinstance(node, dict) else {}
    return node


def _says_nothing(schema: Any) -> bool:
    """Return whether a schema below the top neither names its parts nor excludes having any."""
    if schema is True or schema == {}:
        return True
    if not isinstance(schema, dict):
        return False
    types = schema.get("type", "object")
    free = "object" in types and not any(key in schema for key in ("properties", "$ref", "enum", *_UNIONS))
    return free or bool(schema.get("additionalProperties"))


def _children(schema: Any, name: Any) -> Iterator[Any]:
    """Yield the schemas of the member `name`, or of every member and item where it is no name."""
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties", {})
    if isinstance(name, str):
        if name in properties:
            yield properties[name]
        elif schema.get("additionalProperties") or schema.get("patternProperties"):
            yield {}
        return
    yield from properties.values()
    items = schema.get("items", {} if "array" in schema.get("type", ()) else None)
    yield from items if isinstance(items, list) else [] if items is None else [items]
    yield from schema.get("prefixItems", ())

"""Pydantic's errors as sentences: field, what was found, what was expected, and the nearest known name."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from toolgrade.errors import suggestion
from toolgrade.formats.access import describe

_EXPECTED = {
    "missing": "it to be there",
    "string_type": "text (write it in quotes)",
    "string_too_short": "non-empty text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "too_short": "at least one item",
}


Location = tuple[int | str, ...]


def problems(error: ValidationError, model: type[BaseModel]) -> list[tuple[Location, str]]:
    """Return each mistake as its location and one sentence: `field: found …, expected ….`"""
    seen: dict[Location, str] = {}
    for item in error.errors(include_url=False):
        loc = tuple(part for part in item["loc"] if not _is_tag(part))
        if item["type"] == "too_short" and item["input"]:
            continue  # items are there, and each wrong one is named by itself
        seen.setdefault(loc, f"{join_path(loc) or 'record'}: {_sentence(item, model, loc)}")
    return list(seen.items())


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return all mistakes as one text."""
    return " ".join(text for _, text in problems(error, model))


def join_path(loc: Location) -> str:
    """Return a location as text: `expected.arguments[0].tool`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _is_tag(part: int | str) -> bool:
    """Whether pydantic put this in the location only to name a member of a union."""
    return isinstance(part, str) and (
        part in ("str", "int", "[key]") or part.startswith(("tuple[", "literal[", "dict["))
    )


def _sentence(item: ErrorDetails, model: type[BaseModel], loc: Location) -> str:
    kind, found = item["type"], item["input"]
    if kind == "extra_forbidden":
        known = sorted(fields_at(model, loc[:-1]))
        near = suggestion(str(loc[-1]), known) or f" Known here: {', '.join(known)}."
        return f"unknown field.{near}"
    if kind == "missing":
        return "is missing. Add it."
    if kind == "value_error":
        told = str(item["ctx"]["error"])
        return told if told.endswith((".", "?")) else f"{told}."
    if kind == "literal_error":
        near = suggestion(found, str(item["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", "))
        return f"found {describe(found)}, expected {item['ctx']['expected']}.{near}"
    said = item["msg"].removeprefix("Input should be ")
    expected = _EXPECTED.get(kind) or said[:1].lower() + said[1:]
    return f"found {describe(found)}, expected {expected}."


def fields_at(model: type[BaseModel], loc: Location) -> set[str]:
    """Return the names of the fields that the model at `loc` below `model` has; empty where it is no model."""
    current: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part)
        current = None if field is None else _model_in(field.annotation)
    fields = current.model_fields.items() if current else ()
    return {field.alias or name for name, field in fields if not field.exclude}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)

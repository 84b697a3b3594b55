"""Pydantic's errors as sentences: field, what was found, what was expected, and the nearest known name."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from toolgrade.errors import suggestion
from toolgrade.formats.access import describe

_EXPECTED = {
    "missing": "it to be there",
    "string_type": "text",
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


def problems(error: ValidationError, model: type[BaseModel], at: str = "") -> list[str]:
    """Return one sentence a mistake: `field: found …, expected ….`; `at` is the path of the model itself."""
    seen: dict[str, str] = {}
    for item in error.errors(include_url=False):
        loc = tuple(part for part in item["loc"] if not _is_tag(part))
        field = join_path(at, loc)
        seen.setdefault(field, f"{field or 'record'}: {_sentence(item, model, loc)}")
    return list(seen.values())


def join_path(at: str, loc: tuple[int | str, ...]) -> str:
    """Return `at` extended by a location, as `expected.arguments[0].tool`."""
    path = at
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _is_tag(part: int | str) -> bool:
    """Whether pydantic put this in the location only to name a member of a union."""
    return isinstance(part, str) and (part in ("str", "int") or part.startswith(("tuple[", "literal[", "dict[")))


def _sentence(item: ErrorDetails, model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    kind, found = item["type"], item["input"]
    if kind == "extra_forbidden":
        known = sorted(fields_at(model, loc[:-1]))
        near = suggestion(str(loc[-1]), known) or f" Known here: {', '.join(known)}."
        return f"unknown field.{near}"
    if kind == "missing":
        return "is missing. Add it."
    if kind == "value_error":
        return str(item["ctx"]["error"]) + "."
    if kind == "literal_error":
        near = suggestion(found, str(item["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", "))
        return f"found {describe(found)}, expected {item['ctx']['expected']}.{near}"
    expected = _EXPECTED.get(kind) or item["msg"][:1].lower() + item["msg"][1:]
    return f"found {describe(found)}, expected {expected}."


def fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> set[str]:
    """Return the names of the fields that the model at `loc` below `model` has; empty where it is no model."""
    current: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part)
        current = None if field is None else _model_in(field.annotation)
    return {field.alias or name for name, field in current.model_fields.items()} if current else set()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)

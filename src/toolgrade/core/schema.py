"""What is wrong with the arguments of one call, by the tool's JSON Schema or the user's pydantic model.

Two validators are compiled from one schema: the schema as written, and a *closed* copy in which every
object that names its properties and is silent about others refuses others (`core.closing`). What only the
closed one refuses is a parameter that the schema does not have. No reference is ever fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonschema_rs

from toolgrade.core.closing import closed
from toolgrade.core.finding import FindingName
from toolgrade.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel


class SchemaError(NamedTuple):
    """One thing that is wrong: `pointer` is a JSON pointer into the arguments, "" for the whole."""

    name: FindingName
    pointer: str
    expected: Any
    actual: Any
    note: str | None = None


class ArgumentSchema:
    """The compiled schema of one tool's arguments.

    An empty schema (`{}`) says nothing and refuses nothing. `defaults` are the defaults of the top
    parameters. Picklable; compiled again on arrival.

    Raises:
        ConfigError: the schema is itself broken; the message names the tool and the reason.
    """

    def __init__(self, tool: str, parameters: dict[str, Any], model: type[BaseModel] | None = None) -> None:
        self.tool, self.parameters, self.model = tool, parameters, model
        named = parameters.get("properties")
        self.defaults: dict[str, Any] = {
            name: schema["default"]
            for name, schema in (named.items() if isinstance(named, dict) else ())
            if isinstance(schema, dict) and "default" in schema
        }
        try:
            # formats are asserted although drafts from 2019 on only annotate: a tool's author who writes one means it
            self._written = jsonschema_rs.validator_for(parameters, validate_formats=True, offline=True)
            self._closed = jsonschema_rs.Draft202012Validator(closed(parameters), validate_formats=True, offline=True)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as problem:
            raise ConfigError(
                f"tool {tool!r}: its parameters are no usable JSON Schema: {_first_line(problem)}; "
                "expected a schema that is valid by itself and refers to nothing outside it"
            ) from problem
        # closing the parts of a oneOf, not or if can turn a refusal into an acceptance
        self._ask_both = _mentions(parameters, {"oneOf", "not", "if"})

    def __reduce__(self) -> tuple[type[ArgumentSchema], tuple[Any, ...]]:
        return ArgumentSchema, (self.tool, self.parameters, self.model)

    def errors(self, arguments: dict[str, Any]) -> list[SchemaError]:
        """Return everything that is wrong with `arguments`, in a stable order; empty where they are fine."""
        try:
            if self._closed.is_valid(arguments) and self.model is None and not self._ask_both:
                return []
            return self._collect(arguments)
        except ValueError as problem:  # lone surrogates, keys that are no strings, nesting without end
            return [SchemaError("malformed_json", "", "JSON text in valid Unicode", None, _first_line(problem))]

    def _collect(self, arguments: dict[str, Any]) -> list[SchemaError]:
        if self.model is not None:
            found = list(_model_errors(self.model, arguments))
        else:
            found = list(_translated(self._written.iter_errors(arguments)))
        broken = {error.pointer for error in found}
        found += [error for error in _undeclared(self._closed.iter_errors(arguments)) if error.pointer not in broken]
        return list({(error.name, error.pointer): error for error in found}.values())


def pointer(path: Iterable[str | int]) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _mentions(schema: Any, words: set[str]) -> bool:
    if isinstance(schema, dict):
        return any(key in words or _mentions(value, words) for key, value in schema.items())
    return isinstance(schema, list) and any(_mentions(item, words) for item in schema)


def _undeclared(errors: Iterable[Any]) -> Iterator[SchemaError]:
    """Yield the parameters that only the closed schema refuses, also those inside the branch of a union."""
    errors = list(errors)
    unions = {tuple(error.instance_path) for error in errors if error.kind.name in ("anyOf", "oneOf")}
    for error in errors:
        kind = error.kind.name
        if kind in ("anyOf", "oneOf"):
            for branch in getattr(error.kind, "context", ()):
                if all(item.kind.name in ("unevaluatedProperties", "anyOf", "oneOf") for item in branch):
                    yield from _undeclared(branch)
                    break
        # where no branch of a union holds, the names it declares count as unevaluated too
        elif kind == "unevaluatedProperties" and tuple(error.instance_path) not in unions:
            yield from _translate(error)


_RANGE_LIMITS = {
    "enum": "options",
    "const": "expected_value",
    "format": "format",
    "pattern": "pattern",
    "multipleOf": "multiple_of",
}


def _translated(errors: Iterable[Any]) -> Iterator[SchemaError]:
    for error in errors:
        yield from _translate(error)


def _translate(error: Any) -> Iterator[SchemaError]:
    kind, path = error.kind, list(error.instance_path)
    where, name = pointer(path), kind.name
    if name == "required":
        yield SchemaError("missing_required", where + pointer([kind.property]), "a value", None)
    elif name == "type":
        yield SchemaError("type_mismatch", where, " or ".join(sorted(kind.types)), error.instance)
    elif name in ("additionalProperties", "unevaluatedProperties"):
        for extra in kind.unexpected:
            yield SchemaError("hallucinated_parameter", where + pointer([extra]), None, error.instance[extra])
    elif name == "falseSchema":
        yield SchemaError("hallucinated_parameter", where, None, error.instance)
    elif name in ("anyOf", "oneOf") and hasattr(kind, "context"):
        yield from _union(error)
    else:
        limit = getattr(kind, _RANGE_LIMITS.get(name, "limit"), None)
        yield SchemaError("out_of_range", where, {name: limit} if limit is not None else name, error.instance)


def _union(error: Any) -> Iterator[SchemaError]:
    """Explain a union by the branch that the value came nearest to; by its types where it fits none."""
    where = list(error.instance_path)
    types: set[str] = set()
    for branch in error.kind.context:
        wrong = [item for item in branch if item.kind.name == "type" and list(item.instance_path) == where]
        types.update(name for item in wrong for name in item.kind.types)
        if branch and not wrong:
            yield from _translated(branch)
            return
    if types:
        yield SchemaError("type_mismatch", pointer(where), " or ".join(sorted(types)), error.instance)
    else:
        yield SchemaError("out_of_range", pointer(where), f"exactly one branch of {error.kind.name}", error.instance)


def _model_errors(model: type[BaseModel], arguments: dict[str, Any]) -> Iterator[SchemaError]:
    from pydantic import ValidationError

    try:
        model.model_validate(arguments)
    except ValidationError as problem:
        for error in problem.errors(include_url=False, include_context=False):
            where = pointer(_real_path(error["loc"], arguments))
            kind = error["type"]
            if kind == "missing":
                yield SchemaError("missing_required", where, "a value", None)
            elif kind == "extra_forbidden":
                yield SchemaError("hallucinated_parameter", where, None, error["input"])
            elif kind.endswith(("_type", "_parsing", "_attributes_type")):
                yield SchemaError("type_mismatch", where, error["msg"], error["input"])
            else:
                yield SchemaError("out_of_range", where, error["msg"], error["input"])


def _real_path(loc: tuple[str | int, ...], arguments: Any) -> list[str | int]:
    """Return the part of pydantic's location that lies in the data: it also names branches of unions."""
    path: list[str | int] = []
    node = arguments
    for number, part in enumerate(loc):
        in_list = isinstance(node, list) and isinstance(part, int) and part < len(node)
        if in_list or (isinstance(node, dict) and part in node):
            node = node[part]
        elif not (isinstance(node, dict) and number == len(loc) - 1):
            continue
        path.append(part)
    return path


def _first_line(problem: BaseException) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]

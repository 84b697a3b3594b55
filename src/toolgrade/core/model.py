"""The base of every value that toolgrade passes around, and how a value is made that needs no validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)


_Fields = ParamSpec("_Fields")
_Model = TypeVar("_Model", bound=Frozen)
_set = object.__setattr__


def construct(model: Callable[_Fields, _Model], /, *_: _Fields.args, **values: _Fields.kwargs) -> _Model:
    """Return `model(**values)` without validation, in half the time: for results, made from what was just computed.

    The type checker holds the values to the model's fields; what comes from outside is validated instead.
    Differs from pydantic's `model_construct` in that, and in its speed.
    """
    cls, defaults, factories, names = _shape(model)
    one: _Model = object.__new__(cls)
    fields = {**defaults, **values}
    for name, factory in factories:
        if name not in values:
            fields[name] = factory()
    _set(one, "__dict__", fields)
    _set(one, "__pydantic_fields_set__", names)
    _set(one, "__pydantic_extra__", None)
    _set(one, "__pydantic_private__", None)
    return one


class _Shape(NamedTuple):
    """What all values of a model share: `defaults` holds every field, in order."""

    model: type[Any]
    defaults: dict[str, Any]
    factories: tuple[tuple[str, Callable[..., Any]], ...]
    names: set[str]


@lru_cache
def _shape(model: type[Frozen]) -> _Shape:
    fields = model.model_fields
    factories = tuple((name, field.default_factory) for name, field in fields.items() if field.default_factory)
    return _Shape(model, {name: field.default for name, field in fields.items()}, factories, set(fields))

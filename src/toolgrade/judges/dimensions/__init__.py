"""The dimensions: one small module each, found by its name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from toolgrade.errors import ConfigError, suggestion

if TYPE_CHECKING:
    from toolgrade.judges.dimension import Dimension


def names() -> tuple[str, ...]:
    """Return the names of all dimensions, sorted."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def dimension(name: str) -> Dimension:
    """Return one dimension by name.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in names():
        raise ConfigError(f"no judge dimension {name!r}; there are {', '.join(names())}.{suggestion(name, names())}")
    found: Dimension = import_module(f"{__name__}.{name}").DIMENSION
    return found

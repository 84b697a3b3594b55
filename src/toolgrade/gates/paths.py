"""JSONPath (RFC 9535), as cases write it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolgrade.errors import ConfigError

if TYPE_CHECKING:
    from jsonpath import JSONPath, JSONPathEnvironment


Location = tuple[str | int, ...]
"""Names and indices from the root of a JSON value to one place in it."""


@lru_cache(maxsize=1)
def _environment() -> JSONPathEnvironment:
    from jsonpath import JSONPathEnvironment

    environment = JSONPathEnvironment(strict=True)
    environment.max_recursion_depth = 250  # readers let through 200 levels
    return environment


@lru_cache(maxsize=2048)
def compiled(path: str) -> JSONPath:
    """Return the compiled path.

    Raises:
        ConfigError: the text is no RFC 9535 JSONPath; the message says where it breaks.
    """
    from jsonpath import JSONPathError

    try:
        query = _environment().compile(path)
    except JSONPathError as problem:
        reason = str(problem).splitlines()[0]
        raise ConfigError(
            f"{path!r} is no JSONPath (RFC 9535): {reason}; expected one like $.flights[*].date"
        ) from None
    return query  # type: ignore[return-value]


@lru_cache(maxsize=2048)
def singular(path: str) -> Location | None:
    """Return the names and indices of a singular query (RFC 9535 §2.3.5.1), which selects one node at most.

    None where the path can select several, or counts from the end of an array.

    Raises:
        ConfigError: the text is no RFC 9535 JSONPath.
    """
    query = compiled(path)
    if not query.singular_query():
        return None
    selectors: list[Any] = [segment.selectors[0] for segment in query.segments]
    steps = tuple(selector.name if hasattr(selector, "name") else selector.index for selector in selectors)
    return None if any(isinstance(step, int) and step < 0 for step in steps) else steps


def select(path: str, document: Any) -> dict[Location, Any]:
    """Return the nodes that `path` selects, as location -> value, in document order."""
    steps = singular(path)
    if steps is None:
        return {match.parts: match.value for match in compiled(path).finditer(document)}
    node = document
    for step in steps:  # most paths are such, and need no more than this
        if isinstance(step, str):
            if not isinstance(node, dict) or step not in node:
                return {}
        elif not isinstance(node, (list, tuple)) or step >= len(node):
            return {}
        node = node[step]
    return {steps: node}

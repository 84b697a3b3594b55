"""JSONPath (RFC 9535), as cases write it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolgrade.errors import ConfigError

if TYPE_CHECKING:
    from jsonpath import JSONPath, JSONPathEnvironment


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


def select(path: str, document: Any) -> dict[tuple[str | int, ...], Any]:
    """Return the nodes that `path` selects, as location -> value, in document order."""
    return {match.parts: match.value for match in compiled(path).finditer(document)}

"""Jinja2 in a sandbox: templates read values, change nothing, and cannot grow without bound."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_OUTPUT = 400_000
"""Characters that one template may give: about 100,000 tokens."""

FILTERS = ("default", "first", "join", "last", "length", "list", "lower", "tojson", "trim", "upper")
METHODS = ("items", "keys", "values")
"""What a prompt template may use; the others can fill the memory before any limit on the output sees it."""


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            raise SecurityError(f"the operator {operator} is not allowed in a prompt template")

        def getattr(self, obj: Any, attribute: str) -> Any:
            # A field of one of our values is data: the sandbox's long way round is for everything else.
            if isinstance(obj, Frozen) and attribute in obj.__dict__:
                return obj.__dict__[attribute]
            return super().getattr(obj, attribute)

        def is_safe_callable(self, obj: Any) -> bool:
            return getattr(obj, "__name__", None) in METHODS and super().is_safe_callable(obj)

    made = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters = {name: made.filters[name] for name in FILTERS}
    return made


@lru_cache(maxsize=64)
def _template(source: str) -> Template:
    return _environment().from_string(source)


def render(source: str, values: Mapping[str, Any], *, place: str) -> str:
    """Return the template `source` filled with `values`, which are data and never read as a template.

    Raises:
        ConfigError: the template is wrong (syntax, an unknown name, a forbidden operation) or its output
            is longer than `MAX_OUTPUT`; `place` names the file.
    """
    from jinja2 import TemplateError

    parts: list[str] = []
    size = 0
    try:
        for part in _template(source).generate(**values):
            size += len(part)
            if size > MAX_OUTPUT:
                raise ConfigError(f"{place}: the prompt is longer than {MAX_OUTPUT} characters; lower max_chars")
            parts.append(part)
    except (TemplateError, TypeError, OverflowError) as error:
        line = getattr(error, "lineno", None)
        where = f"{place}:{line}" if line else place
        raise ConfigError(f"{where}: the prompt template cannot be rendered: {error}") from error
    return "".join(parts)

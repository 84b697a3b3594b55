"""Values that a framework printed as Python instead of JSON: parsed as literals, never run."""

from __future__ import annotations

import ast
import warnings
from typing import Any

_MAX = 100_000
_BROKEN = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def printed_value(text: str) -> Any:
    """Return the mapping or list that Python printed as `text`, or `text` itself where it is none."""
    if len(text) > _MAX:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that Python does not know are no concern here
            return ast.literal_eval(text)
    except _BROKEN:
        return text


def printed_fields(text: str) -> dict[str, Any] | None:
    """Return the literal keyword values in `Name(a='x', b=1)`; None where `text` is no such thing."""
    if len(text) > _MAX:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(text, mode="eval").body
    except _BROKEN:
        return None
    if not isinstance(node, ast.Call):
        return None
    return {item.arg: item.value.value for item in node.keywords if item.arg and isinstance(item.value, ast.Constant)}

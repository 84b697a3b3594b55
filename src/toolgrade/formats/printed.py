"""Values that a framework printed as Python instead of JSON: parsed as literals, never run."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

from pydantic_core import from_json

_MAX = 100_000
_BROKEN = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def printed_value(text: str) -> Any:
    """Return the JSON value that Python printed as `text`, or `text` itself where it is none."""
    if len(text) > _MAX:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that Python does not know are no concern here
            value = ast.literal_eval(text)
        return from_json(json.dumps(value, ensure_ascii=False).encode(), allow_inf_nan=False)
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

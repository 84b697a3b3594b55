"""The payload inside the envelopes that tool protocols put around it."""

from __future__ import annotations

import ast
import re
from typing import Any

from toolgrade.core.view import decoded

_REPR = re.compile(r"^(?:meta=\S{1,20} )?content=\[TextContent\(type='text', text=(?=['\"])")
_LIMIT = 2_000_000


def unwrap(content: Any, depth: int = 4) -> Any:
    """Return what an MCP result carries: the text of its content parts, decoded where it is JSON.

    Understands `{"content": [{"type": "text", "text": ...}], "isError": ...}`, a bare list of such parts, and
    the Python representation of an MCP result that some recorders write. A set error flag stays: the envelope
    is then returned as it is, with its text under `message`. Anything else is returned unchanged.
    """
    if depth == 0:
        return content
    if isinstance(content, str):
        inner = _from_repr(content)
        return content if inner is None else unwrap(decoded(inner), depth - 1)
    parts = content.get("content") if isinstance(content, dict) else content
    text = _text_of(parts)
    if text is None:
        return content
    if isinstance(content, dict) and (content.get("isError") is True or content.get("is_error") is True):
        return {"isError": True, "message": text}
    return unwrap(decoded(text), depth - 1)


def _text_of(parts: Any) -> str | None:
    if not isinstance(parts, list) or not parts:
        return None
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    if len(texts) != len(parts) or not all(isinstance(text, str) for text in texts):
        return None
    return "\n".join(text for text in texts if text is not None)


def _from_repr(text: str) -> str | None:
    """Return the string literal inside the representation; a literal is read, nothing is evaluated."""
    found = _REPR.match(text)
    end = max(text.rfind(", annotations="), 0) if found else 0
    if found is None or end <= found.end() or end > _LIMIT:
        return None
    first = text.find(", annotations=None), TextContent(")
    try:
        value = ast.literal_eval(text[found.end() : first if first > 0 else end])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None

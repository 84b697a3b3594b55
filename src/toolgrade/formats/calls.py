"""Tool calls, texts and counts as foreign formats write them, brought into toolgrade's own values."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json

from toolgrade.core.trace import ToolCall, Usage, is_finite
from toolgrade.formats.access import as_text, describe, opt_int, opt_text

_GIVEN: tuple[str, ...] = (
    "input_tokens",
    "prompt_tokens",
    "promptTokens",
    "inputTokens",
    "prompt_token_count",
    "promptTokenCount",
)
_GIVEN += ("request_tokens",)
_MADE: tuple[str, ...] = (
    "output_tokens",
    "completion_tokens",
    "completionTokens",
    "outputTokens",
    "candidates_token_count",
)
_MADE += ("candidatesTokenCount", "response_tokens")


def read_call(name: Any, arguments: Any, call_id: Any = None, field: str = "tool_calls") -> ToolCall:
    """Return a call from a name and arguments given as JSON text, an object, or nothing.

    Absent, null and blank arguments are `{}`. What is no JSON object becomes a call with `arguments` None,
    the recorded text in `arguments_raw` and the reason in `parse_error`: a finding later, not a lost record.

    Raises:
        Malformed: the name is no text; `field` is the place named.
    """
    values, raw, problem = parse_arguments(arguments)
    return ToolCall(
        name=as_text(name, f"{field}.name"),
        id=opt_text(call_id, f"{field}.id"),
        arguments=values,
        arguments_raw=raw,
        parse_error=problem,
    )


def parse_arguments(arguments: Any) -> tuple[dict[str, Any] | None, str | None, str | None]:
    """Return `(arguments, raw text, parse error)`; the last two are None where the arguments were an object."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, None, None
    value = arguments
    if isinstance(arguments, str):
        try:
            value = from_json(arguments, allow_inf_nan=False)
        except ValueError as error:
            return None, arguments, f"not JSON: {error}"
        if value is None:
            return {}, None, None
    if not isinstance(value, dict):
        return None, _raw(arguments), f"found {describe(value)}, expected an object"
    if not is_finite(value):
        return None, _raw(arguments), "holds a number that is not finite, which JSON does not have"
    return value, None, None


def _raw(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def read_text(content: Any) -> str | None:
    """Return message content as text: text itself, the text parts of a list joined, else None where there is none.

    A part that is no text leaves its kind in brackets (`[image_url]`), so that its place stays visible.
    """
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [text for part in content if (text := _part_text(part)) is not None]
        return "\n".join(parts) if parts else None
    return _part_text(content)


def _part_text(part: Any) -> str | None:
    if part is None or isinstance(part, str):
        return part
    if isinstance(part, dict):
        for key in ("text", "content", "refusal", "output_text"):
            if isinstance(part.get(key), str):
                return str(part[key])
        return f"[{part['type']}]" if isinstance(part.get("type"), str) else json.dumps(part, ensure_ascii=False)
    return json.dumps(part, ensure_ascii=False)


def read_usage(usage: Any) -> Usage | None:
    """Return token counts under any of the usual names; None where there are none."""
    if not isinstance(usage, dict):
        return None

    def first(*names: str) -> int | None:
        return next((found for name in names if (found := opt_int(usage.get(name))) is not None), None)

    given = first(*_GIVEN)
    made = first(*_MADE)
    return None if given is None and made is None else Usage(input_tokens=given, output_tokens=made)

"""OpenAI chat completions as the API answers them: responses, streamed chunks, and requests with their responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Trace
from toolgrade.formats.access import as_object, opt_list, opt_object
from toolgrade.formats.conversation import Session, build, split_runs
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source


def assembled(chunks: list[Any]) -> dict[str, Any]:
    """Return the response that streamed chunks add up to; of several choices, the first."""
    out: dict[str, Any] = {}
    content = ""
    calls: dict[str, dict[str, Any]] = {}
    for number, value in enumerate(chunks):
        chunk = as_object(value, f"[{number}]")
        out |= {key: item for key, item in chunk.items() if key != "choices" and item is not None}
        for choice in opt_list(chunk.get("choices"), f"[{number}].choices"):
            delta = opt_object(as_object(choice, f"[{number}].choices").get("delta"), f"[{number}].delta")
            if choice.get("index", 0) != 0:
                continue
            content += delta["content"] if isinstance(delta.get("content"), str) else ""
            for place, item in enumerate(opt_list(delta.get("tool_calls"), f"[{number}].tool_calls")):
                _add_call(calls, as_object(item, f"[{number}].tool_calls[{place}]"), place)
    message = {"role": "assistant", "content": content or None, "tool_calls": list(calls.values())}
    return {**out, "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def _add_call(calls: dict[str, dict[str, Any]], piece: dict[str, Any], place: int) -> None:
    call = calls.setdefault(str(piece.get("index", place)), {"id": None, "function": {"name": None, "arguments": ""}})
    function = opt_object(piece.get("function"), "function")
    call["id"] = call["id"] or piece.get("id")
    call["function"]["name"] = call["function"]["name"] or function.get("name")
    if isinstance(function.get("arguments"), str):
        call["function"]["arguments"] += function["arguments"]


def _build(part: Part) -> Trace:
    chunks = isinstance(part.value, list) and bool(part.value)
    value = assembled(part.value) if chunks else part.value
    return build(part._replace(value=value))


def is_completion(value: Any) -> bool:
    """Whether `value` is a response, or a request together with its response."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("response"), dict) and isinstance(value.get("request"), dict):
        return is_completion(value["response"])
    return isinstance(value.get("choices"), list) and "messages" not in value


def is_chunk(value: Any) -> bool:
    """Whether `value` is a piece of a streamed response."""
    return isinstance(value, dict) and value.get("object") == "chat.completion.chunk"


def read(source: Source) -> Iterator[Record]:
    """Yield one record a response."""
    if source.layout == "lines" and is_chunk(source.first):
        return read_parts(Session(source.path), _build)
    return read_parts(source, _build, split_runs(is_chunk))


def _detect(source: Source) -> bool:
    first = source.first_object
    return is_completion(first) or is_chunk(first)


FORMAT = Format(
    name="openai-completions",
    description="OpenAI chat completion responses, streamed chunks, requests together with their responses",
    looked_for='"choices"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

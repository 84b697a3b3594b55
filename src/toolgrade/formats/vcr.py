"""VCR cassettes: recorded HTTP exchanges with model providers, read as the conversation that they carried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Message, Trace
from toolgrade.formats import anthropic, openai_completions
from toolgrade.formats.access import as_list, as_object, opt_object
from toolgrade.formats.calls import read_usage
from toolgrade.formats.format import Format
from toolgrade.formats.messages import interpret
from toolgrade.formats.offered import offered_by, offered_tools
from toolgrade.formats.parts import fold
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source, parse_json
from toolgrade.formats.spans import Span, build_trace
from toolgrade.formats.yaml_source import YamlSource


def _body(message: dict[str, Any]) -> Any:
    """Return the JSON of a request or response, as recorded or parsed; of a streamed one, what it added up to."""
    parsed = message.get("parsed_body")
    if parsed is not None:
        return parsed
    body = message.get("body")
    text = body.get("string") if isinstance(body, dict) else body
    if not isinstance(text, str):
        return None
    if text.lstrip().startswith(("data:", "event:")):
        return _streamed(text)
    try:
        return parse_json(text)
    except ValueError:
        return None


def _streamed(text: str) -> Any:
    events: list[Any] = []
    for line in text.splitlines():
        if line.startswith("data:") and line != "data: [DONE]":
            try:
                events.append(parse_json(line.removeprefix("data:").strip()))
            except ValueError:
                continue
    if events and openai_completions.is_chunk(events[0]):
        return openai_completions.assembled(events)
    if events and isinstance(events[0], dict) and events[0].get("type") == "message_start":
        return {key: value for key, value in anthropic.assembled(events).items() if key != "type"}
    ended = [
        event["response"] for event in events if isinstance(event, dict) and isinstance(event.get("response"), dict)
    ]
    return ended[-1] if ended else None


def _build(part: Part) -> Trace:
    spans: list[Span] = []
    for number, value in enumerate(as_list(as_object(part.value, "").get("interactions"), "interactions")):
        field = f"interactions[{number}]"
        exchange = as_object(value, field)
        request = _body(opt_object(exchange.get("request"), f"{field}.request"))
        response = _body(opt_object(exchange.get("response"), f"{field}.response"))
        asked, answered = _asked(request), interpret(response, "assistant") or []
        if (asked or answered) and isinstance(request, dict):
            spans.append(_span(number, request, response, asked, answered))
    if not spans:
        raise Malformed("interactions", "no exchange with a model", "requests and responses of a model provider")
    return build_trace(spans, part.default_id)


def _asked(request: Any) -> list[Message]:
    if not isinstance(request, dict):
        return []
    given = request.get("input")
    if isinstance(given, str):
        system = request.get("instructions")
        return [*(fold("system", [system]) if isinstance(system, str) else []), *fold("user", [given])]
    if isinstance(given, list):
        return interpret({"messages": given, "instructions": request.get("instructions")}, "user") or []
    return interpret(request, "user") or []


def _span(number: int, request: dict[str, Any], response: Any, asked: list[Message], answered: list[Message]) -> Span:
    found = response if isinstance(response, dict) else {}
    model = found.get("model", found.get("modelVersion", request.get("model")))
    return Span(
        id=str(number),
        name="exchange",
        kind="llm",
        start=float(number + 1),
        inputs=tuple(asked),
        outputs=tuple(answered),
        usage=read_usage(found.get("usage", found.get("usageMetadata"))),
        model=model if isinstance(model, str) else None,
        tools=offered_tools(request.get("tools")),
    )


def read(source: Source) -> Iterator[Record]:
    """Yield one record for the cassette."""
    return read_parts(YamlSource(source.path), _build)


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict):
        return isinstance(first.get("interactions"), list)
    head = source.head
    return head.startswith(b"interactions:") or b"\ninteractions:" in head[:2000]


FORMAT = Format(
    name="vcr",
    description="VCR cassettes of exchanges with OpenAI, Anthropic or Gemini",
    looked_for='"interactions" with requests and responses',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

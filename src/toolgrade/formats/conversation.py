"""What the formats that are lists of messages share: a run as a list, in an object, or as request and response."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolgrade.core.trace import Message, Trace
from toolgrade.formats.access import as_object, describe, opt_int, opt_object, opt_text
from toolgrade.formats.calls import read_usage
from toolgrade.formats.messages import instructions, interpret, read_messages
from toolgrade.formats.offered import offered_tools
from toolgrade.formats.reading import Part
from toolgrade.formats.record import Malformed
from toolgrade.formats.source import Document, Source, digest

_LISTS = ("messages", "contents", "history", "conversation", "all_messages")
_READ = {
    "id",
    "case_id",
    "trial",
    "model",
    "usage",
    "usage_metadata",
    "metadata",
    "tools",
    "functions",
    "toolConfig",
    "system",
}
_READ |= {"system_instruction", "systemInstruction", "instructions", "role", "content", "type", *_LISTS}


def build(part: Part) -> Trace:
    """Return the trace of one run: a list of messages, an object around one, one message, or request and response.

    Raises:
        Malformed: there is no message in it, or one is wrong.
    """
    value = part.value
    if isinstance(value, list):
        return Trace(id=part.default_id, messages=said(read_messages(value, ""), ""))
    item = as_object(value, "")
    if isinstance(item.get("request"), dict) and isinstance(item.get("response"), dict):
        asked, answered = item["request"], item["response"]
        messages = [*_messages(asked, "request"), *_messages(answered, "response")]
        rest = {key: value for key, value in item.items() if key not in ("request", "response")}
        return trace_of({**asked, **answered, **rest}, messages, part.default_id)
    return trace_of(item, _messages(item, ""), part.default_id)


def _messages(item: dict[str, Any], field: str) -> list[Message]:
    for key in _LISTS:
        if isinstance(item.get(key), list):
            return [*instructions(item), *read_messages(item[key], f"{field}.{key}".lstrip("."))]
    found = interpret(item, "assistant")
    if found is None:
        raise Malformed(field, describe(item), "messages")
    return found


def trace_of(item: dict[str, Any], messages: list[Message], default_id: str) -> Trace:
    """Return the trace of `messages`, with what the object around them says about the run; unknown fields are kept."""
    metadata = opt_object(item.get("metadata"), "metadata")
    kept = {key: value for key, value in item.items() if key not in _READ}
    case_id = next((found for found in (item.get("case_id"), metadata.get("case_id")) if found is not None), None)
    return Trace(
        id=opt_text(item.get("id"), "id") or default_id,
        case_id=opt_text(case_id, "case_id"),
        trial=opt_int(item.get("trial", metadata.get("trial"))) or 0,
        messages=said(messages, ""),
        tools=offered_tools(item.get("tools", item.get("functions", item.get("toolConfig")))),
        model=opt_text(item.get("model", item.get("modelVersion")), "model"),
        usage=read_usage(item.get("usage", item.get("usageMetadata"))),
        metadata={**metadata, **kept},
    )


def said(messages: list[Message], field: str) -> tuple[Message, ...]:
    """Return the messages, or raise `Malformed` where there is none."""
    if not messages:
        raise Malformed(field, "no message", "at least one message")
    return tuple(messages)


def split_runs(is_message: Callable[[Any], bool]) -> Callable[[Any], Iterator[Part]]:
    """Return a splitter: a list of messages is one run, any other list holds one run an item."""

    def split(value: Any) -> Iterator[Part]:
        if isinstance(value, list) and value and not any(map(is_message, value)):
            for number, item in enumerate(value):
                yield Part(item, f"[{number}]")
        else:
            yield Part(value)

    return split


def messages_in(value: Any) -> list[dict[str, Any]]:
    """Return the messages of a document, as they are, for detection."""
    if isinstance(value, dict) and isinstance(value.get("request"), dict):
        return messages_in(value["request"])
    if isinstance(value, dict):
        held = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
        if held is None:
            return [value]
        value = held
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return messages_in(items[0]) if items and not {"role", "kind", "type", "lc"} & set(items[0]) else items


class Session(Source):
    """A file of JSON Lines that together are one run: one document that holds all of them.

    A line that is no JSON is a document with an error, beside the run that the other lines make.
    """

    def documents(self) -> Iterator[Document]:
        """Yield the run, then the lines that are no JSON."""
        documents = list(super().documents())
        values = [document.value for document in documents if document.error is None]
        if values:
            joined = "".join(document.sha256 for document in documents)
            yield Document(self.name, values, digest(joined.encode()))
        for number, document in zip((number for number, _ in self.lines()), documents, strict=True):
            if document.error is not None:
                problem = document.error.removeprefix(f"{document.place}: ")
                text = f"{document.place}: line {number}: {problem} The rest of the file is read without this line."
                yield document._replace(error=text)


def one_list(source: Source) -> Source:
    """Return `source` as one run where it is JSON Lines, itself where it is one document."""
    return Session(source.path) if source.layout == "lines" else source


def blocks_in(messages: list[Any], key: str = "content") -> Iterator[dict[str, Any]]:
    """Yield the parts of messages that are objects, for detection."""
    for message in messages:
        content = message.get(key) if isinstance(message, dict) else None
        yield from (part for part in (content if isinstance(content, list) else ()) if isinstance(part, dict))

"""Spans of many runs in one file, brought together by the id of their trace, whatever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from toolgrade.core.identity import content_hash
from toolgrade.core.trace import Trace
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Document, Source, digest
from toolgrade.formats.span_attributes import RawSpan, read_span
from toolgrade.formats.spans import Span, build_trace
from toolgrade.formats.validation import explain

_WINDOW = 1_000
_LOOKED_FOR = "spans with gen_ai.*, OpenInference (openinference.span.kind, llm.*), Traceloop, ADK or ai.* attributes"
_AGENTIC: tuple[str, ...] = (
    "gen_ai.",
    "llm.",
    "openinference.",
    "traceloop.",
    "gcp.vertex.agent.",
    "ai.",
    "tool.",
    "mcp.",
    "pydantic_ai.",
)


class SpanItem(NamedTuple):
    """One span, the run that it belongs to, and what is known of that run: fields of its metadata.

    `is_log`: it is no span of its own, but events of the span with its id, exported as log records.
    """

    trace_id: str
    span: RawSpan
    context: dict[str, Any]
    is_log: bool = False


class _Run(NamedTuple):
    items: list[SpanItem]
    spans: list[Span]


def read_runs(source: Source, items: Callable[[Any], Iterator[SpanItem]]) -> Iterator[Record]:
    """Yield one record a run that holds a model or tool call.

    A run is complete once 1,000 further lines have passed without a span of it, so a file of any size streams.
    Runs of nothing but requests, queries and the setting up of agents are left out; a file of only these is
    an error.

    Args:
        source: the file.
        items: takes one JSON value of the file apart; raises `Malformed` where it cannot.
    """
    return read_parts(_ByTrace(source.path, items), _build)


class _Waiting:
    """Runs whose spans are still coming in, in the order of their last span."""

    def __init__(self) -> None:
        self._runs: dict[str, list[SpanItem]] = {}
        self._last: dict[str, int] = {}
        self._done: set[str] = set()

    def late(self, items: list[SpanItem]) -> str | None:
        """Return the id of a run that was given away already, None where all is in time."""
        return next((item.trace_id for item in items if item.trace_id in self._done), None)

    def add(self, items: list[SpanItem], number: int) -> None:
        for item in items:
            if item.trace_id not in self._done:
                self._runs.setdefault(item.trace_id, []).append(item)
                self._last.pop(item.trace_id, None)
                self._last[item.trace_id] = number

    def complete(self, before: int | None = None) -> Iterator[tuple[str, list[SpanItem]]]:
        """Give away the runs without a span since line `before`, or all of them."""
        while self._last:
            oldest = next(iter(self._last))
            if before is not None and self._last[oldest] >= before:
                return
            del self._last[oldest]
            self._done.add(oldest)
            yield oldest, self._runs.pop(oldest)


class _ByTrace(Source):
    """A file of spans as one document a run."""

    def __init__(self, path: Path, items: Callable[[Any], Iterator[SpanItem]]) -> None:
        super().__init__(path)
        self._items = items

    def documents(self) -> Iterator[Document]:
        """Yield each run once it is complete, and every line that cannot be read."""
        plain = found = 0
        for document in self._runs():
            if document is None:
                plain += 1
            else:
                found += 1
                yield document
        if not found:
            message = f"{self.name}: found {plain} traces without a model or tool call, expected {_LOOKED_FOR}."
            yield Document(self.name, None, digest(message.encode()), message)

    def _runs(self) -> Iterator[Document | None]:
        waiting = _Waiting()
        for number, document in enumerate(super().documents()):
            items, error = self._taken_apart(document)
            late = waiting.late(items)
            if late is not None:
                error = (
                    f"{document.place}: found a span of trace {late}, which was complete {_WINDOW} lines before, "
                    "expected the spans of a trace together. Sort the file by trace."
                )
            if error is not None:
                yield document._replace(error=error)
            waiting.add(items, number)
            for trace_id, complete in waiting.complete(number - _WINDOW):
                yield self._run(trace_id, complete)
        for trace_id, complete in waiting.complete():
            yield self._run(trace_id, complete)

    def _taken_apart(self, document: Document) -> tuple[list[SpanItem], str | None]:
        if document.error is not None:
            return [], document.error
        try:
            return list(self._items(document.value)), None
        except Malformed as error:
            return [], f"{document.place}: {error}"

    def _run(self, trace_id: str, items: list[SpanItem]) -> Document | None:
        """Return the run as one document; None for a run of nothing but requests, queries and set-up."""
        if not any(_is_agentic(item.span) for item in items):
            return None
        place = f"{self.name}: trace {trace_id}"
        try:
            spans = [read_span(span) for span in _with_logs(items)]
        except Malformed as error:
            return Document(place, None, _digest(items), f"{place}: {error}")
        except ValidationError as error:
            return Document(place, None, _digest(items), f"{place}: {explain(error, Trace)}")
        if not any(map(_tells, spans)):
            return None
        return Document(place, _Run(items, spans), _digest(items))


def _with_logs(items: list[SpanItem]) -> list[RawSpan]:
    """Return the spans, each with the events that were exported as log records, in the order of their time."""
    logs: dict[str, list[RawSpan]] = {}
    for item in items:
        if item.is_log:
            logs.setdefault(item.span.id, []).append(item.span)
    found = [item.span for item in items if not item.is_log]
    known = {span.id for span in found}
    found += [_only_logged(pieces) for key, pieces in logs.items() if key not in known]
    return [span.with_events(logs[span.id]) if span.id in logs else span for span in found]


def _only_logged(pieces: list[RawSpan]) -> RawSpan:
    """Return a span of which nothing but log records was exported."""
    times = [piece.start for piece in pieces if piece.start is not None]
    attributes = {key: value for piece in pieces for key, value in piece.attributes.items()}
    only = replace(pieces[0], attributes=attributes, events=())
    return replace(only, start=min(times, default=None), end=max(times, default=None))


def _digest(items: list[SpanItem]) -> str:
    plain = [(item.trace_id, vars(item.span), item.context) for item in items]
    try:
        return digest(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS))
    except (orjson.JSONEncodeError, TypeError):
        return content_hash([repr(item) for item in plain])


def _is_agentic(span: RawSpan) -> bool:
    if any(key.startswith(_AGENTIC) for key in span.attributes):
        return True
    return any(isinstance(event.get("body"), dict) or event["name"].startswith("gen_ai.") for event in span.events)


def _tells(span: Span) -> bool:
    """Whether a span can say anything of a conversation; one that set an agent up cannot."""
    return span.kind in ("llm", "tool") or span.has_messages or bool(span.asked or span.said)


def _build(part: Part) -> Trace:
    run: _Run = part.value
    items = run.items
    metadata: dict[str, Any] = {}
    for item in items:
        metadata |= {key: value for key, value in item.context.items() if value not in (None, {}, [])}
    for name in ("case_id", "trial"):
        resource = metadata.get("resource")
        places = [item.span.attributes for item in items] + ([resource] if isinstance(resource, dict) else [])
        found = [place[key] for place in places for key in (f"toolgrade.{name}", name) if place.get(key) is not None]
        if found and metadata.get(name) is None:
            metadata[name] = found[0]
    return build_trace(run.spans, items[0].trace_id, metadata)

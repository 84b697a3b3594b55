"""OpenTelemetry traces: OTLP JSON, Jaeger and Tempo exports, and flat lists of spans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.access import as_list, as_object, describe, opt_list, opt_object
from toolgrade.formats.format import Format
from toolgrade.formats.grouping import SpanItem, read_runs
from toolgrade.formats.offered import offered_by
from toolgrade.formats.otel_logs import log_items
from toolgrade.formats.otlp_values import attributes_of, seconds
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source
from toolgrade.formats.span_attributes import RawSpan

_IDS = ({"traceId", "spanId"}, {"trace_id", "span_id"}, {"traceID", "spans"}, {"context.trace_id", "context.span_id"})
_LOOKED_FOR = "spans with gen_ai.*, OpenInference (openinference.span.kind, llm.*), Traceloop, ADK or ai.* attributes"


_READ = {"traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id", "parent_id", "parentId", "name"}
_READ |= {"startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "endTimeUnixNano", "end_time"}
_READ |= {"end_time_unix_nano", "endTime", "attributes", "status", "status_code", "events", "span_events", "context"}
_READ |= {"span_kind"}


def _items(value: Any) -> Iterator[SpanItem]:
    """Yield the spans of one document of any of the shapes.

    Raises:
        Malformed: it has none of the shapes, or a span in it has no ids.
    """
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield flat_span(item, f"[{number}]")
        return
    document = as_object(value, "")
    if isinstance(document.get("trace"), dict):  # Tempo's second API
        document = document["trace"]
    batches = next((document[key] for key in ("resourceSpans", "resource_spans", "batches") if key in document), None)
    logs = next((document[key] for key in ("resourceLogs", "resource_logs") if key in document), None)
    if batches is not None or logs is not None:
        yield from _otlp([] if batches is None else batches, "resourceSpans")
        yield from log_items([] if logs is None else logs, "resourceLogs")
    elif isinstance(document.get("data"), list):
        for number, item in enumerate(document["data"]):
            yield from _jaeger(item, f"data[{number}]")
    elif "traceID" in document and "spans" in document:
        yield from _jaeger(document, "")
    elif "spans" in document:
        for number, item in enumerate(as_list(document["spans"], "spans")):
            yield flat_span(item, f"spans[{number}]")
    else:
        yield flat_span(document, "")


def _otlp(batches: Any, field: str) -> Iterator[SpanItem]:
    for number, value in enumerate(as_list(batches, field)):
        batch = as_object(value, f"{field}[{number}]")
        resource = attributes_of(opt_object(batch.get("resource"), field).get("attributes"), "resource.attributes")
        for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for scoped in opt_list(batch.get(key), f"{field}[{number}].{key}"):
                spans = opt_list(as_object(scoped, key).get("spans"), f"{key}.spans")
                for index, span in enumerate(spans):
                    item = flat_span(span, f"{field}[{number}].{key}.spans[{index}]")
                    yield item._replace(context={"resource": resource})


def flat_span(value: Any, field: str) -> SpanItem:
    """Return one span as OTLP, the SDKs' own exporters, Phoenix and evaluation tools write it."""
    span = as_object(value, field)
    if "context.span_id" in span:  # a row of a flattened table
        row = {key.removeprefix("attributes."): item for key, item in span.items() if key.startswith("attributes.")}
        span = {**span, "attributes": row, "context": {}}

    def first(*names: str) -> Any:
        return next((span[name] for name in names if span.get(name) not in (None, "")), None)

    context = opt_object(span.get("context"), f"{field}.context")
    trace_id = first("traceId", "trace_id", "context.trace_id") or context.get("trace_id") or context.get("traceId")
    span_id = first("spanId", "span_id", "context.span_id") or context.get("span_id") or context.get("spanId")
    if not isinstance(trace_id, str) or not isinstance(span_id, str):
        raise Malformed(field, describe(value), "a span with traceId and spanId")
    parent = first("parentSpanId", "parent_span_id", "parent_id", "parentId")
    attributes = attributes_of(span.get("attributes"), f"{field}.attributes")
    if isinstance(span.get("span_kind"), str):  # Phoenix
        attributes.setdefault("openinference.span.kind", span["span_kind"])
    attributes |= {f"otel.{key}": span[key] for key in span if key not in _READ and span[key]}
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else first("status_code", "status")
    problem = status.get("message", status.get("description")) if isinstance(status, dict) else None
    raw = RawSpan(
        id=span_id,
        name=str(span.get("name") or ""),
        parent=parent if isinstance(parent, str) else None,
        start=seconds(first("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=seconds(first("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes=attributes,
        events=tuple(_events(first("events", "span_events"), f"{field}.events")),
        failed=code == 2 or str(code).upper().endswith("ERROR"),
        problem=problem if isinstance(problem, str) and problem else None,
    )
    return SpanItem(trace_id, raw, {})


def _events(value: Any, field: str) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(opt_list(value, field)):
        event = as_object(item, f"{field}[{number}]")
        name = event.get("name", event.get("event_name"))
        yield {
            "name": str(name or ""),
            "attributes": attributes_of(event.get("attributes"), f"{field}[{number}].attributes"),
            "body": event.get("body"),
        }


def _jaeger(value: Any, field: str) -> Iterator[SpanItem]:
    trace = as_object(value, field)
    processes = opt_object(trace.get("processes"), f"{field}.processes")
    for number, item in enumerate(as_list(trace.get("spans"), f"{field}.spans")):
        at = f"{field}.spans[{number}]"
        span = as_object(item, at)
        tags = attributes_of(span.get("tags"), f"{at}.tags")
        process = opt_object(processes.get(str(span.get("processID"))), f"{at}.processID")
        begin, length = span.get("startTime"), span.get("duration")
        ends = begin + length if isinstance(begin, int | float) and isinstance(length, int | float) else None
        references = [as_object(link, f"{at}.references") for link in opt_list(span.get("references"), at)]
        parents = [link.get("spanID") for link in references if link.get("refType", "CHILD_OF") == "CHILD_OF"]
        flat = {
            "traceId": span.get("traceID"),
            "spanId": span.get("spanID"),
            "parentSpanId": parents[0] if parents else span.get("parentSpanID"),
            "name": span.get("operationName"),
            "startTime": begin,
            "endTime": ends,
            "attributes": tags,
            "events": [_log(log, f"{at}.logs") for log in opt_list(span.get("logs"), f"{at}.logs")],
            "status": {"code": "ERROR" if tags.get("error") is True else tags.get("otel.status_code")},
        }
        resource = {"service.name": process.get("serviceName"), **attributes_of(process.get("tags"), f"{at}.process")}
        yield flat_span(flat, at)._replace(context={"resource": resource})


def _log(value: Any, field: str) -> dict[str, Any]:
    fields = attributes_of(as_object(value, field).get("fields"), f"{field}.fields")
    return {"name": fields.get("event", fields.get("name")), "attributes": fields}


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trace that holds a model or tool call."""
    return read_runs(source, _items)


def _detect(source: Source) -> bool:
    value: Any = source.first_object
    if {"resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs"} & set(value):
        return True
    inner = value.get("trace")
    if isinstance(inner, dict) and {"resourceSpans", "batches"} & set(inner):
        return True
    if isinstance(value.get("data"), list):
        value = value["data"][0] if value["data"] else None
        return isinstance(value, dict) and "traceID" in value and "spans" in value
    spans = value.get("spans")
    if isinstance(spans, list) and spans:
        value = spans[0]
    return isinstance(value, dict) and _is_span(value)


def _is_span(value: dict[str, Any]) -> bool:
    context = value.get("context")
    names = set(value) | (set(context) if isinstance(context, dict) else set())
    return any(pair <= names for pair in _IDS)


FORMAT = Format(
    name="opentelemetry",
    description="OpenTelemetry spans: OTLP JSON, Jaeger and Tempo exports, flat lists (gen_ai.*, OpenInference)",
    looked_for='"resourceSpans", "batches", Jaeger\'s "data" with "traceID", or spans with trace and span ids',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

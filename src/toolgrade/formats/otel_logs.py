"""OTLP log records that carry what a span's model was given and answered: events of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.access import as_list, as_object, opt_list, opt_object
from toolgrade.formats.grouping import SpanItem
from toolgrade.formats.otlp_values import attributes_of, seconds, value_of
from toolgrade.formats.span_attributes import RawSpan


def log_items(batches: Any, field: str) -> Iterator[SpanItem]:
    """Yield each log record of a conversation as a piece of the span that it names; other records are left out.

    Raises:
        Malformed: the records have another shape than OTLP's.
    """
    for number, value in enumerate(as_list(batches, field)):
        batch = as_object(value, f"{field}[{number}]")
        resource = attributes_of(opt_object(batch.get("resource"), field).get("attributes"), "resource.attributes")
        for key in ("scopeLogs", "scope_logs"):
            for scoped in opt_list(batch.get(key), f"{field}[{number}].{key}"):
                scope = as_object(scoped, key)
                for name in ("logRecords", "log_records"):
                    for index, record in enumerate(opt_list(scope.get(name), f"{key}.{name}")):
                        at = f"{field}[{number}].{key}.{name}[{index}]"
                        yield from _item(as_object(record, at), at, {"resource": resource})


def _item(record: dict[str, Any], field: str, context: dict[str, Any]) -> Iterator[SpanItem]:
    def first(*names: str) -> Any:
        return next((record[name] for name in names if record.get(name) not in (None, "", "0")), None)

    trace_id, span_id = first("traceId", "trace_id"), first("spanId", "span_id")
    attributes = attributes_of(record.get("attributes"), f"{field}.attributes")
    name, body = first("eventName", "event_name") or attributes.get("event.name"), value_of(record.get("body"))
    told = isinstance(name, str) and name.startswith("gen_ai.")
    if not isinstance(trace_id, str) or not isinstance(span_id, str):
        return
    if not told and not (isinstance(body, dict) and {"input", "output"} & set(body)):
        return
    inner = body if isinstance(body, dict) else {"gen_ai.event.content": body}
    event = {"name": str(name or ""), "attributes": {**attributes, **(inner if told else {})}, "body": body}
    when = seconds(first("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano"))
    known = {key: value for key, value in attributes.items() if told and key.startswith("gen_ai.")}
    piece = RawSpan(id=span_id, name="", start=when, end=when, attributes=known, events=(event,))
    yield SpanItem(trace_id, piece, context, is_log=True)

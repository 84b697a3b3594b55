"""MLflow traces: `Trace.to_json`, one or many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.access import as_list, as_object, opt_object, opt_text
from toolgrade.formats.format import Format
from toolgrade.formats.grouping import SpanItem, read_runs
from toolgrade.formats.offered import offered_by
from toolgrade.formats.otel import flat_span
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source, parse_json

_KINDS = {"CHAT_MODEL": "LLM", "LLM": "LLM", "TOOL": "TOOL", "AGENT": "AGENT"}
_READ = {"mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.tools", "mlflow.chat.tokenUsage"}
_LONG = ("mlflow.traceInputs", "mlflow.traceOutputs")


def _items(value: Any) -> Iterator[SpanItem]:
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        at = f"[{number}]." if isinstance(value, list) else ""
        trace = as_object(item, at[:-1])
        info = opt_object(trace.get("info"), f"{at}info")
        data = as_object(trace.get("data"), f"{at}data")
        tags = opt_object(info.get("tags"), f"{at}info.tags")
        recorded = info.get("trace_metadata", info.get("request_metadata"))
        metadata = {**opt_object(recorded, f"{at}info.trace_metadata"), **tags}
        context = {key: found for key, found in metadata.items() if key not in _LONG}
        for place, span in enumerate(as_list(data.get("spans"), f"{at}data.spans")):
            field = f"{at}data.spans[{place}]"
            found = flat_span(as_object(span, field), field)
            trace_id = opt_text(info.get("trace_id", info.get("request_id")), f"{at}info.trace_id") or found.trace_id
            attributes = _attributes(found.span.attributes)
            yield SpanItem(trace_id, found.span.with_attributes(attributes), context)


def _attributes(recorded: Any) -> dict[str, Any]:
    """Return attributes, which MLflow writes as JSON text each, under the names that are read."""
    values = {key: _decoded(value) for key, value in recorded.items()}
    out = {key: value for key, value in values.items() if key not in _READ}
    kind = _KINDS.get(str(values.get("mlflow.spanType")))
    if kind is not None:
        out["openinference.span.kind"] = kind
    for key, name in (("mlflow.spanInputs", "input.value"), ("mlflow.spanOutputs", "output.value")):
        if values.get(key) is not None:
            out[name] = values[key]
    if values.get("mlflow.chat.tools"):
        out["gen_ai.tool.definitions"] = values["mlflow.chat.tools"]
    usage = values.get("mlflow.chat.tokenUsage")
    for key in ("input_tokens", "output_tokens"):
        if isinstance(usage, dict) and usage.get(key) is not None:
            out[f"gen_ai.usage.{key}"] = usage[key]
    return out


def _decoded(value: Any) -> Any:
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trace."""
    return read_runs(source, _items)


def _detect(source: Source) -> bool:
    value = source.first_object
    data = value.get("data")
    return isinstance(data, dict) and "spans" in data and "info" in value


FORMAT = Format(
    name="mlflow",
    description="MLflow traces as Trace.to_json writes them",
    looked_for='"info" beside "data" with "spans"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

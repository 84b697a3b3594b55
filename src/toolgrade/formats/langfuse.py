"""Langfuse exports: a trace with its observations, or observations of many traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.access import as_list, as_object, describe, opt_text
from toolgrade.formats.format import Format
from toolgrade.formats.grouping import SpanItem, read_runs
from toolgrade.formats.offered import offered_by
from toolgrade.formats.otlp_values import seconds
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source
from toolgrade.formats.span_attributes import RawSpan
from toolgrade.formats.span_messages import decoded

_KINDS = {"GENERATION": "LLM", "TOOL": "TOOL", "AGENT": "AGENT"}
_READ = {"id", "traceId", "trace_id", "parentObservationId", "startTime", "endTime", "name", "type", "input", "output"}
_READ |= {"metadata", "model", "usage", "usageDetails", "level", "statusMessage"}
_KEPT = ("name", "userId", "sessionId", "release", "version", "environment", "tags", "scores")


def _items(value: Any) -> Iterator[SpanItem]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _run(as_object(item, f"[{number}]"), f"[{number}].")
    else:
        yield from _run(as_object(value, ""), "")


def _run(item: dict[str, Any], at: str) -> Iterator[SpanItem]:
    if "observations" not in item:
        yield SpanItem(_trace_id(item, at), _observation(item, at), {})
        return
    trace = item["trace"] if isinstance(item.get("trace"), dict) else item
    metadata = decoded(trace.get("metadata"))
    context = {key: trace[key] for key in _KEPT if trace.get(key)}
    if isinstance(metadata, dict):
        context |= {key: metadata[key] for key in metadata if key not in ("attributes", "resourceAttributes", "scope")}
    for number, value in enumerate(as_list(item["observations"], f"{at}observations")):
        field = f"{at}observations[{number}]."
        observation = as_object(value, field[:-1])
        trace_id = opt_text(trace.get("id"), f"{at}trace.id") or _trace_id(observation, field)
        yield SpanItem(trace_id, _observation(observation, field), context)


def _trace_id(item: dict[str, Any], at: str) -> str:
    found = item.get("traceId", item.get("trace_id"))
    if isinstance(found, str) and found:
        return found
    raise Malformed(at[:-1], describe(item), 'a trace with "observations", or an observation with "traceId"')


def _observation(item: dict[str, Any], at: str) -> RawSpan:
    metadata = decoded(item.get("metadata"))
    found = metadata.get("attributes") if isinstance(metadata, dict) else None
    attributes: dict[str, Any] = dict(found) if isinstance(found, dict) else {}
    if isinstance(metadata, dict):
        attributes |= {f"metadata.{key}": metadata[key] for key in metadata if key not in ("attributes", "scope")}
    for key, name in (("input", "input.value"), ("output", "output.value")):
        if item.get(key) is not None:
            attributes[name] = item[key]
    attributes |= {f"langfuse.{key}": item[key] for key in item if key not in _READ and item[key]}
    name = str(item.get("name") or "")
    kind = _KINDS.get(str(item.get("type")))
    if kind is None and _is_tool_message(item.get("output")):
        kind = "TOOL"
    if kind is not None:
        attributes.setdefault("openinference.span.kind", kind)
    if kind == "AGENT":  # Google ADK puts the agent's name in brackets
        attributes.setdefault("agent.name", name.partition("[")[2].removesuffix("]") or name)
    usage = item.get("usageDetails") or item.get("usage")
    for key, wanted in (("input", "gen_ai.usage.input_tokens"), ("output", "gen_ai.usage.output_tokens")):
        if isinstance(usage, dict) and usage.get(key) is not None:
            attributes[wanted] = usage[key]
    if isinstance(item.get("model"), str):
        attributes.setdefault("gen_ai.request.model", item["model"])
    problem = item.get("statusMessage")
    return RawSpan(
        id=opt_text(item.get("id"), f"{at}id") or at,
        name=name,
        parent=opt_text(item.get("parentObservationId"), f"{at}parentObservationId"),
        start=seconds(item.get("startTime")),
        end=seconds(item.get("endTime")),
        attributes=attributes,
        failed=item.get("level") == "ERROR",
        problem=problem if isinstance(problem, str) and problem else None,
    )


def _is_tool_message(output: Any) -> bool:
    value = decoded(output)
    return isinstance(value, dict) and value.get("type") == "tool" and "tool_call_id" in value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trace."""
    return read_runs(source, _items)


def _detect(source: Source) -> bool:
    value = source.first_object
    if isinstance(value.get("observations"), list):
        return "trace" in value or "id" in value
    return "traceId" in value and "startTime" in value and "type" in value


FORMAT = Format(
    name="langfuse",
    description="Langfuse exports: traces with their observations, or lists of observations",
    looked_for='"observations", or objects with "traceId", "type" and "startTime"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

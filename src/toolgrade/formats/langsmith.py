"""LangSmith runs: lists or lines of runs, runs with their children inside, and batches as the SDK sends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.formats.access import as_object, describe, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_usage
from toolgrade.formats.format import Format
from toolgrade.formats.grouping import SpanItem, read_runs
from toolgrade.formats.offered import offered_by
from toolgrade.formats.otlp_values import seconds
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source
from toolgrade.formats.span_attributes import RawSpan
from toolgrade.formats.span_messages import decoded

_KINDS = {"llm": "LLM", "chat_model": "LLM", "tool": "TOOL"}


_READ = {"id", "trace_id", "parent_run_id", "name", "start_time", "end_time", "run_type", "inputs", "outputs", "error"}
_READ |= {"child_runs"}


def _items(value: Any) -> Iterator[SpanItem]:
    if isinstance(value, dict) and ("post" in value or "patch" in value):
        value = _merged(value)
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        at = f"[{number}]" if isinstance(value, list) else ""
        yield from _run(as_object(item, at), at, None, None)


def _merged(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of a batch: what was posted when they began, completed by what was patched at their end."""
    runs: dict[str, dict[str, Any]] = {}
    for key in ("post", "patch"):
        for number, value in enumerate(opt_list(batch.get(key), key)):
            run = as_object(value, f"{key}[{number}]")
            known = runs.setdefault(_run_id(run, f"{key}[{number}]"), {})
            known |= {name: item for name, item in run.items() if item not in (None, {}, []) or name not in known}
    return list(runs.values())


def _run_id(run: dict[str, Any], field: str) -> str:
    ordered = run.get("dotted_order")
    found = run.get("id") or (ordered.rpartition("Z")[2] if isinstance(ordered, str) else None)
    if isinstance(found, str) and found:
        return found
    raise Malformed(f"{field}.id", describe(found), "the id of a run")


def _run(run: dict[str, Any], field: str, parent: str | None, trace_id: str | None) -> Iterator[SpanItem]:
    own = _run_id(run, field)
    trace_id = trace_id or opt_text(run.get("trace_id"), f"{field}.trace_id") or own
    extra = opt_object(run.get("extra"), f"{field}.extra")
    metadata = opt_object(extra.get("metadata"), f"{field}.extra.metadata")
    parent = opt_text(run.get("parent_run_id"), f"{field}.parent_run_id") or parent
    error = run.get("error")
    span = RawSpan(
        id=own,
        name=str(run.get("name") or ""),
        parent=parent,
        start=seconds(run.get("start_time")),
        end=seconds(run.get("end_time")),
        attributes=_attributes(run, metadata),
        failed=bool(error),
        problem=str(error) if error else None,
    )
    context = {key: run[key] for key in ("session_name", "tags", "reference_example_id") if run.get(key)}
    if parent is None:
        context |= {key: metadata[key] for key in ("case_id", "trial") if key in metadata}
    yield SpanItem(trace_id, span, context if parent is None else {})
    for number, child in enumerate(opt_list(run.get("child_runs"), f"{field}.child_runs")):
        at = f"{field}.child_runs[{number}]"
        yield from _run(as_object(child, at), at, own, trace_id)


def _attributes(run: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    inputs, outputs = run.get("inputs"), run.get("outputs")
    attributes: dict[str, Any] = {f"metadata.{key}": value for key, value in metadata.items()}
    attributes |= {f"langsmith.{key}": run[key] for key in run if key not in _READ and run[key]}
    kind = _KINDS.get(str(run.get("run_type")), "AGENT" if metadata.get("lc_agent_name") else "CHAIN")
    attributes["openinference.span.kind"] = kind
    if kind == "TOOL":
        inputs, outputs = _only(inputs, "input"), _only(outputs, "output")
    attributes |= {"input.value": inputs, "output.value": outputs, "agent.name": metadata.get("lc_agent_name")}
    model = metadata.get("ls_model_name") or (inputs.get("model") if isinstance(inputs, dict) else None)
    attributes["gen_ai.request.model"] = model
    offered = inputs.get("tools") if isinstance(inputs, dict) else None
    attributes["gen_ai.tool.definitions"] = offered or _invocation(run).get("tools")
    usage = read_usage(metadata.get("usage_metadata")) or (_usage(outputs) if isinstance(outputs, dict) else None)
    if usage is not None:
        attributes["gen_ai.usage.input_tokens"] = usage.input_tokens
        attributes["gen_ai.usage.output_tokens"] = usage.output_tokens
    return {key: value for key, value in attributes.items() if value is not None}


def _invocation(run: dict[str, Any]) -> dict[str, Any]:
    extra = run.get("extra")
    found = extra.get("invocation_params") if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def _usage(outputs: dict[str, Any]) -> Any:
    inner = outputs.get("llm_output")
    found = inner.get("token_usage") if isinstance(inner, dict) else None
    return read_usage(outputs.get("usage_metadata") or outputs.get("usage") or found)


def _only(value: Any, key: str) -> Any:
    """Return the one value that the tracer put under `key`; a tool's own arguments stay as they are."""
    value = decoded(value)
    if isinstance(value, dict) and set(value) == {key} and not isinstance(value[key], int | float):
        inner = value[key]
        printed = isinstance(inner, str) and inner[:1] in ("{", "[")
        return inner if key == "output" or printed or isinstance(inner, dict) else value
    return value


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trace."""
    return read_runs(source, _items)


def _detect(source: Source) -> bool:
    value = source.first
    if isinstance(value, dict) and isinstance(value.get("post", value.get("patch")), list):
        value = value.get("post") or value.get("patch")
    if isinstance(value, list):
        value = value[0] if value else None
    return isinstance(value, dict) and "run_type" in value and ("inputs" in value or "outputs" in value)


FORMAT = Format(
    name="langsmith",
    description="LangSmith runs: lists, lines, nested children, or the SDK's post and patch batches",
    looked_for='objects with "run_type" and "inputs"',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

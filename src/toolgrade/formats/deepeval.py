"""DeepEval: test runs, test cases, goldens and conversational goldens; goldens also as cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.formats.access import as_list, as_object, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_call
from toolgrade.formats.conversation import said
from toolgrade.formats.format import Format
from toolgrade.formats.messages import read_messages
from toolgrade.formats.otlp_values import seconds
from toolgrade.formats.parts import fold, read_parts_of
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Record
from toolgrade.formats.reference_cases import expected_calls
from toolgrade.formats.source import Source
from toolgrade.formats.span_attributes import RawSpan, read_span
from toolgrade.formats.span_messages import decoded
from toolgrade.formats.spans import build_trace

_SPANS = {
    "agentSpans": "AGENT",
    "llmSpans": "LLM",
    "toolSpans": "TOOL",
    "baseSpans": "CHAIN",
    "retrieverSpans": "CHAIN",
}
_TEST_CASE = {
    "input",
    "actual_output",
    "actualOutput",
    "expected_output",
    "tools_called",
    "expected_tools",
    "toolsCalled",
}
_READ = {"input", "actual_output", "actualOutput", "tools_called", "toolsCalled", "trace", "turns", "name", "id"}


def _get(item: dict[str, Any], *names: str) -> Any:
    """Return the first of the names that is set: the files of a run are in camel case, data sets are not."""
    return next((item[name] for name in names if item.get(name) is not None), None)


def _split(value: Any) -> Iterator[Part]:
    if isinstance(value, dict):
        found = [(key, value[key]) for key in ("testCases", "conversationalTestCases", "test_cases") if value.get(key)]
        if not found:
            yield Part(value)
        for key, items in found:
            for number, item in enumerate(as_list(items, key)):
                yield Part(item, f"{key}[{number}]")
        return
    for number, item in enumerate(as_list(value, "")):
        yield Part(item, f"[{number}]")


def _build(part: Part) -> Trace:
    item = as_object(part.value, "")
    name = opt_text(_get(item, "id", "name"), "name") or part.default_id
    metadata = {key: value for key, value in item.items() if key not in _READ and value not in (None, [], {})}
    extra = opt_object(_get(item, "additional_metadata", "additionalMetadata"), "additional_metadata")
    case_id = opt_text(_get(extra, "case_id"), "additional_metadata.case_id")
    if isinstance(item.get("trace"), dict):
        return _traced(item["trace"], name, {**metadata, "case_id": case_id or opt_text(item.get("name"), "name")})
    if item.get("turns") is not None:
        messages = _turns(item["turns"])
    else:
        messages = fold("user", read_parts_of(item.get("input"), "input"))
        for call, result in _called(_get(item, "tools_called", "toolsCalled"), "tools_called"):
            messages.append(Message(role="assistant", tool_calls=(call,)))
            messages += [Message(role="tool", result=result)] if result else []
        messages += fold("assistant", read_parts_of(_get(item, "actual_output", "actualOutput"), "actual_output"))
    return Trace(id=name, case_id=case_id, messages=said(messages, ""), metadata=metadata)


def _turns(value: Any) -> list[Message]:
    """Return the messages of a conversation, which data sets keep as JSON text."""
    messages: list[Message] = []
    for number, item in enumerate(as_list(decoded(value), "turns")):
        turn = as_object(item, f"turns[{number}]")
        calls = _called(_get(turn, "tools_called", "toolsCalled"), f"turns[{number}].tools_called")
        for call, result in calls:
            messages.append(Message(role="assistant", tool_calls=(call,)))
            messages += [Message(role="tool", result=result)] if result else []
        messages += read_messages([turn], "turns")
    return messages


def _called(value: Any, field: str) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    for number, item in enumerate(opt_list(value, field)):
        tool = as_object(item, f"{field}[{number}]")
        given = _get(tool, "input_parameters", "inputParameters", "input")
        call = read_call(tool.get("name"), given, None, f"{field}[{number}]")
        output = tool.get("output")
        yield call, None if output is None else ToolResult(name=call.name, content=output)


def _traced(trace: dict[str, Any], name: str, metadata: dict[str, Any]) -> Trace:
    """Return the trace of the spans that a test case recorded; tools on offer and retrievers are no calls."""
    spans = []
    for key, kind in _SPANS.items():
        for number, value in enumerate(opt_list(trace.get(key), f"trace.{key}")):
            field = f"trace.{key}[{number}]"
            spans.append(read_span(_span(as_object(value, field), kind, field)))
    kept = {key: trace[key] for key in ("uuid", "name", "tags", "metadata", "status") if trace.get(key)}
    return build_trace(spans, name, metadata | {"trace": kept})


def _span(item: dict[str, Any], kind: str, field: str) -> RawSpan:
    attributes = {
        "openinference.span.kind": kind,
        "input.value": item.get("input"),
        "output.value": item.get("output"),
        "gen_ai.request.model": item.get("model"),
        "gen_ai.usage.input_tokens": item.get("inputTokenCount"),
        "gen_ai.usage.output_tokens": item.get("outputTokenCount"),
        "agent.name": item.get("name") if kind == "AGENT" else None,
    }
    return RawSpan(
        id=opt_text(item.get("uuid"), f"{field}.uuid") or field,
        name=str(item.get("name") or ""),
        parent=opt_text(item.get("parentUuid"), f"{field}.parentUuid"),
        start=seconds(item.get("startTime")),
        end=seconds(item.get("endTime")),
        attributes={key: value for key, value in attributes.items() if value is not None},
        failed=item.get("status") == "ERRORED",
        problem=opt_text(item.get("error"), f"{field}.error"),
    )


def _case(part: Part, place: str) -> Case:
    """Return the case of a golden: its expected tools, by name as DeepEval compares them unless told otherwise."""
    item = as_object(part.value, "")
    calls = [call for call, _ in _called(_get(item, "expected_tools", "expectedTools"), "expected_tools")]
    stated = _get(item, "expected_tools", "expectedTools") is not None
    turns = _turns(item["turns"]) if item.get("turns") is not None else []
    asked = [{"role": "user", "content": turn.content} for turn in turns if turn.role == "user"]
    kept = ("expected_output", "expected_outcome", "scenario", "user_description", "context", "comments")
    given = item.get("input")
    return Case(
        id=opt_text(_get(item, "id", "name"), "name") or part.default_id,
        input=given if isinstance(given, str) else tuple(asked) or None,
        expected=expected_calls(calls, "superset", arguments="ignore") if stated else None,
        metadata={key: value for key in kept if (value := item.get(key)) is not None},
        place=place,
    )


def _case_split(value: Any) -> Iterator[Part]:
    for number, part in enumerate(_split(value)):
        yield part._replace(default_id=f"golden-{number + 1}")


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case a golden or test case."""
    return read_cases(source, _case, _case_split)


def read(source: Source) -> Iterator[Record]:
    """Yield one record a test case or golden that records what happened."""
    return read_parts(source, _build, _split)


def _detect(source: Source) -> bool:
    first, item = source.first, source.first_object
    if isinstance(first, dict) and ("testCases" in first or "conversationalTestCases" in first):
        return True
    if "scenario" in item and ("turns" in item or "expected_outcome" in item):
        return True
    return "input" in item and len(_TEST_CASE & set(item)) > 1 and "messages" not in item


FORMAT = Format(
    name="deepeval",
    description="DeepEval test runs, test cases and goldens (also as cases)",
    looked_for='"testCases", or objects with "input" and "actual_output", "tools_called" or "expected_tools"',
    detect=_detect,
    read=read,
    cases=cases,
)

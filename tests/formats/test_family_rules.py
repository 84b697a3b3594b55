"""What each family's reader promises, on small files in the shape that the family's own tools write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import detect_format, read_traces


@pytest.fixture
def one(tmp_path: Path):
    """Write a value (a list of lines where `lines`), check the format that is told, return its one trace."""

    def read(format: str, value: Any, lines: bool = False) -> Trace:
        file = tmp_path / ("run.jsonl" if lines else "run.json")
        file.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value), encoding="utf-8")
        assert detect_format(file).name == format
        (record,) = read_traces(file)
        assert record.trace is not None, record.error
        return record.trace

    return read


def calls(trace: Trace) -> list[tuple[Any, ...]]:
    """Name, arguments and result content of every call, in order; all results belong to a call."""
    view = TraceView(trace)
    assert view.unmatched_results == []
    return [(item.call.name, item.call.arguments, item.result and item.result.content) for item in view.calls]


def roles(trace: Trace) -> list[str]:
    return [message.role for message in trace.messages]


def span(number: int, parent: int | None, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One OTLP-like span that starts at second `number` and lasts half a second."""
    start = 1_700_000_000_000_000_000 + number * 1_000_000_000
    known = {"traceId": "t", "spanId": str(number), "name": f"span {number}", "attributes": attributes}
    known |= {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 500_000_000)}
    return known | ({"parentSpanId": str(parent)} if parent is not None else {}) | more


def chat(given: list[Any], answered: list[Any]) -> dict[str, Any]:
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": given, "gen_ai.output.messages": answered}


def tool(name: str, arguments: Any, result: Any = None, call_id: str | None = None) -> dict[str, Any]:
    found = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": arguments}
    return found | {"gen_ai.tool.call.result": result, "gen_ai.tool.call.id": call_id}


USER = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}


def asks(*wanted: tuple[str, Any, str | None]) -> dict[str, Any]:
    parts = [{"type": "tool_call", "name": name, "arguments": given, "id": key} for name, given, key in wanted]
    return {"role": "assistant", "parts": parts}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


# --- spans ------------------------------------------------------------------------------------------------


def test_a_tool_span_that_only_wraps_another_resolves_to_the_inner_tool(one) -> None:
    spans = [span(1, None, tool("call_tool", {"tool": "f"}, "x")), span(2, 1, tool("f", {"a": 1}, "y"))]
    assert calls(one("opentelemetry", spans)) == [("f", {"a": 1}, "y")]


def test_a_wrapper_that_the_model_asked_for_by_name_is_a_call_and_so_is_what_it_ran(one) -> None:
    spans = [
        span(1, None, chat([USER], [asks(("run_code", {"code": "f(1)"}, "c1"))])),
        span(2, None, tool("run_code", {"code": "f(1)"}, "done", "c1")),
        span(3, 2, tool("f", {"a": 1}, "y")),
    ]
    spans[1]["endTimeUnixNano"] = "1700000009000000000"
    assert calls(one("opentelemetry", spans)) == [("run_code", {"code": "f(1)"}, "done"), ("f", {"a": 1}, "y")]


def test_the_client_side_and_the_server_side_of_one_mcp_call_count_once(one) -> None:
    inner = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": '{"a":1}'}
    listing = {"mcp.method.name": "tools/list"}
    spans = [
        span(0, None, listing),
        span(1, None, chat([USER], [asks(("f", {"a": 1}, "c1"))])),
        span(2, None, tool("f", {"a": 1}, "y", "c1")),
        span(3, 2, inner),
    ]
    assert calls(one("opentelemetry", spans)) == [("f", {"a": 1}, "y")]


def test_a_repeated_call_without_ids_is_two_calls_and_each_keeps_its_result(one) -> None:
    first = [
        USER,
        asks(("poll", {}, None)),
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": "1"}]},
    ]
    spans = [
        span(1, None, chat([USER], [asks(("poll", {}, None))])),
        span(2, None, tool("poll", {}, "1")),
        span(3, None, chat(first, [asks(("poll", {}, None))])),
        span(4, None, tool("poll", {}, "2")),
        span(5, None, chat([], [says("done")])),
    ]
    assert calls(one("opentelemetry", spans)) == [("poll", {}, "1"), ("poll", {}, "2")]


def test_a_repeated_call_without_history_is_two_calls(one) -> None:
    spans = [
        span(1, None, chat([USER], [asks(("poll", {}, None))])),
        span(2, None, chat([], [asks(("poll", {}, None))])),
    ]
    assert calls(one("opentelemetry", spans)) == [("poll", {}, None), ("poll", {}, None)]


def test_parallel_calls_share_their_message_whoever_recorded_them_first(one) -> None:
    spans = [
        span(1, None, tool("f", {"a": 1}, "1", "c1")),
        span(2, None, tool("f", {"a": 2}, "2", "c2")),
        span(3, None, chat([USER, asks(("f", {"a": 1}, "c1"), ("f", {"a": 2}, "c2"))], [says("done")])),
    ]
    trace = one("opentelemetry", spans)
    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant"]
    assert [item.step for item in TraceView(trace).calls] == [1, 1]


def test_an_agent_that_was_called_as_a_tool_keeps_its_name_and_its_prompt_is_no_turn_of_the_user(one) -> None:
    child = {"role": "user", "parts": [{"type": "text", "content": "look up x"}]}
    spans = [
        span(0, None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"}),
        span(1, 0, chat([USER], [asks(("ask_clerk", {"task": "look up x"}, "c1"))])),
        span(2, 0, tool("ask_clerk", {"task": "look up x"}, "it is 7", "c1")),
        span(3, 2, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}),
        span(4, 3, chat([child], [asks(("search", {"q": "x"}, "c2"))])),
        span(5, 3, tool("search", {"q": "x"}, "7", "c2")),
        span(6, 0, chat([USER], [says("7")])),
    ]
    spans[2]["endTimeUnixNano"] = "1700000005900000000"
    trace = one("opentelemetry", spans)
    assert calls(trace) == [("ask_clerk", {"task": "look up x"}, "it is 7"), ("search", {"q": "x"}, "7")]
    view = TraceView(trace)
    assert [trace.messages[item.message].agent for item in view.calls] == ["boss", "clerk"]
    assert view.turns == 1
    assert [message.content for message in trace.messages if message.role == "system"] == ["look up x"]


def test_errors_status_timings_tokens_and_what_is_not_read_come_along(one) -> None:
    failing = tool("f", "{}", None, "c1") | {"http.response.status_code": 503, "team": "blue"}
    event = {"name": "exception", "attributes": {"exception.type": "E", "exception.message": "gone"}}
    answer = chat([USER], [asks(("f", {}, "c1"))])
    answer |= {"gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": 2, "gen_ai.request.model": "m"}
    spans = [
        span(1, None, answer),
        span(2, None, failing, status={"code": 2, "message": "bad"}, events=[event]),
        span(3, None, {"case_id": "c-9", "trial": 2, "gen_ai.operation.name": "invoke_agent"}),
    ]
    trace = one("opentelemetry", spans)
    (item,) = TraceView(trace).calls
    assert item.result is not None
    assert (item.result.is_error, item.result.error, item.result.status) == (True, "gone", 503)
    assert trace.messages[1].usage == trace.usage and trace.usage is not None
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (7, 2)
    assert (trace.messages[1].latency_ms, trace.messages[2].latency_ms) == (500.0, 500.0)
    assert (trace.case_id, trace.trial, trace.model) == ("c-9", 2, "m")
    kept = next(item for item in trace.metadata["spans"] if item["id"] == "2")
    assert (kept["name"], kept["http.response.status_code"], kept["team"]) == ("span 2", 503, "blue")
    assert trace.started_at == "2023-11-14T22:13:21+00:00"


@pytest.mark.parametrize(
    ("given", "arguments", "problem"),
    [
        ('{"a": 1}', {"a": 1}, False),
        ({"a": 1}, {"a": 1}, False),
        (None, {}, False),
        ("", {}, False),
        ("{'a': 1}", {"a": 1}, False),
        ("SELECT 1", {"input": "SELECT 1"}, False),
        ("[1]", None, True),
        ('{"a": ', None, True),
    ],
)
def test_arguments_as_text_object_nothing_or_something_else(one, given: Any, arguments: Any, problem: bool) -> None:
    (item,) = TraceView(one("opentelemetry", [span(1, None, tool("f", given, "y"))])).calls
    assert item.call.arguments == arguments
    assert (item.call.parse_error is not None) == problem
    assert item.call.arguments_raw == (given if problem else None)


def test_the_older_events_of_one_message_each(one) -> None:
    def event(name: str, **body: Any) -> dict[str, Any]:
        return {"name": f"gen_ai.{name}", "attributes": body}

    wanted = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    first = [event("system.message", content="be kind"), event("user.message", content="hi")]
    second = [
        *first,
        event("assistant.message", tool_calls=json.dumps(wanted)),
        event("tool.message", id="c1", content="y"),
        event("choice", index=0, message='{"role":"assistant","content":"done"}'),
    ]
    first = [*first, event("choice", index=0, message=json.dumps({"role": "assistant", "tool_calls": wanted}))]
    named = {"gen_ai.operation.name": "chat"}
    trace = one("opentelemetry", [span(1, None, named, events=first), span(2, None, named, events=second)])
    assert calls(trace) == [("f", {"a": 1}, "y")]
    assert roles(trace) == ["system", "user", "assistant", "tool", "assistant"]


def test_strands_records_a_tool_s_input_and_result_as_events(one) -> None:
    answer = '[{"text": "I look."}, {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}]'
    result = '[{"text": "y"}]'
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1"}
    spans = [
        span(
            1,
            None,
            {"gen_ai.operation.name": "chat"},
            events=[
                {"name": "gen_ai.user.message", "attributes": {"content": '[{"text": "hi"}]'}},
                {"name": "gen_ai.choice", "attributes": {"finish_reason": "tool_use", "message": answer}},
            ],
        ),
        span(
            2,
            None,
            named | {"gen_ai.tool.status": "error"},
            events=[
                {"name": "gen_ai.tool.message", "attributes": {"role": "tool", "content": '{"a": 1}', "id": "c1"}},
                {"name": "gen_ai.choice", "attributes": {"message": result, "id": "c1"}},
            ],
        ),
    ]
    trace = one("opentelemetry", spans)
    (item,) = TraceView(trace).calls
    assert (item.call.name, item.call.arguments, item.call.id) == ("f", {"a": 1}, "c1")
    assert item.result is not None and item.result.content == result and item.result.is_error is True
    assert trace.messages[1].content == "I look."


def test_sdk_spans_and_phoenix_rows_are_flat_spans(one) -> None:
    nested = {"llm": {"input_messages": [{"message": {"role": "user", "content": "hi"}}]}}
    wanted = {"tool_call": {"id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}}
    nested["llm"]["output_messages"] = [{"message": {"role": "assistant", "tool_calls": [wanted]}}]
    ids = {"context": {"trace_id": "t", "span_id": "1"}, "parent_id": None}
    assert calls(one("opentelemetry", [{**ids, "name": "x", "span_kind": "LLM", "attributes": nested}])) == [
        ("f", {"a": 1}, None)
    ]
    row = {"context.trace_id": "t", "context.span_id": "1", "name": "f", "span_kind": "TOOL"}
    row |= {"attributes.input.value": '{"a": 1}', "attributes.output.value": "y", "start_time": "2026-01-01T00:00:00Z"}
    assert calls(one("opentelemetry", [row])) == [("f", {"a": 1}, "y")]


def test_a_trace_spread_over_lines_is_one_and_a_late_span_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    early = [span(1, None, tool("f", {}, "1")), span(2, None, tool("g", {}, "2"))]
    other = [{**span(3, None, tool("h", {}, "3")), "traceId": f"u{number}"} for number in range(1_100)]
    late = span(4, None, tool("z", {}, "4"))
    file.write_text("\n".join(map(json.dumps, [*early, *other, late])))
    records = list(read_traces(file))
    assert records[0].trace is not None and records[0].trace.id == "t"
    assert calls(records[0].trace) == [("f", {}, "1"), ("g", {}, "2")]
    (wrong,) = [record.error for record in records if record.error]
    assert wrong.startswith(f"{file}:1103: found a span of trace t, which was complete 1000 lines before")
    assert len(records) == 1_102


def test_traceloop_and_vercel_attributes(one) -> None:
    attributes = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "f",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
        "gen_ai.completion.0.tool_calls.10.name": "k",
        "gen_ai.completion.0.tool_calls.2.name": "g",
        "llm.request.functions.0.name": "unused",
    }
    assert calls(one("opentelemetry", [span(1, None, attributes)])) == [
        ("f", {"a": 1}, None),
        ("g", {}, None),
        ("k", {}, None),
    ]
    called = '[{"toolCallId": "c1", "toolName": "f", "input": "{\\"a\\": 1}"}]'
    spans = [
        span(1, None, {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "hi"}'}),
        span(
            2,
            1,
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": '[{"role":"user","content":"hi"}]',
                "ai.response.toolCalls": called,
                "ai.response.text": "I look.",
            },
        ),
        span(
            3,
            1,
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "f",
                "ai.toolCall.id": "c1",
                "ai.toolCall.args": '{"a":1}',
                "ai.toolCall.result": '"y"',
            },
        ),
    ]
    trace = one("opentelemetry", spans)
    assert calls(trace) == [("f", {"a": 1}, '"y"')]
    assert roles(trace) == ["user", "assistant", "tool"]


def test_an_id_that_is_the_name_of_the_tool_does_not_make_two_calls_one(one) -> None:
    spans = [
        span(1, None, chat([USER], [asks(("f", {"a": 1}, "f"))])),
        span(2, None, tool("f", {"a": 1}, "x", "f")),
        span(3, None, chat([USER], [asks(("f", {"a": 2}, "f"))])),
        span(4, None, tool("f", {"a": 2}, "y", "f")),
    ]
    assert calls(one("opentelemetry", spans)) == [("f", {"a": 1}, "x"), ("f", {"a": 2}, "y")]


def test_an_answer_that_repeats_a_call_of_its_own_history_asks_again(one) -> None:
    told = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "f", "response": "1"}]}
    spans = [
        span(1, None, chat([USER], [asks(("f", {}, "f"))])),
        span(2, None, chat([USER, asks(("f", {}, "f")), told], [asks(("f", {}, "f"))])),
        span(3, None, chat([USER, asks(("f", {}, "f")), told, asks(("f", {}, "f")), told], [says("done")])),
    ]
    assert calls(one("opentelemetry", spans)) == [("f", {}, "1"), ("f", {}, "1")]


def test_a_trace_that_only_sets_an_agent_up_is_left_out(one, tmp_path: Path) -> None:
    setup = {**span(1, None, {"gen_ai.operation.name": "create_agent", "gen_ai.agent.name": "a"}), "traceId": "s"}
    assert calls(one("opentelemetry", [setup, span(2, None, tool("f", {}, "x"))])) == [("f", {}, "x")]
    file = tmp_path / "setup.json"
    file.write_text(json.dumps([setup]))
    (record,) = read_traces(file, "opentelemetry")
    assert record.error is not None and "found 1 traces without a model or tool call" in record.error


@pytest.mark.parametrize("given", [{"a": 1}, '{"a": 1}'])
def test_langsmith_s_exporter_wraps_a_tool_s_input(one, given: Any) -> None:
    attributes = {"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    attributes["input.value"] = json.dumps({"input": given})
    spans = [span(1, None, chat([USER], [asks(("f", {"a": 1}, "c1"))])), span(2, None, attributes)]
    assert calls(one("opentelemetry", spans)) == [("f", {"a": 1}, None)]


def test_a_message_with_the_name_of_a_tool_as_its_role_is_that_tool_s(one) -> None:
    called = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "f", "args": {"a": 1}}]}
    messages = [{"role": "user", "content": "hi"}, called, {"role": "f", "content": "x"}]
    attributes = {"openinference.span.kind": "LLM", "input.value": json.dumps({"messages": messages})}
    assert calls(one("opentelemetry", [span(1, None, attributes)])) == [("f", {"a": 1}, "x")]


def test_reasoning_of_any_name_is_nothing_that_was_said(one) -> None:
    thinks = {"type": "TextReasoningContent", "content": "hmm"}
    answer = {"role": "assistant", "parts": [thinks, {"type": "text", "content": "hello"}]}
    trace = one("opentelemetry", [span(1, None, chat([USER], [answer]))])
    assert [message.content for message in trace.messages] == ["hi", "hello"]


def log(number: int, name: str, body: Any, attributes: dict[str, Any] | None = None) -> dict[str, Any]:
    """One log record of the span `number`."""
    ids = {"traceId": "t", "spanId": str(number), "timeUnixNano": str(1_700_000_000_000_000_000 + number)}
    told = [{"key": key, "value": any_value(value)} for key, value in (attributes or {}).items()]
    return {**ids, "eventName": name, "body": any_value(body), "attributes": told}


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        pairs = [{"key": key, "value": any_value(item)} for key, item in value.items()]
        return {"kvlistValue": {"values": pairs}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"stringValue": value}


def exported(records: list[Any]) -> dict[str, Any]:
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": records}]}]}


CALLED = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]}
CHAT = {"gen_ai.operation.name": "chat"}


def test_log_records_complete_the_spans_that_they_name(one) -> None:
    spans = [span(1, None, CHAT), span(2, None, tool("f", {"a": 1}, "x", "c1")), span(3, None, CHAT)]
    history = [log(3, "gen_ai.user.message", {"content": "hi"}), log(3, "gen_ai.assistant.message", CALLED)]
    records = [
        log(1, "gen_ai.user.message", {"content": "hi"}),
        log(1, "gen_ai.choice", {"index": "0", "message": CALLED}),
        *history,
        log(3, "gen_ai.tool.message", {"id": "c1", "content": "x"}),
        log(3, "gen_ai.choice", {"index": "0", "message": {"content": "done"}}),
        {"body": {"stringValue": "GET /"}},
        log(3, "http.request", "GET /"),
    ]
    scoped = [{"resource": {}, "scopeSpans": [{"spans": [{**item, "attributes": []} for item in spans]}]}]
    for item, written in zip(scoped[0]["scopeSpans"][0]["spans"], spans, strict=True):
        kept = {key: value for key, value in written["attributes"].items() if value is not None}
        item["attributes"] = [{"key": key, "value": any_value(value)} for key, value in kept.items()]
    for lines in ([{"resourceSpans": scoped}, exported(records)], [exported(records), {"resourceSpans": scoped}]):
        trace = one("opentelemetry", lines, lines=True)
        assert calls(trace) == [("f", {"a": 1}, "x")]
        assert roles(trace) == ["user", "assistant", "tool", "assistant"]


def test_log_records_alone_are_the_model_calls(one) -> None:
    given = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    wanted = {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": "1"}}
    details = {"gen_ai.input.messages": given, "gen_ai.output.messages": [{"role": "assistant", "parts": [wanted]}]}
    details |= {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    trace = one("opentelemetry", exported([log(1, "gen_ai.client.inference.operation.details", "", details)]))
    assert calls(trace) == [("f", {"a": "1"}, None)]
    assert (roles(trace), trace.model) == (["user", "assistant"], "m")


def test_azure_puts_the_content_of_an_event_into_one_attribute(one) -> None:
    def event(name: str, content: Any) -> dict[str, Any]:
        return {"name": name, "attributes": {"gen_ai.event.content": json.dumps(content)}}

    asked = event("gen_ai.user.message", {"message": {"role": "user", "content": "hi"}})
    spans = [
        span(1, None, CHAT, events=[asked, event("gen_ai.choice", {"message": CALLED, "finish_reason": "tool_calls"})]),
        span(
            2,
            None,
            {},
            events=[
                event("gen_ai.user.message", {"content": "hi"}),
                event("gen_ai.assistant.message", CALLED),
                event("gen_ai.tool.message", {"content": "x", "id": "c1"}),
                event("gen_ai.choice", {"message": {"content": "done"}}),
            ],
        ),
    ]
    trace = one("opentelemetry", spans)
    assert calls(trace) == [("f", {"a": 1}, "x")]
    assert roles(trace) == ["user", "assistant", "tool", "assistant"]
    listed = [
        event("gen_ai.input.messages", [USER]),
        event("gen_ai.output.messages", [asks(("f", {"a": 1}, "c1"))]),
    ]
    assert calls(one("opentelemetry", [span(1, None, {}, events=listed)])) == [("f", {"a": 1}, None)]


@pytest.mark.parametrize(
    "given",
    [{"input.value": '{"args": ["hi"]}'}, {"llm.prompts": '["hi"]'}, {"input.value": '{"query": "hi"}'}],
)
def test_plain_texts_of_a_model_call_are_what_was_asked_and_said(one, given: dict[str, str]) -> None:
    attributes = {"openinference.span.kind": "LLM", "output.value": "hello", **given}
    trace = one("opentelemetry", [span(1, None, attributes)])
    assert [(message.role, message.content) for message in trace.messages] == [("user", "hi"), ("assistant", "hello")]


# --- conversations ----------------------------------------------------------------------------------------


def test_gemini_request_with_response(one) -> None:
    value = {
        "request": {
            "systemInstruction": {"parts": [{"text": "be kind"}]},
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"functionCall": {"name": "f"}}],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "f", "response": {"r": 1}}},
                        {"functionResponse": {"name": "f", "response": {"r": 2}}},
                    ],
                },
            ],
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}]}],
        },
        "response": {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "thinking", "thought": True}, {"text": "done"}]}}
            ],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
            "modelVersion": "gemini",
        },
    }
    trace = one("gemini", value)
    assert calls(trace) == [("f", {"a": 1}, {"r": 1}), ("f", {}, {"r": 2})]
    assert [item.step for item in TraceView(trace).calls] == [1, 1]
    assert trace.messages[-1].content == "done" and trace.model == "gemini"
    assert trace.tools is not None and trace.tools[0].parameters == {"type": "object", "properties": {}}
    assert trace.usage is not None and trace.usage.total == 7


def test_anthropic_request_with_parallel_tools_and_an_error(one) -> None:
    value = {
        "model": "claude",
        "system": [{"type": "text", "text": "be kind"}],
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "y"}]},
                    {"type": "tool_result", "tool_use_id": "c1", "content": "no such a", "is_error": True},
                    {"type": "text", "text": "go on"},
                ],
            },
        ],
        "tools": [
            {"name": "f", "input_schema": {"type": "object", "properties": {}}},
            {"type": "bash_20250124", "name": "bash"},
        ],
        "metadata": {"user_id": "u"},
        "temperature": 0,
    }
    trace = one("anthropic", value)
    assert calls(trace) == [("f", {"a": 1}, "no such a"), ("g", {}, "y")]
    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "user"]
    assert trace.messages[2].content == "I look."
    assert TraceView(trace).calls[0].result.is_error is True
    assert trace.metadata == {"user_id": "u", "max_tokens": 10, "temperature": 0}
    assert trace.tools is not None and [tool.name for tool in trace.tools] == ["f", "bash"]


def test_pydantic_ai_history(one) -> None:
    value = [
        {
            "kind": "request",
            "instructions": None,
            "parts": [
                {"part_kind": "system-prompt", "content": "be kind"},
                {"part_kind": "user-prompt", "content": ["hi", {"kind": "image-url", "url": "http://x"}]},
            ],
        },
        {
            "kind": "response",
            "model_name": "m",
            "usage": {"input_tokens": 3, "output_tokens": 1},
            "parts": [
                {"part_kind": "thinking", "content": "hm"},
                {"part_kind": "tool-call", "tool_name": "f", "args": '{"a": 1}', "tool_call_id": "c1"},
                {"part_kind": "tool-call", "tool_name": "g", "args": None, "tool_call_id": "c2"},
            ],
        },
        {
            "kind": "request",
            "parts": [
                {"part_kind": "tool-return", "tool_name": "f", "content": {"r": 1}, "tool_call_id": "c1"},
                {"part_kind": "retry-prompt", "tool_name": "g", "content": "wrong", "tool_call_id": "c2"},
            ],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": "done"}]},
    ]
    trace = one("pydantic-ai", value)
    assert calls(trace) == [("f", {"a": 1}, {"r": 1}), ("g", {}, "wrong")]
    assert [item.result.is_error for item in TraceView(trace).calls] == [None, True]
    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[2].usage is not None and trace.messages[2].usage.total == 4


def test_vercel_model_messages_and_ui_messages(one) -> None:
    model = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {"a": 1}}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "f",
                    "output": {"type": "error-text", "value": "no"},
                }
            ],
        },
    ]
    trace = one("vercel-ai", model)
    assert calls(trace) == [("f", {"a": 1}, "no")]
    assert TraceView(trace).calls[0].result.is_error is True
    ui = [
        {"role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {
                    "type": "tool-f",
                    "toolCallId": "c1",
                    "state": "output-available",
                    "input": {"a": 1},
                    "output": {"r": 1},
                },
                {
                    "type": "dynamic-tool",
                    "toolName": "g",
                    "toolCallId": "c2",
                    "state": "output-error",
                    "input": {},
                    "errorText": "no",
                },
                {"type": "tool-h", "toolCallId": "c3", "state": "input-available", "input": {}},
                {"type": "text", "text": "done"},
            ],
        },
    ]
    trace = one("vercel-ai", ui)
    assert calls(trace) == [("f", {"a": 1}, {"r": 1}), ("g", {}, "no"), ("h", {}, None)]
    steps = {
        "prompt": "hi",
        "steps": [
            {
                "text": "I look.",
                "toolCalls": [{"toolCallId": "c1", "toolName": "f", "input": {}}],
                "toolResults": [{"toolCallId": "c1", "toolName": "f", "output": "y"}],
            },
            {"text": "done", "toolCalls": [], "toolResults": []},
        ],
    }
    trace = one("vercel-ai", steps)
    assert calls(trace) == [("f", {}, "y")] and roles(trace) == ["user", "assistant", "tool", "assistant"]


def test_strands_and_bedrock_messages(one) -> None:
    messages = [
        {"role": "user", "content": [{"text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"text": "I look."}, {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"json": {"r": 1}}]}}],
        },
    ]
    for value in (
        messages,
        {"messages": messages},
        [{"message": item, "message_id": n} for n, item in enumerate(messages)],
    ):
        trace = one("strands", value)
        assert calls(trace) == [("f", {"a": 1}, {"r": 1})]
        assert roles(trace) == ["user", "assistant", "tool"]
        assert TraceView(trace).calls[0].result.is_error is True


def test_langchain_in_every_serialisation(one) -> None:
    flat = [
        {"type": "human", "content": "hi"},
        {
            "type": "ai",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
            ],
            "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1"}],
            "invalid_tool_calls": [{"name": "g", "args": "{", "id": "c2", "error": "x"}],
        },
        {"type": "tool", "content": "no", "tool_call_id": "c1", "name": "f", "status": "error"},
    ]
    kinds = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    dumped = [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", kinds[item["type"]]],
            "kwargs": {key: item[key] for key in item if key != "type"},
        }
        for item in flat
    ]
    wrapped = [{"type": item["type"], "data": item} for item in flat]
    state = {"values": {"messages": flat}, "next": []}
    updates = [{"agent": {"messages": [flat[0], flat[1]]}}, {"tools": {"messages": [flat[2]]}}]
    for value in (flat, {"messages": flat}, dumped, wrapped, state, updates):
        trace = one("langchain", value)
        view = TraceView(trace)
        assert [(item.call.name, item.call.arguments, item.call.id) for item in view.calls] == [
            ("f", {"a": 1}, "c1"),
            ("g", None, "c2"),
        ]
        assert view.calls[0].result is not None and view.calls[0].result.is_error is True
        assert roles(trace) == ["user", "assistant", "tool"]


def test_openai_chunks_add_up_to_a_response(one) -> None:
    def chunk(**delta: Any) -> dict[str, Any]:
        return {"id": "r", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta}]}

    def piece(index: int, **more: Any) -> dict[str, Any]:
        return {"index": index, **more}

    lines = [
        chunk(role="assistant", content=""),
        chunk(tool_calls=[piece(0, id="c1", function={"name": "f", "arguments": '{"a"'})]),
        chunk(tool_calls=[piece(1, id="c2", function={"name": "g", "arguments": ""})]),
        chunk(tool_calls=[piece(0, function={"arguments": ": 1}"})]),
    ]
    trace = one("openai-completions", lines, lines=True)
    assert calls(trace) == [("f", {"a": 1}, None), ("g", {}, None)]
    assert [item.step for item in TraceView(trace).calls] == [1, 1]


def test_responses_items_over_several_turns(one) -> None:
    value = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": ""},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "2"}]},
        {"type": "function_call_output", "call_id": "c1", "output": '{"r": 1}'},
        {"type": "web_search_call", "id": "ws", "status": "failed", "action": {"type": "search", "query": "x"}},
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "code": "1+1",
            "container_id": "k",
            "outputs": [{"type": "logs", "logs": "2"}],
        },
        {"type": "mcp_call", "id": "m", "name": "h", "arguments": "{}", "error": "denied", "output": None},
        {"type": "mcp_list_tools", "tools": [{"name": "unused"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    trace = one("openai-responses", value)
    view = TraceView(trace)
    assert [(item.call.name, item.call.arguments) for item in view.calls] == [
        ("f", {"a": 1}),
        ("g", {}),
        ("web_search", {"type": "search", "query": "x"}),
        ("code_interpreter", {"code": "1+1", "container_id": "k"}),
        ("h", {}),
    ]
    assert [item.result and item.result.content for item in view.calls] == [
        '{"r": 1}',
        "2",
        None,
        [{"type": "logs", "logs": "2"}],
        None,
    ]
    assert [item.result and item.result.is_error for item in view.calls] == [None, None, True, None, True]
    assert [item.step for item in view.calls] == [1, 1, 2, 3, 4]


def test_codex_rollout_lines(one) -> None:
    lines = [
        {"type": "session_meta", "payload": {"id": "s1", "cwd": "/x"}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        },
        {"type": "event_msg", "payload": {"type": "token_count"}},
        {
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"},
        },
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "a"}},
    ]
    trace = one("openai-responses", lines, lines=True)
    assert calls(trace) == [("shell", {"command": ["ls"]}, "a")]
    assert (trace.id, trace.metadata) == ("s1", {"cwd": "/x"})


def test_claude_code_joins_the_pieces_of_a_response_and_keeps_sub_agents_apart(one) -> None:
    def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        message = {"role": kind, "content": content, **({"id": more.pop("response")} if "response" in more else {})}
        return {"type": kind, "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z", "message": message, **more}

    lines = [
        line("user", "hi"),
        line("user", "<system-reminder>", isMeta=True),
        line("assistant", [{"type": "text", "text": "I look."}], response="r1"),
        line(
            "assistant",
            [{"type": "tool_use", "id": "c1", "name": "Task", "input": {"prompt": "find x"}}],
            response="r1",
        ),
        line("user", "find x", isSidechain=True, agentId="a7"),
        line(
            "assistant",
            [{"type": "tool_use", "id": "c2", "name": "Grep", "input": {}}],
            isSidechain=True,
            agentId="a7",
            response="r2",
        ),
        line("user", [{"type": "tool_result", "tool_use_id": "c2", "content": "x:1"}], isSidechain=True, agentId="a7"),
        line("user", [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "in x"}]}]),
    ]
    trace = one("claude-code", lines, lines=True)
    assert calls(trace) == [("Task", {"prompt": "find x"}, "in x"), ("Grep", {}, "x:1")]
    view = TraceView(trace)
    assert view.turns == 1 and view.steps == 2
    assert [trace.messages[item.message].agent for item in view.calls] == [None, "a7"]


def test_mcp_transcript(one) -> None:
    def rpc(**body: Any) -> dict[str, Any]:
        return {"direction": "x", "message": {"jsonrpc": "2.0", **body}}

    lines = [
        rpc(id=0, method="tools/list"),
        rpc(id=0, result={"tools": [{"name": "f", "inputSchema": {"type": "object", "properties": {}}}]}),
        rpc(id=1, method="tools/call", params={"name": "f", "arguments": {"a": 1}}),
        rpc(method="notifications/progress", params={}),
        rpc(id=1, result={"content": [{"type": "text", "text": "y"}], "isError": True}),
        rpc(id=2, method="tools/call", params={"name": "g"}),
        rpc(id=2, error={"code": -32602, "message": "Unknown tool: g"}),
    ]
    trace = one("mcp", lines, lines=True)
    assert calls(trace) == [("f", {"a": 1}, "y"), ("g", {}, None)]
    assert [(item.result.is_error, item.result.error) for item in TraceView(trace).calls] == [
        (True, None),
        (True, "Unknown tool: g"),
    ]
    assert trace.tools is not None and [tool.name for tool in trace.tools] == ["f"]


def test_adk_session(one) -> None:
    def event(author: str, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
        return {"author": author, "content": {"role": role, "parts": list(parts)}, "timestamp": 1.5e9, **more}

    value = {
        "id": "s1",
        "app_name": "shop",
        "state": {"cart": ["x"]},
        "events": [
            event("user", "user", {"text": "hi"}),
            event("clerk", "model", {"text": "I lo"}, partial=True),
            event(
                "clerk", "model", {"text": "I look."}, {"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}}
            ),
            event("clerk", "user", {"function_response": {"id": "c1", "name": "f", "response": {"r": 1}}}),
            event("boss", "model", {"text": "done"}, usage_metadata={"prompt_token_count": 3}),
        ],
    }
    trace = one("google-adk", value)
    assert calls(trace) == [("f", {"a": 1}, {"r": 1})]
    assert [message.agent for message in trace.messages] == [None, "clerk", "clerk", "boss"]
    assert trace.final_state == {"cart": ["x"]} and trace.metadata == {"app_name": "shop"}


def test_langsmith_runs_as_lines_with_a_tool_and_its_message(one) -> None:
    human = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "hi"},
    }
    asked = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": "",
            "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1"}],
            "usage_metadata": {"input_tokens": 3, "output_tokens": 1},
        },
    }
    lines = [
        {
            "id": "r",
            "trace_id": "r",
            "run_type": "chain",
            "name": "agent",
            "inputs": {"input": "hi"},
            "outputs": {},
            "start_time": "2026-01-01T00:00:00",
            "end_time": "2026-01-01T00:00:09",
            "extra": {"metadata": {"case_id": "c-1"}},
        },
        {
            "id": "l",
            "trace_id": "r",
            "parent_run_id": "r",
            "run_type": "llm",
            "name": "ChatX",
            "inputs": {"messages": [[human]]},
            "outputs": {
                "generations": [[{"text": "", "message": asked}]],
                "llm_output": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 1}},
            },
            "start_time": "2026-01-01T00:00:01",
        },
        {
            "id": "t",
            "trace_id": "r",
            "parent_run_id": "r",
            "run_type": "tool",
            "name": "f",
            "inputs": {"input": "{'a': 1}"},
            "outputs": {"output": {"type": "tool", "content": "y", "tool_call_id": "c1", "status": "success"}},
            "start_time": "2026-01-01T00:00:02",
        },
        {
            "id": "t2",
            "trace_id": "r",
            "parent_run_id": "r",
            "run_type": "tool",
            "name": "g",
            "inputs": {"q": 1},
            "outputs": None,
            "error": "ValueError('no')",
            "start_time": "2026-01-01T00:00:03",
        },
    ]
    trace = one("langsmith", lines, lines=True)
    assert calls(trace) == [("f", {"a": 1}, "y"), ("g", {"q": 1}, None)]
    failed = TraceView(trace).calls[1].result
    assert failed is not None and failed.is_error is True and failed.error == "ValueError('no')"
    assert trace.case_id == "c-1" and trace.usage is not None and trace.usage.total == 4


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path) -> None:
    import zipfile

    file = tmp_path / "bomb.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t"}}')
        archive.writestr("samples/1_epoch_1.json", b'{"id": 1, "x": "' + b"0" * 60_000_000 + b'"}')
        archive.writestr(
            "samples/2_epoch_1.json", '{"id": 2, "epoch": 1, "messages": [{"role": "user", "content": "hi"}]}'
        )
    assert file.stat().st_size < 100_000
    first, second = read_traces(file)
    assert first.trace is None and "samples/1_epoch_1.json: found a member that unpacks to more than" in str(
        first.error
    )
    assert second.trace is not None and second.trace.case_id == "2"

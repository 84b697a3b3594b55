"""Broken files of every family: each ends in traces or in errors that name the file, in under a second."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.formats.registry import FORMATS, find_sources, read_traces

NAMES = [format.name for format in FORMATS]
FOLDER = "data/trace_formats"
DEEP = "[" * 10_000
SMALL = {
    "anthropic_messages/anthropic-mcp.1.chunks.txt",
    "anthropic_messages/anthropic-tool-search-bm25.1.json",
    "claude_code/claude_code_transcript.jsonl",
    "deepeval/test_run_sample.json",
    "google_adk/adk-samples__travel-concierge__eval__data__intrip.test.json",
    "google_adk/adk-samples__customer-service__eval__eval_data__full_conversation.test.json",
    "langfuse/google-adk-2025-08-28.trace.json",
    "langsmith/anthropic_managed_custom_tools.jsonl",
    "langsmith/langsmith_py_wrap_openai_.json",
    "openai_responses/openai-custom-tool.1.chunks.txt",
    "openai_responses/openai-mcp-tool.1.json",
    "strands_evals_spans/adk_live_spans.json",
    "strands_evals_spans/claude_live_spans.json",
    "strands_evals_spans/openinference_adot_spans.json",
    "strands_evals_spans/otel_genai_convention_spans.json",
    "swe_agent_traj/6e44b9__sweagenttestrepo-1c2844.traj",
    "otlp_plain/otlp2jaeger-out.json",
    "_generated_here/mlflow_trace_from_tau_bench.json",
    "inspect_ai/2025-05-12T20-28-13-04-00_popularity.json",
}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(
        ([], {}, [None], [[]], [{}], {"": None}, {"role": 5}, "{'a':", "ResponseFunctionToolCall((", "[{", "\x00")
    ),
)


def drain(path: Path, format: str | None = None) -> list[str | None]:
    """Read everything that a file gives, within a second; return the error of each record, None for a trace."""
    started = time.process_time()
    found = []
    for record in read_traces(path, format):
        assert (record.trace is None) != (record.error is None)
        assert record.error is None or record.error.startswith(str(path))
        found.append(record.error)
    for source, told in find_sources(path, format):
        if not isinstance(told, str) and told.cases is not None:
            assert all((case.case is None) != (case.error is None) for case in told.cases(source))
    assert time.process_time() - started < 1
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


@pytest.mark.parametrize("name", [format.name for format in FORMATS if format.read is not None])
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\x01\xff",
        b"PK\x03\x04broken",
        b'{"a": ',
        DEEP.encode(),
        b"5",
        b'"x"',
        b"[]",
        b"{}",
        b"[5]",
        b"\xff\xfe{}",
    ],
    ids=["empty", "binary", "zip", "cut", "deep", "number", "text", "list", "object", "list-of-numbers", "utf-16"],
)
def test_what_is_no_file_of_the_family_at_all_is_one_clear_error(tmp_path: Path, name: str, raw: bytes) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(raw)
    (error,) = drain(file, name)
    assert error is not None and (any(words in error for words in ("expected", "no trace", "no YAML"))), error


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(SMALL))
@given(data=st.data())
def test_wrong_values_anywhere_in_a_real_file(
    name: str, shared: Path, tmp_path_factory: Any, data: st.DataObject
) -> None:
    text = (shared / FOLDER / name).read_text(encoding="utf-8")
    try:
        value, lines = json.loads(text), False
    except ValueError:
        value, lines = [json.loads(line) for line in text.splitlines() if line.startswith(("{", "["))], True
    value = copy.deepcopy(value)
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(value))
        container, key = found[data.draw(st.integers(0, len(found) - 1))]
        if data.draw(st.integers(0, 5)) == 0:
            del container[key]
        else:
            container[key] = copy.deepcopy(data.draw(ODD))
        if not list(places(value)):
            break
    file = tmp_path_factory.getbasetemp() / f"odd{Path(name).suffix}"
    file.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value), encoding="utf-8")
    drain(file)


@pytest.mark.shared
def test_every_real_file_cut_off_or_overwritten(shared: Path, tmp_path: Path) -> None:
    for source in sorted((shared / FOLDER).rglob("*")):
        if not source.is_file() or source.suffix in (".tsv",) or "licenses" in source.parts:
            continue
        raw = source.read_bytes()
        if len(raw) > 60_000:
            continue
        file = tmp_path / source.name
        for part in (raw[: len(raw) // 2], raw[:-20], raw[:300] + b"\xff\x00[[[{{{" + raw[300:]):
            file.write_bytes(part)
            drain(file)
        file.write_bytes(raw[:200] + DEEP.encode() + raw[200:])
        drain(file)


def test_deep_nesting_inside_recorded_text_stays_text(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": DEEP,
        "input.value": "hi",
        "output.value": DEEP,
    }
    spans = [{"traceId": "t", "spanId": "1", "name": "x", "attributes": attributes}]
    spans.append(
        {"traceId": "t", "spanId": "2", "name": "f", "attributes": {"gen_ai.tool.name": "f", "input.value": DEEP}}
    )
    file = tmp_path / "deep.json"
    file.write_text(json.dumps(spans))
    (record,) = read_traces(file)
    assert record.trace is not None
    (call,) = [call for message in record.trace.messages for call in message.tool_calls]
    assert call.arguments is None and call.arguments_raw == DEEP


def test_a_parent_that_is_its_own_child_ends(tmp_path: Path) -> None:
    named = {"gen_ai.tool.name": "f", "input.value": "{}"}
    spans = [
        {"traceId": "t", "spanId": "1", "parentSpanId": "2", "name": "a", "attributes": named},
        {"traceId": "t", "spanId": "2", "parentSpanId": "1", "name": "b", "attributes": named},
    ]
    file = tmp_path / "loop.json"
    file.write_text(json.dumps(spans))
    drain(file)


def test_model_calls_that_repeat_a_long_history_are_read_in_seconds(tmp_path: Path) -> None:
    history: list[Any] = [{"role": "user", "content": "go"}]
    spans = []
    for number in range(150):
        asked = {
            "role": "assistant",
            "tool_calls": [{"id": f"c{number}", "function": {"name": "f", "arguments": "{}"}}],
        }
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": list(history),
            "gen_ai.output.messages": [asked],
        }
        spans.append(
            {
                "traceId": "t",
                "spanId": f"l{number}",
                "name": "x",
                "startTimeUnixNano": str(number + 1),
                "attributes": attributes,
            }
        )
        history += [asked, {"role": "tool", "tool_call_id": f"c{number}", "content": str(number)}]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(spans))
    started = time.process_time()
    (record,) = read_traces(file)
    assert time.process_time() - started < 3
    assert record.trace is not None and sum(len(message.tool_calls) for message in record.trace.messages) == 150

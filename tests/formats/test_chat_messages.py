"""OpenAI chat in the shapes that people keep it in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace, Usage
from toolgrade.formats.record import Record
from toolgrade.formats.registry import detect_format, read_traces

ASKED = {"role": "user", "content": "Weather in Oslo?"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "get", "arguments": '{"city": "Oslo"}'}}],
}
TOLD = {"role": "tool", "tool_call_id": "c", "content": "-4"}
RUN = [ASKED, CALLED, TOLD]


def read(folder: Path, text: str, name: str = "run.json") -> list[Record]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    assert detect_format(file).name == "openai-chat"
    return list(read_traces(file))


def traces(records: list[Record]) -> list[Trace]:
    assert [record.error for record in records if record.error] == []
    return [record.trace for record in records if record.trace]


@pytest.mark.parametrize(
    ("text", "name", "ids"),
    [
        (json.dumps(RUN), "run.json", ["run"]),
        (json.dumps(RUN, indent=2), "run.jsonl", ["run"]),
        (json.dumps({"messages": RUN}), "run.json", ["run"]),
        (json.dumps([{"messages": RUN}, {"messages": RUN, "id": 7}]), "run.json", ["run-1", "7"]),
        (json.dumps([RUN, RUN], indent=1), "run.json", ["run-1", "run-2"]),
        ("\n".join(map(json.dumps, [{"messages": RUN}, RUN])), "run.jsonl", ["run-1", "run-2"]),
        ("\r\n\r\n".join(map(json.dumps, RUN)), "run.txt", ["run"]),
    ],
)
def test_every_shape_gives_the_same_messages(tmp_path: Path, text: str, name: str, ids: list[str]) -> None:
    found = traces(read(tmp_path, text, name))
    assert [trace.id for trace in found] == ids
    for trace in found:
        asked, called, told = trace.messages
        (call,) = called.tool_calls
        assert (asked.content, call.name, call.arguments) == ("Weather in Oslo?", "get", {"city": "Oslo"})
        assert told.result and (told.result.call_id, told.result.content) == ("c", "-4")


@pytest.mark.parametrize(
    ("arguments", "values", "reason"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ({"a": 1}, {"a": 1}, None),
        ("{}", {}, None),
        ("", {}, None),
        ("  ", {}, None),
        (None, {}, None),
        ("null", {}, None),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}, None),
        ('{"a": ', None, "not JSON: EOF while parsing a value"),
        ("[1]", None, "found a list of 1, expected an object"),
        ([1], None, "found a list of 1, expected an object"),
        ('"text"', None, 'found text "text", expected an object'),
        ('{"a": NaN}', None, "not JSON: expected value"),
        ('{"a": 1e999}', None, "holds a number that is not finite"),
        ("{'a': 1}", None, "not JSON: key must be a string"),
    ],
)
def test_arguments_are_an_object_or_kept_as_recorded(
    tmp_path: Path, arguments: Any, values: dict[str, Any] | None, reason: str | None
) -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    (trace,) = traces(read(tmp_path, json.dumps([message])))
    (call,) = trace.messages[0].tool_calls
    assert call.arguments == values
    if reason is None:
        assert (call.arguments_raw, call.parse_error) == (None, None)
    else:
        assert call.arguments_raw == (arguments if isinstance(arguments, str) else json.dumps(arguments))
        assert call.parse_error is not None and call.parse_error.startswith(reason)


def test_absent_arguments_legacy_calls_parts_and_refusals(tmp_path: Path) -> None:
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}], "name": "planner"},
        {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": '{"x": 1}'}},
        {"role": "function", "name": "g", "content": "done"},
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
    (trace,) = traces(read(tmp_path, json.dumps(messages)))
    assert [message.role for message in trace.messages] == [
        "system",
        "user",
        "assistant",
        "assistant",
        "tool",
        "assistant",
    ]
    assert trace.messages[1].content == "a\n[image_url]"
    assert (trace.messages[2].tool_calls[0].arguments, trace.messages[2].agent) == ({}, "planner")
    assert (trace.messages[3].tool_calls[0].name, trace.messages[3].tool_calls[0].arguments) == ("g", {"x": 1})
    assert trace.messages[4].result and trace.messages[4].result.name == "g"
    assert trace.messages[5].content == "No."


def test_what_surrounds_the_messages_is_kept(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
    run = {"messages": RUN, "tools": [tool, tool], "metadata": {"case_id": "oslo", "seed": 1}, "model": "m", "trial": 2}
    run |= {"usage": {"prompt_tokens": 5, "completion_tokens": 7}, "score": 0.5}
    other = {"messages": RUN, "task_id": 3, "tools": ["get", "put"]}
    first, second = traces(read(tmp_path, json.dumps([run, other])))
    assert (first.case_id, first.trial, first.model) == ("oslo", 2, "m")
    assert first.tools == (ToolSpec(name="get", parameters={"type": "object"}),)
    assert first.usage == Usage(input_tokens=5, output_tokens=7)
    assert first.metadata == {"case_id": "oslo", "seed": 1, "score": 0.5}
    assert (second.case_id, second.tools, second.metadata["tools"]) == ("3", None, ["get", "put"])


def test_a_broken_message_line_is_named_with_its_line(tmp_path: Path) -> None:
    lines = [json.dumps(ASKED), json.dumps({"role": "assistant", "tool_calls": [{"function": {"name": 5}}]})]
    (record,) = read(tmp_path, "\n".join(lines), "run.jsonl")
    assert record.error == f"{tmp_path}/run.jsonl:2: tool_calls[0].name: found a number 5, expected non-empty text."
    (record,) = read(tmp_path, lines[0] + "\n{", "run.jsonl")
    assert record.error is not None and record.error.startswith(f"{tmp_path}/run.jsonl:2: the JSON ends too early")

# ruff: noqa: E501 - messages are compared whole
"""toolgrade's own lines: what is written reads back equal, what is wrong is named, tools are shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace, Usage
from toolgrade.formats import native
from toolgrade.formats.registry import read_traces

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
CALL = st.builds(ToolCall, name=TEXT, id=st.none() | TEXT, arguments=st.none() | OBJECT, parse_error=st.none() | TEXT)
RESULT = st.builds(ToolResult, call_id=st.none() | TEXT, content=JSON, is_error=st.none() | st.booleans())
MESSAGE = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=st.none() | TEXT,
    tool_calls=st.lists(CALL, max_size=2).map(tuple),
    result=st.none() | RESULT,
    usage=st.none() | st.builds(Usage, input_tokens=st.none() | st.integers(0, 10**20)),
)
TOOLS = st.lists(st.builds(ToolSpec, name=st.just("t"), parameters=OBJECT), max_size=2).map(tuple)
TRACE = st.builds(
    Trace,
    id=TEXT.filter(bool),
    messages=st.lists(MESSAGE, max_size=3).map(tuple),
    tools=st.none() | TOOLS,
    final_state=JSON,
    metadata=OBJECT,
)


def read(tmp: Path, *lines: bytes) -> list[Any]:
    file = tmp / "t.jsonl"
    file.write_bytes(b"".join(lines))
    return list(read_traces(file))


@given(st.lists(TRACE, min_size=1, max_size=3))
def test_written_traces_read_back_equal(tmp_path_factory: pytest.TempPathFactory, traces: list[Trace]) -> None:
    records = read(tmp_path_factory.getbasetemp(), *map(native.write_trace, [*traces, *traces]))
    assert [record.trace for record in records] == [*traces, *traces]


def test_lines_with_the_same_tools_share_them_and_others_do_not(tmp_path: Path) -> None:
    tools = (ToolSpec(name="a", parameters={"type": "object", "properties": {"tools": {"enum": [["x"]]}}}),)
    one = Trace(id="1", messages=(), tools=tools, metadata={"x": ',"tools":[]'})
    two = one.model_copy(update={"id": "2", "metadata": {}})
    three = two.model_copy(update={"id": "3", "tools": (ToolSpec(name="b"),)})
    first, second, third = (record.trace for record in read(tmp_path, *map(native.write_trace, (one, two, three))))
    assert (first, second, third) == (one, two, three)
    assert second.tools is first.tools


def test_a_list_of_tools_inside_a_tool_is_not_taken_for_the_list_of_tools(tmp_path: Path) -> None:
    inner = {"type": "object", "x": 1, "tools": ["same"]}
    made = [Trace(id=name, messages=(), tools=(ToolSpec(name=name, parameters=inner),)) for name in ("a", "b")]
    assert [record.trace for record in read(tmp_path, *map(native.write_trace, made))] == made


def test_a_line_that_only_ends_like_the_one_before_is_not_mistaken_for_it(tmp_path: Path) -> None:
    good = native.write_trace(Trace(id="1", messages=(), tools=(ToolSpec(name="a"),)))
    inner = b'{"schema":"toolgrade.trace/1","id":"2","messages":[],"metadata":{"k":1,"tools":[{"name":"a"}]}\n'
    records = read(tmp_path, good, inner)
    assert records[1].trace is None and "cut off" in records[1].error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"schema":"toolgrade.trace/1","id":"a","mesages":[],"messages":[]}',
         "mesages: unknown field. Did you mean 'messages'?"),
        ('{"schema": "toolgrade.trace/1", "id": "a"}', "messages: is missing. Add it."),
        ('{"schema":"toolgrade.trace/1","id":"a","messages":[{"role":"asistant"}]}',
         "messages[0].role: found text \"asistant\", expected 'system', 'user', 'assistant' or 'tool'."
         " Did you mean 'assistant'?"),
        ('{"schema":"toolgrade.trace/1","id":"a","messages":[{"role":"assistant","tool_calls":[{"nam":"x","name":5}]}]}',
         "messages[0].tool_calls[0].name: found a number 5, expected text (write it in quotes). "
         "messages[0].tool_calls[0].nam: unknown field. Did you mean 'name'?"),
        ('{"schema":"toolgrade.trace/2","id":"a","messages":[]}',
         'schema: found text "toolgrade.trace/2", expected "toolgrade.trace/1". Another version needs another toolgrade.'),
        ('{"id":"a","messages":[]}', 'schema: found nothing, expected "toolgrade.trace/1". Add it.'),
        ('{"schema":"toolgrade.trace/1","id":"a","messages":[],"final_state":NaN}',
         "final_state: holds a number that is NaN or infinite, which JSON does not have."),
        ('{"schema":"toolgrade.trace/1","id":"a","messages":[{"role":"tool","result":{"content":[1e999]}}]}',
         "messages[0].result.content: holds a number that is NaN or infinite, which JSON does not have."),
        ("3", 'found a number 3, expected an object with "schema": "toolgrade.trace/1".'),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_with_its_field(tmp_path: Path, line: str, message: str) -> None:
    good = native.write_trace(Trace(id="1", messages=()))
    record = read(tmp_path, good, line.encode(), b"\n", good)[1]
    assert record.error == f"{tmp_path}/t.jsonl:2: {message}"


def test_memory_stays_flat_while_lines_stream(tmp_path: Path) -> None:
    import tracemalloc

    line = native.write_trace(Trace(id="1", messages=(Message(role="user", content="x" * 10_000),)))
    file = tmp_path / "big.jsonl"
    file.write_bytes(line * 2_000)  # 20 MB
    tracemalloc.start()
    count = sum(record.trace is not None for record in read_traces(file))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2_000 and peak < 1_000_000


def test_a_marked_line_need_not_be_canonical(tmp_path: Path) -> None:
    value = {"messages": [{"role": "user", "content": "hi"}], "id": "a", "schema": "toolgrade.trace/1"}
    (record,) = read(tmp_path, json.dumps(value, indent=1).replace("\n", "").encode())
    assert record.trace == Trace(id="a", messages=(Message(role="user", content="hi"),))

"""Tool files in every dialect that people have give the same tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.tools import load_tools, parse_tools, recorded_tools, write_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "type": {"type": "integer"}}}
GEMINI = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}, "type": {"type": "INTEGER"}}}
BASE: dict[str, Any] = {"name": "get_weather", "description": "Weather."}


@pytest.mark.parametrize(
    "written",
    [
        [{"type": "function", "function": {**BASE, "parameters": SCHEMA}}],
        {"tools": [{"type": "function", **BASE, "parameters": SCHEMA, "strict": True}]},
        [{**BASE, "input_schema": SCHEMA}],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**BASE, "inputSchema": SCHEMA}]}},
        [{"functionDeclarations": [{**BASE, "parameters": GEMINI}]}],
        {"tools": [{"function_declarations": [{**BASE, "parametersJsonSchema": SCHEMA}]}]},
        {"get_weather": {"description": "Weather.", "parameters": SCHEMA}},
        {"functions": [{**BASE, "parameters": SCHEMA}]},
    ],
)
def test_each_dialect_gives_the_same_tool(written: Any) -> None:
    assert parse_tools(written) == {"get_weather": ToolSpec(**BASE, parameters=SCHEMA)}


def test_bare_schemas_are_named_by_key_or_title() -> None:
    assert parse_tools({"a": SCHEMA})["a"].parameters == SCHEMA
    assert list(parse_tools([{"title": "b", **SCHEMA}])) == ["b"]


def test_writes_is_read_beside_or_inside_the_function_and_from_the_mcp_hint() -> None:
    tools = parse_tools(
        [
            {"type": "function", "function": {"name": "a", "parameters": SCHEMA}, "writes": True},
            {"name": "b", "input_schema": SCHEMA, "writes": False},
            {"name": "c", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
            {"name": "d"},
        ]
    )
    assert [tool.writes for tool in tools.values()] == [True, False, False, None]
    assert parse_tools(json.loads(write_tools(tools.values()))) == tools


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("[]", "expected at least one tool"),
        ('[{"name": "a"}, {"name": "a"}]', r"\[1\]: found a second tool 'a'"),
        ('[{"type": "function", "function": {"parameters": {}}}]', r"\[0\].function.name: found null"),
        ('[{"name": "a", "parameters": [1]}]', r"\[0\].parameters: found a list of 1, expected an object"),
        ('[{"name": "a", "parameters": {"type": "string"}}]', r'parameters.type: found text "string"'),
        ('[{"name": "a", "writes": "yes"}]', r"writes: found text .yes., expected true or false"),
        ("[3]", r"\[0\]: found a number 3"),
        ("{", "cut off"),
    ],
)
def test_a_wrong_tool_is_named_with_its_place(tmp_path: Path, written: str, words: str) -> None:
    file = tmp_path / "tools.json"
    file.write_text(written)
    with pytest.raises(ConfigError, match=words) as caught:
        load_tools(file)
    assert str(caught.value).startswith(str(file))


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        load_tools(tmp_path / "none.json")


def test_the_same_recorded_list_is_shared() -> None:
    assert recorded_tools([{"name": "a"}]) is recorded_tools([{"name": "a"}])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "count"),  # counts from the data's MANIFEST
    [
        ("tau_bench_airline/tools_airline.json", 14),
        ("tau_bench_airline/tools_retail.json", 16),
        ("tau2/tools_airline.json", 14),
        ("tau2/tools_retail.json", 15),
        ("tau2/tools_telecom.json", 13),
        ("tau2/tools_telecom_user.json", 30),
    ],
)
def test_real_tool_files(shared: Path, file: str, count: int) -> None:
    assert len(load_tools(shared / "data" / file)) == count

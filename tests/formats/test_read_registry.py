"""Reading through the public door: formats told from content, mistakes as records, lazily."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats import native
from toolgrade.formats.registry import detect_format, read_traces

TRACE = Trace(
    id="t1",
    messages=(
        Message(role="user", content="Grüße 🛫"),
        Message(role="assistant", tool_calls=(ToolCall(name="find", id="c1", arguments={"n": 10**30}),)),
    ),
)


def test_native_lines_come_back_equal_and_a_bad_line_is_an_error_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + native.write_trace(TRACE) + b"\r\n{broken\r\n" + native.write_trace(TRACE))
    first, second, third = read_traces(file)
    assert first.trace == third.trace == TRACE
    assert second.error is not None and second.error.startswith(f"{file}:3: found no JSON")
    assert [record.origin.index for record in (first, second, third)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" \n", "is empty, expected recorded runs"),
        (b"\x00\x01\x02", "NUL"),
        (b"[" * 10_000, "200 levels"),
        (b'{"a": 1}', "holds an object with a, which is no trace in a known format. `toolgrade formats` lists"),
        (b'[{"name": "f", "parameters": {}}]', "holds tools, expected recorded runs. Give it with --tools."),
        (b'{"messages": [', "cut off"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', "UTF-8"),
    ],
)
def test_a_file_that_is_no_trace_says_what_was_found_and_looked_for(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    (record,) = read_traces(file)
    assert record.trace is None and record.error is not None
    assert record.error.startswith(str(file)) and words in record.error
    with pytest.raises(UnreadableError, match=r"toolgrade formats|is empty|holds tools"):
        detect_format(file)


def test_a_directory_is_read_in_sorted_order_without_what_convert_writes_beside(tmp_path: Path) -> None:
    for name in ("b.json", "a.json"):
        (tmp_path / name).write_text(json.dumps([{"role": "user", "content": name}]))
    (tmp_path / "tools.json").write_text("[]")
    assert [record.trace.id for record in read_traces(tmp_path) if record.trace] == ["a", "b"]


def test_a_wrong_path_or_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="does not exist"):
        list(read_traces(tmp_path / "none.json"))
    with pytest.raises(UnreadableError, match="holds no file"):
        list(read_traces(tmp_path))
    with pytest.raises(ConfigError, match="Did you mean 'openai-chat'"):
        list(read_traces(tmp_path, "openai-chta"))

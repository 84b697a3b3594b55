"""`toolgrade convert --to openai`: what is written reads back as the same calls and results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.pipeline.support import GOOD, WRONG_VALUE, write_suite


def test_traces_are_written_as_openai_chat_and_graded_alike(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE)])
    assert cli("convert", traces, "--to", "openai", "--out", "chat").code == 0
    assert cli("convert", traces, "--out", "own").code == 0
    first = json.loads((tmp_path / "chat" / "traces.jsonl").read_text().splitlines()[0])
    assert first["messages"][1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"id":"A1"}'}
    assert "schema" not in first
    graded = [
        json.loads(cli("grade", f"{out}/traces.jsonl", "--cases", cases, "--select", "a", "--json").out)
        for out in ("chat", "own")
    ]
    assert graded[0]["checks"] == graded[1]["checks"]
    assert graded[0]["checks"]["arguments"]["rates"]["expected"]["passed"] == 1


def test_another_target_is_refused(cli: Callable, tmp_path: Path) -> None:
    traces, _ = write_suite(tmp_path, [("a", GOOD)])
    done = cli("convert", traces, "--to", "opena", "--out", "chat")
    assert done.code == 2
    assert "'openai'" in done.err

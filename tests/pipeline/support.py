"""Small suites and traces, written as files a user could have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOOLS = [
    {"name": name, "description": name, "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}
    for name in ("look", "cancel")
]
CASES = """
suite: bookings
tools: tools.json
cases:
  - id: a
    input: "Cancel A1."
    tags: [multi_turn]
    expected:
      selection: {required: [look, cancel], extras: forbid}
      arguments:
        - {tool: cancel, values: {id: A1}}
      ordering:
        - {before: look, after: cancel}
  - id: b
    input: "Hello"
    tags: [no_tool]
    expected:
      selection: {required: []}
"""


def calls(*named: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """An OpenAI chat in which each call gets its own message and result."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Cancel A1."}]
    for number, (name, arguments) in enumerate(named):
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": '{"ok": true, "id": "A1"}'})
    return messages


def write_suite(folder: Path, runs: Sequence[tuple[str, list[dict[str, Any]]]]) -> tuple[Path, Path]:
    """Write tools.json, cases.yaml and traces.jsonl (case id, messages); return traces and cases."""
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "cases.yaml").write_text(CASES)
    lines = [
        json.dumps({"id": f"{case}-{number}", "case_id": case, "trial": number, "messages": messages})
        for number, (case, messages) in enumerate(runs)
    ]
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "traces.jsonl", folder / "cases.yaml"


GOOD = calls(("look", {"id": "A1"}), ("cancel", {"id": "A1"}))
WRONG_VALUE = calls(("look", {"id": "A1"}), ("cancel", {"id": "A2"}))
MISSING = calls(("look", {"id": "A1"}))
BACKWARDS = calls(("cancel", {"id": "A1"}), ("look", {"id": "A1"}))
SILENT: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}]

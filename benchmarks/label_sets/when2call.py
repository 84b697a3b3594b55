"""route_choice/when2call: synthetic requests that a tool on offer serves, and such that none serves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from bfcl import route
from writing import draw, lines, write_pairs

CARD: dict[str, Any] = {
    "dimension": "route_choice",
    "name": "when2call",
    "title": "Requests that a tool on offer serves, and requests that none serves",
    "source": "https://github.com/NVIDIA/When2Call, commit ecc8d423 (test set for LLM judges)",
    "licence": "Apache-2.0",
    "labelled_by": "derived from the benchmark's categories; the questions are synthetic",
    "human": False,
    "sampling": "all tool_call and cannot_answer items with a tool on offer; request_for_info is another question",
    "sampling_design": "label_stratified",
    "rubric_version": "1.0",
    "single_roles": ["derived"],
    "salt": "w2c-1",
    "notes": "Derived, not human. On cannot_answer items the first tool on offer counts as called: no model made these "
    "calls, and by the benchmark none of the tools can answer; on some items one seems to. The expected tools are left "
    "empty for all items. Not to be concluded: how a judge does on routes that an agent took by itself, or on those of "
    "several calls; how often agents take a wrong route.",
}


def build(data: Path, root: Path) -> None:
    made = {}
    for record in lines(data / "when2call/when2call_test_llm_judge.jsonl"):
        tools = [json.loads(tool) for tool in record["tools"]]
        if not tools or record["correct_answer"] == "request_for_info":
            continue
        wanted = record["correct_answer"] == "tool_call"
        fields = {
            "request": [record["question"]],
            "tools": [{"name": tool["name"], "description": tool.get("description", "")} for tool in tools],
            "called": [json.loads(record["target_tool"])["name"] if wanted else tools[0]["name"]],
        }
        made[record["uuid"]] = route(record["uuid"], record["source_id"], fields, "pass" if wanted else "fail")
    write_pairs(root, CARD, draw(made.values(), 100, np.random.default_rng(4)))

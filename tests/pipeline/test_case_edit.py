"""The printed edit, pasted into the case file as a person would, makes its finding go away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline.support import calls
from toolgrade.core.finding import ADVICE
from toolgrade.core.result import TraceResult
from toolgrade.core.trace import Trace
from toolgrade.formats.cases import load_suite
from toolgrade.formats.registry import read_traces
from toolgrade.pipeline.case_edit import EDITS, case_edit
from toolgrade.pipeline.grade import grade_trace
from toolgrade.pipeline.triage import red_findings

STRING = {"type": "string"}
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"id": STRING, "items": {}, "note": STRING}}}
    for name in ("look", "cancel", "search", "look_up", "hand_over")
]
TWICE = calls(("look", {"id": "A1"}), ("cancel", {"id": "A2", "items": [{"n": 1}, {"n": 3}]}))
SAID = {"role": "assistant", "content": "It is done."}
FAILED = {"role": "tool", "tool_call_id": "c0", "content": '{"error": "service unavailable", "status": 503}'}


def failing(*later: dict[str, Any]) -> list[dict[str, Any]]:
    """One call of `look` that fails with a 503, and what follows."""
    return [*calls(("look", {"id": "4WQ150"}))[:2], {**FAILED, "status": 503}, *later]


def again(number: int, name: str = "look") -> list[dict[str, Any]]:
    call = {"id": f"d{number}", "function": {"name": name, "arguments": '{"id": "4WQ150"}'}}
    answer = {**FAILED, "tool_call_id": f"d{number}", "status": 503}
    if name != "look":
        answer = {"role": "tool", "tool_call_id": f"d{number}", "content": '{"rooms": [1]}'}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]


STATE = {"bookings": [{"id": "A1", "status": "open"}, {"id": "A2", "status": "open"}]}
SCENES: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    ("missing_call", {"selection": {"required": ["look", "cancel", "search"]}}, TWICE),
    ("missing_call", {"selection": {"required": ["search", "search"]}}, TWICE),
    ("missing_call", {"selection": {"required": ["search"], "forbidden": ["hand_over"]}}, TWICE),
    ("unexpected_call", {"selection": {"required": ["look"], "extras": "forbid"}}, TWICE),
    ("unexpected_call", {"selection": {"required": ["look"], "extras": ["search"]}}, TWICE),
    ("forbidden_call", {"selection": {"forbidden": ["cancel"]}}, TWICE),
    ("forbidden_call", {"selection": {"required": ["look"], "forbidden": ["cancel", "search"]}}, TWICE),
    ("call_when_none_expected", {"selection": {"required": []}}, calls(("look", {}))),
    ("wrong_value", {"arguments": [{"tool": "cancel", "values": {"id": "A1"}}]}, TWICE),
    ("wrong_value", {"arguments": [{"tool": "cancel", "values": {"items": [{"n": 1}, {"n": 2}]}}]}, TWICE),
    ("wrong_value", {"arguments": [{"tool": "cancel", "values": {"id": "A2", "note": "x"}}]}, TWICE),
    ("wrong_value", {"arguments": [{"tool": "cancel", "values": {"id": "A2"}, "extras": "forbid"}]}, TWICE),
    ("wrong_value", {"arguments": [{"tool": "cancel", "values": {"note": "x"}}]}, TWICE),
    (
        "wrong_value",
        {"arguments": [{"tool": "cancel", "values": {"id": "A9"}}, {"tool": "cancel", "values": {"id": "A2"}}]},
        TWICE,
    ),
    ("wrong_value", {"arguments": [{"tool": "cancel", "compare": {"$.id": {"one_of": ["A1", "A3"]}}}]}, TWICE),
    ("wrong_value", {"arguments": [{"tool": "cancel", "compare": {"$.id": {"regex": "^B"}}}]}, TWICE),
    ("placeholder_value", {}, calls(("look", {"id": "<booking id>"}))),
    ("order_violated", {"ordering": [{"before": "cancel", "after": "look"}]}, TWICE),
    (
        "missing_predecessor",
        {"ordering": [{"before": "search", "after": "look"}, {"before": "look", "after": "cancel"}]},
        TWICE,
    ),
    ("over_budget", {"efficiency": {"max_calls": 1, "max_steps": 9}}, TWICE),
    ("ignored_result", {"utilization": {"must_use": [{"tool": "look", "path": "$.id"}]}}, [*TWICE, SAID]),
    ("missing_output", {"outcome": {"outputs": ["refund", "done"]}}, [*TWICE, SAID]),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings[0].status", "equals": "cancelled"}]}}, TWICE),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings[9]", "equals": 1}]}}, TWICE),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings[*].status", "equals": "open"}]}}, TWICE),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings[*].id", "contains": "A7"}]}}, TWICE),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings[*]", "count": 1}]}}, TWICE),
    ("state_mismatch", {"outcome": {"state": [{"path": "$.bookings", "exists": False}]}}, TWICE),
    ("retry_loop", {"recovery": {"max_retries": 1}}, failing(*again(1), *again(2), SAID)),
    ("wrong_fallback", {"recovery": {"fallbacks": {"look": ["cancel"]}}}, failing(*again(1, "look_up"), SAID)),
    (
        "missing_escalation",
        {"recovery": {"must_escalate": "hand_over"}},
        failing(*again(1), {"role": "assistant", "content": "I am sorry, the look-up failed."}),
    ),
    (
        "no_retry",
        {"recovery": {"may_give_up": False}},
        failing({"role": "assistant", "content": "I am sorry, I could not look it up: the service is unavailable."}),
    ),
]


def graded(folder: Path, expected: dict[str, Any], messages: list[dict[str, Any]]) -> TraceResult:
    folder.mkdir(exist_ok=True)
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    case = {"id": "a", "input": "Cancel A1."} | ({"expected": expected} if expected else {})
    (folder / "cases.yaml").write_text(yaml.safe_dump({"suite": "s", "tools": "tools.json", "cases": [case]}))
    trace = {"id": "t", "case_id": "a", "messages": messages}
    (folder / "traces.jsonl").write_text(json.dumps(trace) + "\n")
    suite = load_suite(folder / "cases.yaml")
    (record,) = read_traces(folder / "traces.jsonl")
    assert isinstance(record.trace, Trace)
    return grade_trace(record.trace.model_copy(update={"final_state": STATE}), suite.cases["a"], suite.tools)


def pasted(told: str, expected: dict[str, Any]) -> dict[str, Any]:
    """Do what the first line says with the lines below it."""
    head, _, text = told.partition("\n")
    if "remove `" in head:
        check = head.split("remove `")[1].rstrip("`")
        return {name: field for name, field in expected.items() if name != check}
    assert "under `expected`, " in head, told
    return expected | yaml.safe_load(text)


@pytest.mark.parametrize(("name", "expected", "messages"), SCENES)
def test_the_pasted_edit_removes_the_finding(
    tmp_path: Path, name: str, expected: dict[str, Any], messages: list[dict[str, Any]]
) -> None:
    result = graded(tmp_path, expected, messages)
    red = [red for red in red_findings([result]) if red.finding.name == name]
    assert red, result
    case = load_suite(tmp_path / "cases.yaml").cases["a"]
    told = case_edit(case, red[0].finding)
    assert told.startswith(f"{tmp_path / 'cases.yaml'}:"), "the place in the file"
    after = graded(tmp_path, pasted(told, expected), messages)
    kept = [left.finding for left in red_findings([after])]
    assert red[0].finding not in kept, told


def test_every_finding_with_an_edit_has_a_scene_or_a_judge() -> None:
    asked_of_judges = {"indefensible_route", "ungrounded_value"}
    assert {name for name, _, _ in SCENES} | asked_of_judges == set(EDITS)
    assert set(EDITS) <= set(ADVICE)


def test_a_route_becomes_an_alternative(tmp_path: Path) -> None:
    from toolgrade.core.finding import Finding, Place

    expected = {"selection": {"required": ["look", "cancel"], "judge_routes": True}}
    graded(tmp_path, expected, TWICE)
    finding = Finding(
        name="indefensible_route", place=Place(step=2, tool="search"), expected="cancel", actual="search, hand_over"
    )
    told = case_edit(load_suite(tmp_path / "cases.yaml").cases["a"], finding)
    assert pasted(told, expected)["selection"]["alternatives"] == [["look", "search", "hand_over"]]


def test_what_no_field_causes_is_said_to_be_so(tmp_path: Path) -> None:
    result = graded(tmp_path, {"selection": {"required": ["look"]}}, calls(("look", {"id": 7})))
    (red,) = red_findings([result])
    told = case_edit(load_suite(tmp_path / "cases.yaml").cases["a"], red.finding)
    assert "no field of the case causes type_mismatch; the schema of look in the tools file is what it breaks" in told
    assert "no case" in case_edit(None, red.finding)

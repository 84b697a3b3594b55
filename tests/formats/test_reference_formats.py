"""Expectations of other tools as cases: what each means there is what the case asks here.

Sources of the meanings: ADK's default trajectory score is an exact match of calls and arguments per evaluation
case; DeepEval's ToolCorrectness compares names and lets further calls pass; agentevals' modes and promptfoo's
assertions as their documentation states them; Vertex's in-order match.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.cases import load_suite
from toolgrade.formats.convert import convert
from toolgrade.formats.registry import find_sources
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.efficiency import check_efficiency
from toolgrade.gates.ordering import check_ordering
from toolgrade.gates.selection import check_selection


def cases(path: Path) -> list[Case]:
    """The cases of a file, which must also survive being written and loaded as a suite."""
    ((source, found),) = find_sources(path)
    assert not isinstance(found, str) and found.cases is not None
    records = list(found.cases(source))
    assert [record.error for record in records if record.error] == []
    stated = [record.case for record in records if record.case is not None]
    done = convert(path, path.parent / "out")
    assert done.cases is not None and done.case_count == len({case.id for case in stated})
    loaded = load_suite(done.cases).cases
    assert [loaded[case.id].expected for case in stated] == [case.expected for case in stated]
    return stated


def written(tmp_path: Path, value: Any, name: str = "cases.json") -> list[Case]:
    file = tmp_path / "in" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return cases(file)


def passes(case: Case, *made: tuple[str, dict[str, Any]]) -> bool:
    """Whether a run of these calls passes selection, arguments, ordering and efficiency of a case."""
    calls = [Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=given),)) for name, given in made]
    view = TraceView(Trace(id="t", messages=(Message(role="user", content="hi"), *calls)))
    expected = case.expected
    assert expected is not None
    found = [check_selection(expected.selection, view)]
    if expected.arguments is not None:
        found.append(check_arguments(expected.arguments, view))
    if expected.ordering is not None:
        found.append(check_ordering(expected.ordering, view))
    if expected.efficiency is not None:
        found.append(check_efficiency(expected.efficiency, view))
    return all(result.status == "passed" for result in found)


A, B, C = ("a", {"x": 1}), ("b", {}), ("c", {})


@pytest.mark.shared
def test_adk_evaluation_sets(shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    source = (
        shared / "data/trace_formats/google_adk/adk-python__ecommerce_customer_service_agent__order_query.test.json"
    )
    file.write_bytes(source.read_bytes())
    (case,) = cases(file)
    assert case.expected is not None and case.expected.selection is not None
    assert case.expected.selection.required == (
        "send_email",
        "get_order_status",
        "get_order_ids_for_user",
        "get_order_status",
        "get_order_status",
        "cancel_order",
        "get_order_ids_for_user",
    )
    assert case.expected.selection.extras == "forbid"
    assert case.expected.arguments is not None
    assert case.expected.arguments[0].values == {"email": "alice@example.com", "user_id": "user_a"}
    assert isinstance(case.input, tuple) and len(case.input) == 4
    run = [(call.tool, call.values) for call in case.expected.arguments]
    assert passes(case, *run)
    assert not passes(case, *run[:-1])
    assert not passes(case, *run, ("send_email", {}))
    assert not passes(case, run[1], run[0], *run[2:])
    assert not passes(case, ("send_email", {"email": "bob@example.com", "user_id": "user_a"}), *run[1:])


@pytest.mark.shared
def test_the_older_adk_layout_is_one_conversation(shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    source = "adk-samples__customer-service__eval__eval_data__full_conversation.test.json"
    file.write_bytes((shared / "data/trace_formats/google_adk" / source).read_bytes())
    (case,) = cases(file)
    assert isinstance(case.input, tuple) and len(case.input) == 10
    assert case.expected is not None and case.expected.arguments is not None and len(case.expected.arguments) == 6


@pytest.mark.shared
def test_deepeval_goldens(shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "goldens.json"
    file.write_bytes((shared / "data/trace_formats/deepeval/goldens.json").read_bytes())
    stated = cases(file)
    assert len(stated) == 4
    assert stated[3].expected is None  # states no tools
    third = stated[2]
    assert third.expected is not None and third.expected.arguments is None
    biology, ecology = ("search_biology_database", {}), ("search_ecology_database", {"query": "other"})
    assert passes(third, ecology, biology) and passes(third, biology, A, ecology)
    assert not passes(third, biology, biology)
    assert "photosynthesis" in str(third.input) and "expected_output" in third.metadata


@pytest.mark.parametrize(
    ("mode", "fine", "wrong"),
    [
        ("strict", [(A, B)], [(B, A), (A,), (A, B, C), (("a", {"x": 2}), B)]),
        ("unordered", [(A, B), (B, A)], [(A,), (A, B, C), (("a", {"x": 2}), B)]),
        ("superset", [(A, B), (B, A), (C, A, B)], [(A,), (("a", {"x": 2}), B)]),
        ("subset", [(A, B), (B,), ()], [(C,), (A, B, B)]),
    ],
)
def test_agentevals_modes(tmp_path: Path, mode: str, fine: list[Any], wrong: list[Any]) -> None:
    def call(name: str, given: dict[str, Any]) -> dict[str, Any]:
        return {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}

    reference = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call(*A)]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "", "tool_calls": [call(*B)]},
    ]
    value = {"inputs": {}, "outputs": reference[:2], "reference_outputs": reference, "trajectory_match_mode": mode}
    (case,) = written(tmp_path, [value])
    assert case.input == "hi"
    for run in fine:
        assert passes(case, *run)
    for run in wrong:
        assert not passes(case, *run)


def test_langsmith_examples_with_names_or_messages(tmp_path: Path) -> None:
    names = {"id": "e1", "inputs": {"question": "q?"}, "outputs": {"trajectory": ["a", "b"]}, "metadata": {"k": 1}}
    (case,) = written(tmp_path, [names])
    assert (case.id, case.input, case.metadata) == ("e1", "q?", {"k": 1})
    assert passes(case, ("a", {"x": 5}), B) and not passes(case, B, A)


def test_vertex_rows_in_both_orientations(tmp_path: Path) -> None:
    def step(name: str, given: dict[str, Any]) -> dict[str, Any]:
        return {"tool_name": name, "tool_input": given}

    row = {
        "prompt": "q?",
        "reference_trajectory": [step(*A), step(*B)],
        "predicted_trajectory": [step(*A)],
        "response": "r",
    }
    (case,) = written(tmp_path, [row])
    assert case.input == "q?"
    assert passes(case, A, B) and passes(case, A, C, B)
    assert not passes(case, B, A) and not passes(case, A) and not passes(case, ("a", {"x": 2}), B)
    (other,) = written(tmp_path, {key: [value] for key, value in row.items()}, "table.json")
    assert other.expected == case.expected
    from toolgrade.formats.registry import read_traces

    (record,) = read_traces(tmp_path / "in" / "table.json")
    assert record.trace is not None and [call.name for call in record.trace.messages[1].tool_calls] == ["a"]
    assert record.trace.messages[-1].content == "r"


PROMPTFOO = """
prompts: ['{{question}}']
tests:
  - description: seat change
    vars: {question: "Move me to 14C.", other: 1}
    assert:
      - type: trajectory:tool-used
        value: [a, b]
      - type: trajectory:tool-args-match
        value: {name: a, args: {seat: 14C, who: {id: 7}}, mode: partial}
      - type: trajectory:tool-sequence
        value: {steps: [a, b]}
      - type: not-trajectory:tool-used
        value: c
      - type: trajectory:step-count
        value: {type: tool, max: 3}
      - type: llm-rubric
        value: is kind
  - vars: {question: nothing}
    assert:
      - type: trajectory:tool-sequence
        value: {mode: exact, steps: [a, a]}
  - vars: {question: set}
    assert:
      - type: tool-call-f1
        value: [a, b]
"""


def test_promptfoo_assertions(tmp_path: Path) -> None:
    seat, exact, names = written(tmp_path, PROMPTFOO, "promptfooconfig.yaml")
    assert (seat.id, seat.input) == ("seat change", "Move me to 14C.")
    assert seat.metadata["not_converted"] == [{"type": "llm-rubric", "value": "is kind"}]
    good = ("a", {"seat": "14C", "who": {"id": 7, "name": "n"}, "more": 1})
    assert passes(seat, good, B) and passes(seat, good, B, B)
    assert not passes(seat, B, good)
    assert not passes(seat, ("a", {"seat": "14D", "who": {"id": 7}}), B)
    assert not passes(seat, ("a", {"seat": "14C", "who": {"id": 8}}), B)
    assert not passes(seat, good, B, C)
    assert not passes(seat, good, B, B, B)
    assert passes(exact, A, A) and not passes(exact, A) and not passes(exact, A, A, B)
    assert passes(names, A, B) and passes(names, B, A, A) and not passes(names, A) and not passes(names, A, B, C)


def test_what_cannot_be_expressed_is_kept_and_a_wrong_case_is_named(tmp_path: Path) -> None:
    value = [
        {"vars": {"q": "x"}, "assert": [{"type": "trajectory:tool-used", "value": {"pattern": "search_*", "min": 2}}]},
        {"assert": "no list"},
    ]
    file = tmp_path / "promptfoo.json"
    file.write_text(json.dumps({"tests": value}))
    ((source, found),) = find_sources(file)
    assert not isinstance(found, str) and found.cases is not None
    first, second = found.cases(source)
    assert first.case is not None and first.case.expected is None
    assert first.case.metadata["not_converted"] == value[0]["assert"]
    assert second.error == f'{file}: tests[1].assert: found text "no list", expected a list.'

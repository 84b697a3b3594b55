"""Drafts say what good traces have in common, are marked to be checked, and load as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.case import Suite
from toolgrade.core.result import Origin
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.formats.cases import load_suite
from toolgrade.formats.draft import draft_cases
from toolgrade.formats.record import Record
from toolgrade.formats.registry import read_traces

SAMPLE = Path(__file__).parents[2] / "examples" / "airline"


def record(case_id: str | None, *calls: tuple[str, dict[str, Any]], text: str = "go", **fields: Any) -> Record:
    made = tuple(
        Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=values),)) for name, values in calls
    )
    trace = Trace(id="t", case_id=case_id, messages=(Message(role="user", content=text), *made), **fields)
    return Record(Origin(source="runs.jsonl", index=0, sha256="x"), trace)


def loaded(tmp_path: Path, text: str) -> Suite:
    (tmp_path / "draft.yaml").write_text(text)
    return load_suite(tmp_path / "draft.yaml")


def test_only_what_all_good_traces_share_is_drafted(tmp_path: Path) -> None:
    draft = draft_cases(
        [
            record(
                "a", ("find", {"q": "x"}), ("pay", {"to": "bob", "cents": 5, "note": "thanks for the very nice dinner"})
            ),
            record("a", ("find", {"q": "y"}), ("log", {}), ("pay", {"to": "bob", "cents": 5.0, "note": "thank you"})),
        ]
    )
    expected = loaded(tmp_path, draft.text).cases["a"].expected
    assert expected.selection.required == ("find", "pay")
    assert [(entry.tool, entry.values) for entry in expected.arguments] == [("pay", {"to": "bob"})]
    assert [(pair.before, pair.after) for pair in expected.ordering] == [("find", "pay")]
    assert expected.efficiency.max_calls == 3


def test_long_texts_are_left_to_a_judge_and_no_calls_mean_no_tool(tmp_path: Path) -> None:
    note = "transfer because the customer wants to talk"
    draft = draft_cases([record("a", ("hand_over", {"to-whom": note})), record("b")])
    cases = loaded(tmp_path, draft.text).cases
    (entry,) = cases["a"].expected.arguments
    assert entry.compare["$['to-whom']"].kind == "semantic"
    assert cases["b"].expected.selection.required == ()


def test_what_is_no_good_is_left_out_with_the_reason() -> None:
    broken = Record(Origin(source="runs.jsonl", index=1, sha256="x"), error="runs.jsonl:2: found no JSON")
    verdict = {"final_state": {"reward": 0}, "final_state_basis": "recorded_verdict"}
    draft = draft_cases([broken, record("a", error="step limit"), record("b", **verdict)])
    assert draft == (
        "",
        0,
        (
            "runs.jsonl:2: found no JSON",
            "runs.jsonl: trace 't' ended in an error: step limit",
            "runs.jsonl: trace 't' was rewarded with 0 by its source",
        ),
    )


def test_a_failed_call_is_not_drafted(tmp_path: Path) -> None:
    calls = tuple(ToolCall(name=name, id=name) for name in ("pay", "book", "find"))
    messages = (
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", result=ToolResult(call_id="pay", is_error=True)),
        Message(role="tool", result=ToolResult(call_id="book", content="Error: no seats")),
    )
    origin = Origin(source="x", index=0, sha256="x")
    draft = draft_cases([Record(origin, Trace(id="t", messages=messages))])
    assert loaded(tmp_path, draft.text).cases["t"].expected.selection.required == ("find",)


def test_the_sample_s_draft_marks_every_field_and_loads(tmp_path: Path) -> None:
    draft = draft_cases(read_traces(SAMPLE / "traces.jsonl"))
    suite = loaded(tmp_path, draft.text)
    assert draft.case_count == len(suite.cases) == 5 and len(draft.left_out) == 11
    fields = sum(len(case.expected.model_fields_set) + 1 for case in suite.cases.values())  # each check, and the tags
    assert draft.text.count("# CHECK") == fields


@given(st.text(st.characters(exclude_categories=["Cs"])), st.dictionaries(st.text(max_size=5), st.text(max_size=30)))
def test_any_text_of_a_trace_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: str, values: dict[str, str]
) -> None:
    draft = draft_cases([record("expected:", ("selection:", values), text=text)])
    case = loaded(tmp_path_factory.getbasetemp(), draft.text).cases["expected:"]
    assert case.input == (text if text.strip() else None)
    assert [entry.values for entry in case.expected.arguments or ()] == ([values] if values else [])

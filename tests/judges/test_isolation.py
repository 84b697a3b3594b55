"""Each judge sees the fields its dimension names and nothing else: on real traces, on rendered prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.expected import ArgumentsExpected, Comparator, SelectionExpected
from toolgrade.core.trace import Trace
from toolgrade.core.verdict import CheckResult, Question
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces
from toolgrade.formats.tools import load_tools
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.selection import check_selection
from toolgrade.gates.utilization import check_utilization
from toolgrade.judges.dimensions import dimension, names
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.prompts import load

pytestmark = pytest.mark.shared
JUDGES = {name: Judge(dimension(name), load(name), JudgeSettings(model="any/model")) for name in names()}


@pytest.fixture(scope="module")
def tau(shared: Path) -> tuple[list[Trace], dict[str, Any]]:
    """The first 40 τ-bench airline traces (gpt-4o) and their tools."""
    folder = shared / "data" / "tau_bench_airline"
    traces = [record.trace for record, _ in zip(read_traces(folder / "gpt-4o-airline.json"), range(40), strict=False)]
    return [trace for trace in traces if trace is not None], load_tools(folder / "tools_airline.json")


def _marked(trace: Trace) -> Trace:
    """The same trace with a sentinel in everything: one for each kind of content and message number."""
    messages = []
    for number, message in enumerate(trace.messages):
        update: dict[str, Any] = {}
        if message.content:
            update["content"] = f"{message.content} SAID-{message.role}-{number}."
        if message.result is not None:
            update["result"] = message.result.model_copy(
                update={"content": f"{message.result.content} RETURNED-{number}."}
            )
        messages.append(message.model_copy(update=update))
    return trace.model_copy(
        update={
            "messages": tuple(messages),
            "metadata": {"note": "IN-METADATA"},
            "final_state": {"state": "IN-STATE"},
            "case_id": "IN-CASE-ID",
        }
    )


def _prompts(
    tau: tuple[list[Trace], dict[str, Any]], check: Callable[[TraceView], CheckResult], most: int = 40
) -> Iterator[tuple[TraceView, Question, str]]:
    traces, tools = tau
    found = 0
    for trace in traces:
        view = TraceView(_marked(trace), tools)
        for question in check(view).questions:
            prepared = JUDGES[question.dimension].prepare(question)
            yield view, question, "\n".join(message.content for message in prepared.messages)
            found += 1
            if found == most:
                return
    assert found, "the traces must raise some question"


NEVER = ("IN-METADATA", "IN-STATE", "IN-CASE-ID")


def test_the_route_judge_sees_no_results_and_no_words_of_the_agent(tau: Any) -> None:
    wanted = SelectionExpected(required=("search_onestop_flight", "send_certificate"), judge_routes=True)
    for _, question, prompt in _prompts(tau, lambda view: check_selection(wanted, view)):
        assert question.dimension == "route_choice"
        assert "SAID-user-" in prompt
        assert "send_certificate" in prompt
        for absent in (*NEVER, "SAID-assistant-", "SAID-system-", "RETURNED-"):
            assert absent not in prompt


def test_the_argument_judge_sees_nothing_of_the_call_and_after_it_but_the_values(tau: Any) -> None:
    for view, question, prompt in _prompts(tau, lambda view: check_arguments(None, view)):
        call = view.calls[question.place.call or 0]
        for absent in NEVER:
            assert absent not in prompt
        for number in range(call.message, len(view.trace.messages)):
            for kind in ("SAID-assistant", "SAID-user", "SAID-system", "RETURNED"):
                assert f"{kind}-{number}." not in prompt
        other = [tool for tool in view.tools if tool != call.call.name]
        schema = JUDGES[question.dimension].prepare(question).shown["tool"]
        assert not any(f'name: "{tool}"' in schema for tool in other)


def test_the_argument_judge_does_not_see_what_the_case_expects(tau: Any) -> None:
    wanted = ArgumentsExpected(
        tool="think", values={"thought": "EXPECTED-ANSWER"}, compare={"$.thought": Comparator(kind="semantic")}
    )
    for _, _, prompt in _prompts(tau, lambda view: check_arguments((wanted,), view), most=5):
        assert "EXPECTED-ANSWER" not in prompt


def test_the_recovery_judge_sees_the_episode_and_nothing_else(tau: Any) -> None:
    for view, question, prompt in _prompts(tau, lambda view: check_recovery(None, view)):
        assert set(question.fields) == {"episode"}
        for absent in (*NEVER, "SAID-system-"):
            assert absent not in prompt
        if "failed_call" in question.fields["episode"]:
            before = range(view.calls[question.place.call or 0].message)
            assert not any(f"SAID-user-{number}." in prompt or f"RETURNED-{number}." in prompt for number in before)


def test_the_utilization_judge_sees_results_and_one_answer_and_nothing_else(tau: Any) -> None:
    traces, tools = tau
    asked = 0
    for trace in traces[:12]:
        words = {"user": "SAID-user.", "system": "SAID-system."}
        messages = tuple(
            message.model_copy(update={"content": f"{message.content} {words.get(message.role, '')}".strip()})
            if message.role in words
            else message
            for message in trace.messages
        )
        view = TraceView(_marked(trace).model_copy(update={"messages": messages}), tools)
        for question in check_utilization(None, view).questions:
            asked += 1
            prepared = JUDGES[question.dimension].prepare(question)
            prompt = prepared.messages[1].content
            for absent in (*NEVER, *words.values()):
                assert absent not in prompt
            said = [said for said in view.said("assistant") if said.step == question.place.step]
            for entry in question.fields["claims"]:
                assert entry["sentence"] in said[0].text, "only sentences of the turn in question"
            made = {call.number: call for call in view.calls}
            for payload in question.fields["payloads"]:
                assert (made[payload["call"]].result_message or 0) < said[0].message, "no result that came later"
    assert asked > 10


def test_fields_never_leak_between_the_parts_of_a_prompt(question: Any) -> None:
    for name, judge in JUDGES.items():
        asked = question(name)
        marked = asked.model_copy(update={"fields": {field: f"ONLY-IN-{field}" for field in asked.fields}})
        prepared = judge.prepare(marked)
        for field in asked.fields:
            assert prepared.shown[field] == f"ONLY-IN-{field}"
            assert prepared.messages[1].content.count(f"ONLY-IN-{field}") == 1
            assert f"ONLY-IN-{field}" not in prepared.messages[0].content

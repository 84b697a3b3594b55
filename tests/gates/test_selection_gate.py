"""The selection gate. Expected values are worked out by hand from the definition in its docstring."""

from __future__ import annotations

import pytest

from toolgrade.core.expected import SelectionExpected
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.core.view import TraceView
from toolgrade.gates.selection import check_selection

TOOLS = {name: ToolSpec(name=name, description=f"does {name}") for name in "abcds"}


def view(*steps: str, tools: dict[str, ToolSpec] | None = None) -> TraceView:
    """Each step is one message; its letters are the tools called in it."""
    messages = [Message(role="user", content="please")]
    messages += [Message(role="assistant", tool_calls=tuple(ToolCall(name=name) for name in step)) for step in steps]
    return TraceView(Trace(id="t", messages=tuple(messages)), TOOLS if tools is None else tools)


def names(result: object) -> list[str]:
    return [finding.name for finding in result.findings]


def test_a_required_tool_called_twice_is_a_multiset():
    twice = SelectionExpected(required=("s", "s"))
    assert (check_selection(twice, view("s", "s")).status, check_selection(twice, view("s", "s")).score) == (
        "passed",
        1,
    )
    once = check_selection(twice, view("s"))
    assert (once.status, once.score, names(once)) == ("failed", 0.5, ["missing_call"])
    assert str(once.findings[0]) == "missing_call at whole trace · s: expected 2 calls, got 1 call"


def test_no_tool_expected_and_none_called_passes_while_no_expectation_does_not_apply():
    assert check_selection(SelectionExpected(required=()), view()).status == "passed"
    absent = check_selection(None, view())
    assert (absent.status, absent.score) == ("not_applicable", None)


def test_a_call_where_none_is_expected_names_its_place():
    result = check_selection(SelectionExpected(required=()), view("", "a"))
    assert (result.status, result.score, names(result)) == ("failed", 0.0, ["call_when_none_expected"])
    assert (result.findings[0].place.step, result.findings[0].place.tool) == (2, "a")


def test_another_tool_in_the_middle_gets_partial_credit():
    required = SelectionExpected(required=("a", "b", "c", "a"))
    result = check_selection(required, view("a", "d", "c", "a"))
    assert (result.status, result.score, names(result)) == ("failed", 0.75, ["missing_call"])
    assert ["b", "d"] in result.detail["routes"]
    forbid = SelectionExpected(required=("a", "b", "c", "a"), extras="forbid")
    assert check_selection(forbid, view("a", "d", "c", "a")).score == 0.6


@pytest.mark.parametrize("steps", [("ab",), ("ba",), ("a", "b"), ("b", "a")])
def test_order_and_messages_play_no_part(steps: tuple[str, ...]):
    assert check_selection(SelectionExpected(required=("a", "b"), extras="forbid"), view(*steps)).status == "passed"


def test_extras_forbidden_tools_and_unknown_tools_each_have_a_name():
    expected = SelectionExpected(required=("a",), extras=("b",), forbidden=("d",))
    result = check_selection(expected, view("a", "b", "c", "d", "z"))
    assert names(result) == ["unexpected_call", "forbidden_call", "unknown_tool"]
    assert result.score == 1 / 4
    assert check_selection(expected, view("a", "b")).status == "passed"


def test_an_alternative_multiset_is_as_good():
    expected = SelectionExpected(required=("a", "b"), alternatives=(("c",),), extras="forbid")
    assert check_selection(expected, view("c")).status == "passed"
    assert check_selection(expected, view("a", "c")).status == "failed"


def test_an_unknown_tool_is_found_without_an_expectation_and_suggests_the_nearest():
    tools = {"get_user": ToolSpec(name="get_user")}
    trace = Trace(id="t", messages=(Message(role="assistant", tool_calls=(ToolCall(name="get_users"),)),))
    result = check_selection(None, TraceView(trace, tools))
    assert (result.status, result.basis, names(result)) == ("failed", "intrinsic", ["unknown_tool"])
    assert "get_user" in (result.findings[0].note or "")
    assert check_selection(None, TraceView(trace, {})).status == "not_applicable"


def test_another_route_is_a_question_only_where_the_case_says_so():
    fails = check_selection(SelectionExpected(required=("a",)), view("b"))
    assert (fails.status, fails.questions) == ("failed", ())
    asks = check_selection(SelectionExpected(required=("a",), judge_routes=True), view("b"))
    assert (asks.status, asks.score, names(asks)) == ("unknown", None, [])
    (question,) = asks.questions
    assert question.dimension == "route_choice"
    assert sorted(question.fields) == ["called", "expected", "request", "tools"]
    assert [finding.name for finding in question.on_fail] == ["indefensible_route"]
    assert question.weight == 1.0


@pytest.mark.parametrize(
    ("required", "steps", "why"),
    [
        (("a",), (), "nothing else was called"),
        (("a",), ("z",), "the other tool is unknown"),
        (("a", "b"), ("b",), "no other tool was called"),
        (("a",), ("b", "z"), "the unknown tool fails it whatever a judge says"),
    ],
)
def test_no_judge_is_asked_where_no_other_known_tool_was_called(required, steps, why):
    result = check_selection(SelectionExpected(required=required, judge_routes=True), view(*steps))
    assert result.status == "failed", why
    assert result.questions == (), why


def test_routes_carry_the_labels_of_the_confusion_matrix():
    def routes(expected: SelectionExpected, seen: TraceView) -> list[list[str]]:
        return check_selection(expected, seen).detail["routes"]

    assert routes(SelectionExpected(required=()), view()) == [["no_tool", "no_tool"]]
    assert routes(SelectionExpected(required=()), view("a")) == [["no_tool", "a"]]
    assert routes(SelectionExpected(required=("a",)), view()) == [["a", "no_tool"]]
    assert routes(SelectionExpected(required=("a",)), view("z")) == [["a", "unknown_tool"]]
    broken = ToolCall(name="a", arguments=None, arguments_raw="{", parse_error="cut off")
    trace = Trace(id="t", messages=(Message(role="assistant", tool_calls=(broken,)),))
    assert routes(SelectionExpected(required=("a",)), TraceView(trace, TOOLS)) == [["a", "malformed"]]
    # only a call between the neighbours' calls stands in the place of a missing one
    abc = SelectionExpected(required=("a", "b", "c"))
    assert routes(abc, view("a", "d", "c")) == [["a", "a"], ["b", "d"], ["c", "c"]]
    assert routes(abc, view("a", "c", "d")) == [["a", "a"], ["b", "no_tool"], ["c", "c"]]
    # an extra that is fine is no confusion
    assert routes(SelectionExpected(required=("a",)), view("a", "b")) == [["a", "a"]]

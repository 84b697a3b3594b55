"""Ordering, efficiency and outcome. Expected values are worked out by hand from DESIGN §2."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.expected import EfficiencyExpected, OrderingExpected, OutcomeExpected, StateAssertion
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace, Usage
from toolgrade.core.view import TraceView
from toolgrade.gates.efficiency import check_efficiency
from toolgrade.gates.ordering import check_ordering
from toolgrade.gates.outcome import check_outcome


def names(result: Any) -> list[str]:
    return [finding.name for finding in result.findings]


def order(*pairs: str) -> tuple[OrderingExpected, ...]:
    return tuple(OrderingExpected(before=pair[0], after=pair[1]) for pair in pairs)


# --- ordering


def steps(recorded: Any, text: str) -> TraceView:
    """Each word is one message, each letter a call in it."""
    return recorded(*[[(name, {}) for name in word] for word in text.split()])


@pytest.mark.parametrize(
    ("text", "status", "found"),
    [
        ("a b", "passed", []),
        ("x a y b a b", "passed", []),
        ("b a", "failed", ["order_violated"]),
        ("b a b", "failed", ["order_violated"]),  # every call of `after` must come later
        ("ab", "failed", ["order_violated"]),  # one message: neither precedes the other
        ("ba", "failed", ["order_violated"]),
        ("b", "failed", ["missing_predecessor"]),
        ("a", "not_applicable", []),
        ("x", "not_applicable", []),
    ],
)
def test_one_constraint(recorded, text, status, found):
    result = check_ordering(order("ab"), steps(recorded, text))
    assert (result.status, names(result)) == (status, found)


def test_constraints_score_by_their_share(recorded):
    result = check_ordering(order("ab", "bc", "ac"), steps(recorded, "a c b"))
    assert (result.status, result.score) == ("failed", pytest.approx(2 / 3))
    assert result.detail == {"constraints": 3, "held": 2}
    finding = result.findings[0]
    assert (finding.place.step, finding.place.tool) == (2, "c")
    assert str(finding) == "order_violated at step 2 · c: expected a call of b before, got its first call at step 3"


def test_no_expectation_of_order_does_not_apply(recorded):
    assert check_ordering(None, steps(recorded, "a b")).status == "not_applicable"


@given(st.permutations("abcde"))
def test_a_linear_order_is_violated_exactly_where_neighbours_are_swapped(letters: list[str]):
    messages = tuple(Message(role="assistant", tool_calls=(ToolCall(name=name),)) for name in letters)
    result = check_ordering(order("ab", "bc", "cd", "de"), TraceView(Trace(id="t", messages=messages)))
    swapped = sum(letters.index(one) > letters.index(two) for one, two in zip("abcd", "bcde", strict=True))
    assert result.detail["held"] == 4 - swapped


# --- efficiency: loops


def calls(recorded: Any, text: str, **more: Any) -> TraceView:
    """`a1` is a call of tool a that brought result 1; each is a message of its own."""
    return recorded(*[[(word[0], {"x": 1}, word[1:])] for word in text.split()], **more)


READS = {name: ToolSpec(name=name, writes=False) for name in "abcr"} | {"w": ToolSpec(name="w", writes=True)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a1 b1 c1", []),
        ("a1 a1 a1", ["loop"]),
        (" ".join(["a1"] * 100), ["loop"]),
        ("a1 b1 a1 c1 a1", ["loop"]),
        ("a1 b1 a1 b1", ["loop"]),
        ("a1 b1 a1 b1 a1 b1 a1", ["loop"]),
        ("a1 b1 b1 a1", ["redundant_call", "redundant_call"]),
        ("a1 a1", ["redundant_call"]),
        ("a1 r1 a1", ["redundant_call"]),
        ("a1 w1 a1", []),  # something was written in between
        ("a1 u1 a1", []),  # nobody knows whether u writes
        ("a0 a0 a0 a0 a1", []),  # polling until the result changes
        ("a0 a0 b1", ["redundant_call"]),
        ("a0 a0 a1 a1 a1", ["loop"]),  # the wait was over, and the repeats went on
        ("a1 a2 a1 a2 a1", []),  # the result changes each time
        ("a0 b1 a0 b1 a0 b1 a1", []),  # b is the waiting between the polls
        ("a0 b1 a0 b1 a1 b1 b1 b1", ["loop"]),  # and here nobody polls any more
    ],
)
def test_repeated_calls(recorded, text, found):
    result = check_efficiency(None, calls(recorded, text, tools=READS))
    assert names(result) == found
    assert result.basis == "intrinsic"
    assert result.status == ("failed" if found else "passed")


def test_pagination_is_no_loop(recorded):
    view = recorded(*[[("list", {"page": page}, "[]")] for page in range(10)])
    assert check_efficiency(None, view).status == "passed"


def test_calls_without_recorded_results_are_no_repeats(recorded):
    assert check_efficiency(None, recorded(*[[("a", {})]] * 5)).findings == ()


def test_arguments_and_results_are_compared_as_json(recorded):
    view = recorded([("a", {"x": 1, "y": [2]}, {"r": 1})], [("a", {"y": [2.0], "x": 1.0}, {"r": 1.0})], tools=READS)
    assert names(check_efficiency(None, view)) == ["redundant_call"]
    view = recorded([("a", {"x": 1}, "r")], [("a", {"x": True}, "r")], tools=READS)
    assert names(check_efficiency(None, view)) == []


def test_a_loop_says_where_it_ends_and_what_it_cost(recorded):
    result = check_efficiency(None, calls(recorded, "b1 a1 a1 a1 a1"))
    assert result.score == pytest.approx(2 / 5)
    assert (
        str(result.findings[0]) == "loop at step 5 · a: expected one call, or another result, "
        "got 4 equal calls with equal results (steps 2 to 5)"
    )


def test_no_call_leaves_nothing_to_say(recorded):
    assert check_efficiency(None, recorded("hello")).status == "not_applicable"


@given(st.permutations(["a1", "b1", "a1", "c2", "a1"]))
def test_three_equal_pairs_are_a_loop_wherever_they_stand(words: list[str]):
    messages: list[Message] = []
    for number, word in enumerate(words):
        messages.append(Message(role="assistant", tool_calls=(ToolCall(name=word[0], id=str(number)),)))
        messages.append(Message(role="tool", result=ToolResult(call_id=str(number), content=word[1])))
    assert names(check_efficiency(None, TraceView(Trace(id="t", messages=tuple(messages))))) == ["loop"]


# --- efficiency: budgets


def test_budgets_score_by_the_worst(recorded):
    view = recorded([("a", {}), ("b", {})], [("c", {})], "done", usage=Usage(input_tokens=90, output_tokens=30))
    fine = check_efficiency(EfficiencyExpected(max_steps=3, max_calls=3, max_tokens=120), view)
    assert (fine.status, fine.score, fine.basis) == ("passed", 1.0, "expected")
    assert fine.detail == {"steps": 3, "calls": 3, "tokens": 120}
    over = check_efficiency(EfficiencyExpected(max_steps=2, max_calls=3, max_tokens=60), view)
    assert (over.status, over.score, names(over)) == ("failed", 0.5, ["over_budget", "over_budget"])
    assert str(over.findings[0]) == "over_budget at whole trace: expected at most 2 steps, got 3 steps"


def test_tokens_are_summed_over_messages_where_the_run_has_no_total():
    messages = (
        Message(role="assistant", content="x", usage=Usage(input_tokens=5, output_tokens=1)),
        Message(role="assistant", content="y", usage=Usage(output_tokens=2)),
        Message(role="assistant", content="z"),
    )
    view = TraceView(Trace(id="t", messages=messages))
    assert check_efficiency(EfficiencyExpected(max_tokens=7), view).findings[0].actual == "8 tokens"


def test_a_token_budget_without_recorded_tokens_is_undecided(recorded):
    result = check_efficiency(EfficiencyExpected(max_tokens=10), recorded("hello"))
    assert (result.status, result.score) == ("unknown", None)
    assert "tokens" in (result.reason or "")
    failed = check_efficiency(EfficiencyExpected(max_tokens=10, max_steps=0), recorded("hello"))
    assert failed.status == "failed"


def test_a_budget_of_none_used_up_by_nothing_holds(recorded):
    assert check_efficiency(EfficiencyExpected(max_calls=0), recorded("hello")).score == 1.0
    assert check_efficiency(EfficiencyExpected(max_calls=0), recorded([("a", {})])).score == 0.0


# --- outcome

STATE = {"orders": {"4WQ150": {"status": "cancelled", "seats": [1, 2]}}, "refund": 100.0, "paid": True}


def asserted(path: str, **relation: Any) -> OutcomeExpected:
    return OutcomeExpected(state=(StateAssertion(path=path, **relation),))


@pytest.mark.parametrize(
    ("path", "relation", "status"),
    [
        ("$.orders['4WQ150'].status", {"equals": "cancelled"}, "passed"),
        ("$.orders['4WQ150'].status", {"equals": "open"}, "failed"),
        ("$.refund", {"equals": 100}, "passed"),
        ("$.paid", {"equals": 1}, "failed"),
        ("$.missing", {"equals": None}, "failed"),  # no node is not a null
        ("$.orders.*.seats", {"equals": [1, 2]}, "passed"),
        ("$..seats[*]", {"equals": 1}, "failed"),  # two nodes are not one
        ("$..seats[*]", {"contains": 2}, "passed"),
        ("$..seats[*]", {"contains": 3}, "failed"),
        ("$..seats[*]", {"count": 2}, "passed"),
        ("$..seats[*]", {"count": 0}, "failed"),
        ("$.nothing", {"count": 0}, "passed"),
        ("$.refund", {"exists": True}, "passed"),
        ("$.refund", {"exists": False}, "failed"),
        ("$.orders[?@.status == 'cancelled'].status", {"exists": True}, "passed"),
    ],
)
def test_assertions_on_the_final_state(recorded, path, relation, status):
    result = check_outcome(asserted(path, **relation), recorded("done", final_state=STATE))
    assert (result.status, result.score) == (status, 1.0 if status == "passed" else 0.0)
    assert names(result) == ([] if status == "passed" else ["state_mismatch"])


def test_a_state_as_deep_as_the_readers_let_through_is_searched_to_the_bottom(recorded):
    state: Any = {"end": 1}
    for _ in range(198):
        state = [state]
    assert check_outcome(asserted("$..end", equals=1), recorded("done", final_state=state)).status == "passed"


def test_a_mismatch_names_path_expected_and_actual(recorded):
    result = check_outcome(asserted("$.refund", equals=50), recorded("done", final_state=STATE))
    assert str(result.findings[0]) == "state_mismatch at whole trace · $.refund: expected 50, got 100.0"


def test_a_recorded_verdict_is_marked_as_one(recorded):
    view = recorded("done", final_state={"reward": 0.0}, final_state_basis="recorded_verdict")
    result = check_outcome(asserted("$.reward", equals=1.0), view)
    assert result.detail["basis"] == "recorded_verdict"
    assert "verdict" in str(result.findings[0])


def test_what_was_not_recorded_is_undecided_and_the_agents_word_is_no_evidence(recorded):
    view = recorded("I have cancelled 4WQ150, its status is cancelled.")
    result = check_outcome(asserted("$.orders['4WQ150'].status", equals="cancelled"), view)
    assert (result.status, result.score) == ("unknown", None)
    assert "final state" in (result.reason or "")
    both = OutcomeExpected(state=(StateAssertion(path="$.a", exists=True),), outputs=("refund",))
    assert check_outcome(both, view).status == "failed"


def test_outputs_must_occur_as_written_in_some_answer(recorded):
    view = recorded("Your refund is $1,327.", [("a", {}, "secret 99")], "Bye")
    assert check_outcome(OutcomeExpected(outputs=("refund", "Bye")), view).status == "passed"
    missing = check_outcome(OutcomeExpected(outputs=("refund", "1327", "99")), view)
    assert (missing.status, missing.score) == ("failed", pytest.approx(1 / 3))
    assert [finding.expected for finding in missing.findings] == ["1327", "99"]
    assert [bool(finding.note) for finding in missing.findings] == [True, False]  # 1,327 is there, 99 is not


def test_no_expected_outcome_does_not_apply(recorded):
    assert check_outcome(None, recorded("done", final_state=STATE)).status == "not_applicable"

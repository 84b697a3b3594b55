"""Laws of the recovery check that hold for any trace."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.recovery.episodes import find_failures, read_episodes

RESULTS = (
    {"content": "Error: no such id"},
    {"status": 503},
    {"content": {"error": "permission denied"}},
    {"content": {"ok": True}},
    {"content": []},
    {"content": '{"broken": '},
)
SAYINGS = (
    "I have deleted it.",
    "I'm sorry, I could not delete it.",
    "Would you like something else?",
    "Done!",
    "It has been cancelled.",
)

results = st.sampled_from(RESULTS)
calls = st.tuples(st.sampled_from(["delete_item", "get_item", "cancel_order", "escalate"]), st.integers(1, 3), results)
events = st.lists(calls | st.sampled_from(SAYINGS) | st.none(), max_size=14)


def trace(parts, prefix: str = "c") -> Trace:
    messages = [Message(role="user", content="Please delete it.")]
    for number, part in enumerate(parts):
        if part is None:
            messages.append(Message(role="user", content="Please go on."))
        elif isinstance(part, str):
            messages.append(Message(role="assistant", content=part))
        else:
            name, value, result = part
            call = ToolCall(name=name, id=f"{prefix}{number}", arguments={"id": f"ITEM-{value}"})
            messages.append(Message(role="assistant", tool_calls=(call,)))
            messages.append(Message(role="tool", result=ToolResult(call_id=f"{prefix}{number}", name=name, **result)))
    return Trace(id="t", messages=tuple(messages))


contracts = st.none() | st.builds(
    RecoveryExpected,
    max_retries=st.integers(0, 3),
    may_give_up=st.booleans(),
    must_escalate=st.sampled_from([None, "escalate"]),
    fallbacks=st.sampled_from([{}, {"delete_item": ("cancel_order",)}]),
)


@given(events, contracts)
def test_each_failed_result_is_in_exactly_one_episode_with_at_most_one_finding(parts, contract):
    view = TraceView(trace(parts))
    failures = find_failures(view, contract)
    episodes = read_episodes(view, failures, contract or RecoveryExpected(max_retries=3))
    covered = [number for episode in episodes for number in (episode.call.number, *episode.repeats)]
    assert sorted(covered) == sorted(failures)
    result = check_recovery(contract, view)
    failed_rows = [row for row in result.detail["episodes"] if row["kind"] != "claim"]
    assert len(failed_rows) == len(episodes)
    assert len(result.findings) + len(result.questions) <= result.units == len(result.detail["episodes"])
    assert sum(row["finding"] is not None for row in result.detail["episodes"]) == len(result.findings)


@given(events, contracts)
def test_a_status_means_what_it_says(parts, contract):
    result = check_recovery(contract, TraceView(trace(parts)))
    if result.findings:
        assert result.status == "failed"
        assert result.score is not None
        assert 0 <= result.score < 1
    elif result.questions:
        assert (result.status, result.score) == ("unknown", None)
        assert sum(question.weight for question in result.questions) <= 1 + 1e-9
    elif result.units:
        assert (result.status, result.score) == ("passed", 1.0)
    else:
        assert (result.status, result.score) == ("not_applicable", None)


@given(events, contracts)
def test_call_ids_never_matter(parts, contract):
    one, other = (check_recovery(contract, TraceView(trace(parts, prefix))) for prefix in ("a", "zz"))
    assert one == other


@given(st.integers(0, 6), st.sampled_from(RESULTS[:3]), st.integers(0, 4))
def test_identical_retries_are_counted_by_kind(retries, result, limit):
    """The contract: an invalid request may not be repeated (1: misread, 2 and more: loop), a transient one may."""
    parts = [("delete_item", 1, result)] * (retries + 1) + ["I'm sorry, I could not delete it."]
    found = [
        finding.name
        for finding in check_recovery(RecoveryExpected(max_retries=limit), TraceView(trace(parts))).findings
    ]
    if "status" in result:
        assert found == (["retry_loop"] if retries > limit else [])
    else:
        assert found == ([] if retries == 0 else ["misread_result"] if retries == 1 else ["retry_loop"])


def test_a_long_trace_of_failures_is_graded_in_time():
    """A thousand failing steps on four tools with a 1 MB payload among them: under a second."""
    parts: list = [("delete_item", number % 3, RESULTS[number % 3]) for number in range(1000)]
    parts.insert(500, ("get_item", 1, {"content": "x" * 1_000_000}))
    view = TraceView(trace([*parts, "I have deleted it."]))
    started = time.process_time()
    result = check_recovery(None, view)
    assert result.findings
    assert time.process_time() - started < 1

"""Which results are failures, and of what kind: forms of real services and frameworks, and what only looks like one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.expected import ErrorRule
from toolgrade.core.trace import ToolResult
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.recovery.episodes import find_failures
from toolgrade.gates.recovery.failures import is_malformed, recognise

MCP_TEXT = [{"type": "text", "text": "Input validation error: 'file_path' is a required property"}]
MCP_PRINTED = (
    'meta=None content=[TextContent(type=\'text\', text=\'{\\n  "content": [{"type": "text", '
    '"text": "Connection timeout to host"}],\\n  "isError": true\\n}\', annotations=None)] isError=False'
)

FAILED = [
    ("Error: flight HAT030 not available on date 2024-05-13", "invalid_request"),
    ("Error executing tool geocode_address: Connection timeout to host https://example.org", "transient"),
    ("ValueError: invalid literal for int() with base 10: 'x'", "invalid_request"),
    ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'id'", "invalid_request"),
    ("requests.exceptions.ReadTimeout: HTTPSConnectionPool: Read timed out.", "transient"),
    ("HTTP 503 Service Unavailable", "transient"),
    ("429 Too Many Requests", "transient"),
    ("404 Not Found", "invalid_request"),
    ("Failed to fetch https://example.org - status code 403", "permission"),
    ("Permission denied", "permission"),
    ("Tool call timed out.", "transient"),
    ("Unknown tool: excel_read", "invalid_request"),
    ("Your proposed edit has introduced new syntax error(s). Please read this error message.", "invalid_request"),
    ("TimeoutError", "transient"),
    ("Error: item 503 does not exist", "invalid_request"),
    ("Request failed with status code 503", "transient"),
    ("Error: Failed to fetch URL: HTTP error! Status: 403", "permission"),
    ("Unable to find a customer with this number.", "invalid_request"),
    ("MCP error -32602: Invalid arguments for tool get-station-code", "invalid_request"),
    ("<html><head><title>502 Bad Gateway</title></head></html>", "transient"),
    ({"error": "rate limit exceeded"}, "transient"),
    ({"error": {"code": 400, "message": "id must be a number"}}, "invalid_request"),
    ({"errors": [{"message": "no such field"}]}, "invalid_request"),
    ({"success": False, "message": "Order not found"}, "invalid_request"),
    ({"ok": False, "error": "channel_not_found"}, "invalid_request"),
    ({"status": 500}, "transient"),
    ("Mermaid diagram is invalid\nmermaid-cli process exited with code 1", "invalid_request"),
    ({"stdout": "", "exit_code": 2}, "invalid_request"),
    ({"statusCode": 401, "message": "no"}, "permission"),
    ({"isError": True, "content": MCP_TEXT}, "invalid_request"),
    (MCP_TEXT, "invalid_request"),
    (MCP_PRINTED, "transient"),
    ('{"booking_id": "HB-5520", "guest": {"name": "In', "malformed"),
    ('[{"a": 1}, {"b": ', "malformed"),
]

FINE = [
    "",
    "[]",
    None,
    {},
    "Transfer successful",
    "55.0",
    "There were no errors in the log.",
    "3: ERROR disk full\n4: INFO done",
    "The error rate fell to 0.5 %.",
    {"error": None, "data": {"id": 1}},
    {"errors": [], "id": 7},
    {"error": 0.05, "mean": 3.1},
    {"data": [{"id": 1}], "errors": [{"message": "one row was skipped"}]},
    {"refunded": False},
    {"status": "failed", "payment_id": "p1"},
    {"status": 200, "body": "fine"},
    {"code": 404, "name": "Peugeot"},
    {"count": 500},
    {"stdout": "ok", "exit_code": 0},
    "Take exit 12 towards the airport.",
    "Can't stop the feeling: the story of a song. " * 20,
    {"title": "Error: a novel"},
    '{"a": 1}\n{"b": 2}',
    '{"rows": [1, 2, 3 ... [truncated 3000 chars]',
    "{'python': 'repr'}",
    "[Document] first page",
]


@pytest.mark.parametrize(("content", "kind"), FAILED)
def test_failures_are_recognised_and_classified(content, kind):
    failure = recognise(ToolResult(content=content))
    assert failure is not None
    assert failure.kind == kind


@pytest.mark.parametrize("content", FINE)
def test_what_only_mentions_errors_is_no_failure(content):
    assert recognise(ToolResult(content=content)) is None


KIND_OF_STATUS = {
    "invalid_request": (400, 404, 409, 422, 501),
    "permission": (401, 403),
    "transient": (408, 429, 500, 502, 503, 504),
}


@pytest.mark.parametrize(("kind", "status"), [(kind, one) for kind, all_of in KIND_OF_STATUS.items() for one in all_of])
def test_the_status_decides_the_kind(kind, status):
    failure = recognise(ToolResult(content={"id": 1}, status=status))
    assert failure is not None
    assert (failure.kind, failure.status) == (kind, status)


def test_the_sources_own_flag_is_believed_over_any_rule_of_text():
    flagged = ToolResult(content="nothing to see", is_error=True)
    assert recognise(flagged, ErrorRule(regex="never")) is not None
    assert recognise(ToolResult(content="Error: no", is_error=False)) is not None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
    )
)
def test_any_payload_can_be_read(content):
    recognise(ToolResult(content=content))


@given(st.text(max_size=200))
def test_text_inside_a_healthy_object_never_makes_it_a_failure(text):
    assert recognise(ToolResult(content={"id": 7, "note": text})) is None


def test_a_whole_json_value_is_never_malformed():
    assert not is_malformed('{"a": [1, 2], "b": NaN} and a comment')
    assert is_malformed('{"a": [1, 2')


@pytest.mark.parametrize("unit", ["error ", '{"', "[{", "a.", "Error", " ", "\\", "(", "tool failed "])
def test_a_large_hostile_payload_is_looked_at_in_bounded_time(unit):
    result = ToolResult(content=(unit * 1_000_000)[:1_000_000])
    started = time.process_time()
    recognise(result)
    assert time.process_time() - started < 1


@pytest.mark.shared
def test_tau_bench_errors_are_exactly_the_results_that_begin_with_error(shared):
    """Counts: 73 error results in 36 of the 200 traces; 92 empty results of `think` and 28 `[]` are none."""
    kinds: dict[str, int] = {}
    traces = failed = 0
    empty: dict[str, int] = {}
    for record in read_traces(shared / "data" / "tau_bench_airline" / "gpt-4o-airline.json"):
        assert record.trace is not None
        view = TraceView(record.trace)
        failures = find_failures(view, None)
        traces += bool(failures)
        for call in view.calls:
            text = str(call.result.content) if call.result else ""
            assert (call.number in failures) == text.startswith("Error")
            failed += call.number in failures
            if text in ("", "[]"):
                empty[text] = empty.get(text, 0) + 1
        for failure in failures.values():
            kinds[failure.kind] = kinds.get(failure.kind, 0) + 1
    assert (failed, traces, kinds) == (73, 36, {"invalid_request": 73})
    assert empty == {"": 92, "[]": 28}


@pytest.mark.shared
def test_tau_bench_what_follows_an_error(shared):
    """Of the 73: 32 are followed at once by a message to the user, 40 by another call, 1 ends the trace; 17 repeat."""
    follow = {"message": 0, "call": 0, "end": 0}
    repeated = found = 0
    for record in read_traces(shared / "data" / "tau_bench_airline" / "gpt-4o-airline.json"):
        assert record.trace is not None
        view = TraceView(record.trace)
        failures = find_failures(view, None)
        for number in failures:
            call = view.calls[number]
            after = record.trace.messages[(call.result_message or 0) + 1 :][:1]
            follow["end" if not after else "call" if after[0].tool_calls else "message"] += 1
            later = view.calls[number + 1 :]
            repeated += any((o.call.name, o.call.arguments) == (call.call.name, call.call.arguments) for o in later)
        found += len(check_recovery(None, view).findings)
    assert follow == {"message": 32, "call": 40, "end": 1}
    assert repeated == 17
    assert found == 11  # each read by a person and found right: docs/recovery.md

"""The arguments gate. Expected values are worked out by hand from DESIGN §2 and the gate's docstring."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.core.view import TraceView
from toolgrade.errors import ConfigError
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.pairing import paired

BOOK = ToolSpec(
    name="book",
    description="Book a table.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "seats": {"type": "integer", "minimum": 1, "maximum": 8, "default": 2},
            "kind": {"type": "string", "enum": ["inside", "outside"]},
            "note": {"type": "string"},
            "flags": {"type": "object", "properties": {"vip": {"type": "boolean"}}},
            "days": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    },
)
LOOSE = ToolSpec(name="book", parameters={"properties": {"city": {}, "seats": {"default": 2}}})
PING = ToolSpec(name="ping", parameters={"type": "object", "properties": {}})
TOOLS = {"book": BOOK, "ping": PING}


def entry(tool: str = "book", compare: dict[str, Any] | None = None, **more: Any) -> ArgumentsExpected:
    settings = {key: more.pop(key) for key in ("extras", "default_is_absent", "null_is_absent") if key in more}
    return ArgumentsExpected(tool=tool, values=more, compare=compare or {}, **settings)


def names(result: Any) -> list[str]:
    return [finding.name for finding in result.findings]


def verdict(recorded: Any, arguments: dict[str, Any], *entries: ArgumentsExpected) -> str:
    return check_arguments(entries, recorded([("book", arguments)], tools=TOOLS)).status


# --- intrinsic rules


def test_every_schema_error_has_its_name_and_pointer(recorded):
    given = {"seats": "two", "kind": "roof", "flags": {"vip": True, "vap": 1}, "days": ["mon", 2], "colour": "red"}
    result = check_arguments(None, recorded([("book", given)], tools=TOOLS))
    assert (result.status, result.basis) == ("failed", "intrinsic")
    assert {(finding.name, finding.place.pointer) for finding in result.findings} == {
        ("missing_required", "/city"),
        ("type_mismatch", "/seats"),
        ("out_of_range", "/kind"),
        ("hallucinated_parameter", "/flags/vap"),
        ("type_mismatch", "/days/1"),
        ("hallucinated_parameter", "/colour"),
    }


def test_a_message_names_step_tool_field_expected_actual_in_that_order(recorded):
    result = check_arguments(
        None, recorded("hello", [("book", {"city": "Rome", "seats": 9})], tools=TOOLS, user="Rome")
    )
    assert str(result.findings[0]) == 'out_of_range at step 2 · book · /seats: expected {"maximum": 8}, got 9'


def test_arguments_that_are_no_json_are_named_and_quoted(recorded):
    result = check_arguments(None, recorded([("book", '{"city": "Ro')], tools=TOOLS))
    assert names(result) == ["malformed_json"]
    assert (result.findings[0].actual, result.findings[0].note) == ('{"city": "Ro', "cut off")
    assert result.score == 0.0


@pytest.mark.parametrize("arguments", [{}, None])
def test_a_tool_without_parameters_passes_without_arguments(arguments):
    call = ToolCall(name="ping") if arguments is None else ToolCall(name="ping", arguments=arguments)
    trace = Trace(id="t", messages=(Message(role="assistant", tool_calls=(call,)),))
    assert check_arguments(None, TraceView(trace, TOOLS)).status == "passed"


def test_nothing_known_of_any_called_tool_is_not_a_pass(recorded):
    assert check_arguments(None, recorded([("other", {"a": 1})], tools=TOOLS)).status == "not_applicable"
    assert check_arguments(None, recorded("hello", tools=TOOLS)).status == "not_applicable"


PLACEHOLDERS = ["<city>", "YOUR_CITY", "{{city}}", "your-city", "TODO", "xxx", "[USER_CITY]", "...", "??", "${CITY}"]
PLACEHOLDERS += ["Insert_city", "enter your city", "replace-me", "TBD", "FixMe", "placeholder", "changeme", "undefined"]
PLACEHOLDERS += [
    "Lorem ipsum dolor",
    "user@example.com",
    "test@test.org",
    "name@domain.com",
    "email@email.net",
    " <city> ",
]


@pytest.mark.parametrize("value", PLACEHOLDERS)
def test_a_placeholder_is_found_unless_somebody_said_it(recorded, value):
    found = check_arguments(None, recorded([("book", {"city": value})], tools=TOOLS))
    assert names(found) == ["placeholder_value"]
    said = check_arguments(None, recorded([("book", {"city": value})], tools=TOOLS, user=f"book in {value} now"))
    assert names(said) == []
    wanted = check_arguments((entry(city=value),), recorded([("book", {"city": value})], tools=TOOLS))
    assert wanted.status == "passed"


@pytest.mark.parametrize("value", ["Rome", "xx", "Yourtown", "4WQ150", "insurance", "<3", "todo list for Rome", "$25"])
def test_ordinary_values_are_no_placeholders(recorded, value):
    assert "placeholder_value" not in names(check_arguments(None, recorded([("book", {"city": value})], tools=TOOLS)))


# --- grounding without an expectation


def test_a_value_from_the_request_or_an_earlier_result_asks_nobody(recorded):
    view = recorded(
        [("ping", {}, {"best": {"city": "Rome"}, "free": [4]})],
        [("book", {"city": "rome", "seats": 4, "note": "window_seat"})],
        tools=TOOLS,
        user="A window seat, please",
    )
    assert check_arguments(None, view).status == "passed"


def test_a_value_from_nowhere_is_one_question_a_call(recorded):
    view = recorded([("book", {"city": "Rome", "seats": 4, "note": "by the sea"})], tools=TOOLS, user="Rome for 14")
    result = check_arguments(None, view)
    assert (result.status, result.score, result.basis) == ("unknown", None, "intrinsic")
    (question,) = result.questions
    assert question.dimension == "argument_grounding"
    assert [field["path"] for field in question.fields["fields"]] == ["/seats", "/note"]
    assert question.weight == pytest.approx(2 / 3)
    assert [finding.name for finding in question.on_fail] == ["ungrounded_value"]


def test_later_words_and_the_agents_own_are_no_source(recorded):
    view = recorded("I will take Rome.", [("book", {"city": "Rome"}, "Rome booked")], tools=TOOLS, user="a city")
    assert len(check_arguments(None, view).questions) == 1
    shown = check_arguments(None, view).questions[0].fields
    assert "booked" not in str(shown)


def test_a_question_about_a_late_call_shows_the_beginning_and_the_latest_part(recorded):
    """300 results lie before the call; a question must not carry them all, or questions grow with their square."""
    reads = [[("ping", {}, f"result {number}")] for number in range(300)]
    result = check_arguments(None, recorded(*reads, [("book", {"city": "Rome"})], tools=TOOLS, user="a city"))
    context = result.questions[0].fields["context"]
    assert [entry["content"] for entry in (context[0], context[-1])] == ["result 0", "result 299"]
    assert context[1]["content"] == "[truncated 99 entries]"
    assert len(context) == 202


def test_a_huge_message_is_shown_without_its_middle(recorded):
    view = recorded([("ping", {}, "y" * 1_000_000)], [("book", {"city": "Rome"})], tools=TOOLS, user="x" * 1_000_000)
    shown = check_arguments(None, view).questions[0].fields
    assert len(str(shown)) < 12_000
    assert "[truncated" in shown["request"][0]["content"]
    assert "[truncated" in shown["context"][0]["content"]


def test_a_default_needs_no_source(recorded):
    view = recorded([("book", {"city": "Rome", "seats": 2})], tools=TOOLS, user="Rome")
    assert check_arguments(None, view).status == "passed"


# --- expected values


def test_an_equal_call_passes_and_further_parameters_are_fine(recorded):
    assert verdict(recorded, {"city": "Rome", "seats": 4}, entry(city="Rome")) == "passed"


def test_a_wrong_value_names_field_expected_and_actual(recorded):
    result = check_arguments(
        (entry(city="Rome", seats=4),), recorded([("book", {"city": "Bonn", "seats": 4})], tools=TOOLS)
    )
    assert (result.status, result.score) == ("failed", 0.5)
    assert str(result.findings[0]) == "wrong_value at step 1 · book · /city: expected Rome, got Bonn"
    assert result.detail == {
        "fields": {"book.city": {"wrong": 1}, "book.seats": {"matched": 1}},
        "expected_fields": 2,
        "matched_fields": 1,
        "given_fields": 2,
    }


def test_extras_can_be_refused(recorded):
    strict = entry(city="Rome", extras="forbid")
    assert verdict(recorded, {"city": "Rome"}, strict) == "passed"
    assert verdict(recorded, {"city": "Rome", "note": "x"}, strict) == "failed"
    assert verdict(recorded, {"city": "Rome", "seats": 2}, strict) == "passed"  # the default adds nothing


def test_null_absent_and_default_are_three_relations(recorded):
    wanted = entry(city="Rome", seats=2)
    assert verdict(recorded, {"city": "Rome"}, wanted) == "passed"
    assert verdict(recorded, {"city": "Rome"}, entry(city="Rome", seats=2, default_is_absent=False)) == "failed"
    assert verdict(recorded, {"city": "Rome"}, entry(city="Rome", seats=3)) == "failed"
    either = entry(compare={"$.seats": {"one_of": [2, 3]}}, city="Rome")
    assert verdict(recorded, {"city": "Rome"}, either) == "passed"
    either = entry(compare={"$.seats": {"one_of": [4, 3]}}, city="Rome", seats=4)
    assert verdict(recorded, {"city": "Rome"}, either) == "failed"
    optional = entry(compare={"$.seats": {"one_of": {"values": [4], "or_absent": True}}}, city="Rome", seats=4)
    assert verdict(recorded, {"city": "Rome"}, optional) == "passed"
    loose = {"book": BOOK.model_copy(update={"parameters": {}})}
    null = check_arguments((entry(city="Rome", note=None),), recorded([("book", {"city": "Rome"})], tools=loose))
    assert null.status == "failed"
    null = check_arguments(
        (entry(city="Rome", note=None, null_is_absent=True),), recorded([("book", {"city": "Rome"})], tools=loose)
    )
    assert null.status == "passed"


def test_a_schema_error_at_the_same_place_is_told_once(recorded):
    result = check_arguments(
        (entry(city="Rome", seats=4),), recorded([("book", {"city": "Rome", "seats": "4"})], tools=TOOLS)
    )
    assert names(result) == ["type_mismatch"]
    assert result.detail["fields"]["book.seats"] == {"wrong": 1, "type_mismatch": 1}
    assert result.score == 0.5


def test_a_missing_call_is_said_without_a_step(recorded):
    result = check_arguments((entry(city="Rome"),), recorded("no", tools=TOOLS))
    assert (result.status, result.score, names(result)) == ("failed", 0.0, ["wrong_value"])
    assert result.findings[0].place.step is None


def test_overlapping_alternatives_are_both_met(recorded):
    """{a or b}, {a} against calls b, a: a greedy match takes a for the first entry and loses the second."""
    either = entry(compare={"$.city": {"one_of": ["a", "b"]}})
    for cities in (("b", "a"), ("a", "b")):
        view = recorded(*[[("book", {"city": city})] for city in cities], tools=TOOLS)
        assert check_arguments((either, entry(city="a")), view).status == "passed"


@given(st.permutations(["x", "y", "z"]), st.booleans())
def test_neither_call_ids_nor_messages_matter(ids: list[str], together: bool):
    """Two calls in one message or in two, under any ids: the same verdict, findings but for their step, and score."""
    made = [
        ToolCall(name="book", id=key, arguments={"city": city}) for key, city in zip(ids, ["a", "b", "c"], strict=True)
    ]
    groups = [tuple(made)] if together else [(call,) for call in made]
    messages = tuple(Message(role="assistant", tool_calls=group) for group in groups)
    result = check_arguments((entry(city="c"), entry(city="x")), TraceView(Trace(id="t", messages=messages), TOOLS))
    assert (result.status, result.score, names(result)) == ("failed", 0.5, ["wrong_value"])


def test_a_duplicate_entry_needs_a_call_of_its_own(recorded):
    view = recorded([("book", {"city": "Rome"})], tools=TOOLS)
    result = check_arguments((entry(city="Rome"), entry(city="Rome")), view)
    assert (result.status, result.score) == ("failed", 0.5)


@pytest.mark.parametrize("compare", [{}, {"$.note": "text"}])
def test_as_many_entries_as_possible_are_met_in_full(recorded, compare):
    """Shares alone would split: 2/3 + 1/2 is more than the 1 + 0 of the one full match."""
    view = recorded(
        [("book", {"city": "a", "seats": 1, "note": "n"}), ("book", {"city": "a", "seats": 1, "note": "m"})],
        tools=TOOLS,
    )
    entries = (entry(compare=compare, note="n", kind="inside"), entry(compare=compare, city="a", seats=1, note="n"))
    pairs = paired(entries, view)
    assert [pair.made.number for pair in pairs] == [1, 0]


def test_an_equal_value_is_worth_more_than_one_that_a_judge_must_see(recorded):
    wanted = entry(city="Rome", note="a birthday", compare={"$.note": "semantic"})
    calls = [("book", {"city": "Rome", "note": "somebody turns 30"}), ("book", {"city": "Rome", "note": "a birthday"})]
    for made in (calls, calls[::-1]):
        result = check_arguments((wanted,), recorded(made, tools=TOOLS))
        assert (result.status, result.questions) == ("passed", ())


def test_a_null_that_counts_as_absent_leaves_the_default(recorded):
    """`seats` is 2 by the schema's default: a null is another value, unless null means absent."""
    made = recorded([("book", {"city": "Rome", "seats": None})], tools={"book": LOOSE})
    assert check_arguments((entry(city="Rome", seats=2, null_is_absent=True),), made).status == "passed"
    assert check_arguments((entry(city="Rome", seats=2),), made).status == "failed"


def test_unreadable_arguments_count_once(recorded):
    result = check_arguments((entry(city="Rome"),), recorded([("book", '{"city')], tools=TOOLS))
    assert (names(result), result.units, result.score) == (["malformed_json"], 1, 0.0)


@given(st.permutations([0, 1, 2, 3]), st.permutations([0, 1, 2]))
def test_neither_the_order_of_calls_nor_of_entries_matters(calls: list[int], entries: list[int]):
    made = [{"city": "a", "seats": 1}, {"city": "a", "seats": 3}, {"city": "b", "seats": 3}, {"city": "c"}]
    wanted = [entry(city="a"), entry(city="a", seats=3), entry(compare={"$.city": {"one_of": ["b", "c"]}}, seats=3)]
    messages = tuple(
        Message(role="assistant", tool_calls=(ToolCall(name="book", id=str(number), arguments=made[number]),))
        for number in calls
    )
    view = TraceView(Trace(id="t", messages=messages), TOOLS)
    assert check_arguments(tuple(wanted[number] for number in entries), view).status == "passed"


# --- comparators by path


@pytest.mark.parametrize(
    ("values", "compare", "arguments", "status"),
    [
        ({"city": "Rome"}, {"$.city": "text"}, {"city": " rome "}, "passed"),
        ({"seats": 4}, {"$.seats": {"number": {"abs": 1}}}, {"city": "x", "seats": 5}, "passed"),
        ({"days": ["a", "b"]}, {"$.days": "unordered"}, {"city": "x", "days": ["b", "a"]}, "passed"),
        ({"days": ["a", "b"]}, {"$.days": "unordered"}, {"city": "x", "days": ["b", "a", "a"]}, "failed"),
        ({"days": ["a", "a"]}, {"$.days": "subset"}, {"city": "x", "days": ["a", "c", "a"]}, "passed"),
        ({"days": ["a", "a"]}, {"$.days": "subset"}, {"city": "x", "days": ["a", "c"]}, "failed"),
        ({"flags": {}}, {"$.flags": "subset"}, {"city": "x", "flags": {"vip": True}}, "passed"),
        ({"flags": {"vip": True}}, {"$.flags": "subset"}, {"city": "x", "flags": {}}, "failed"),
        ({"days": ["2024-05-20"]}, {"$.days[*]": "date"}, {"city": "x", "days": ["20 May 2024"]}, "passed"),
        (
            {"days": ["A", "B"]},
            {"$.days": "unordered", "$.days[*]": "text"},
            {"city": "x", "days": ["b", "a"]},
            "passed",
        ),
        ({"city": "Rome", "note": "x"}, {"$.note": "ignore"}, {"city": "Rome", "note": "y"}, "passed"),
        ({"city": "Rome", "note": "x"}, {"$.note": {"text": {"or_absent": True}}}, {"city": "Rome"}, "passed"),
        ({"city": "Rome", "note": "x"}, {"$.note": "text"}, {"city": "Rome"}, "failed"),
        ({}, {"$.city": {"regex": "^R"}}, {"city": "Rome"}, "passed"),
        ({}, {"$.city": {"regex": "^R"}}, {"city": "Bonn"}, "failed"),
        ({}, {"$.note": {"regex": "^R"}}, {"city": "Bonn"}, "failed"),  # nothing there is not a match
        ({}, {"$.note": {"regex": {"pattern": "^R", "or_absent": True}}}, {"city": "Bonn"}, "passed"),
        ({"flags": {}}, {"$.flags.vip": {"one_of": [True]}}, {"city": "x", "flags": {"vip": True}}, "passed"),
        ({"flags": {}}, {"$.flags.vip": {"one_of": [True]}}, {"city": "x", "flags": {}}, "failed"),
        ({"flags": {}}, {}, {"city": "x", "flags": {"vip": True}}, "failed"),  # an object is compared whole
        ({"city": "Rome", "note": "same"}, {"$.note": "semantic"}, {"city": "Rome", "note": "same"}, "passed"),
        ({"city": "Rome", "note": "same"}, {"$.note": "semantic"}, {"city": "Rome", "note": "other"}, "unknown"),
        ({"city": "Rome", "note": "same"}, {"$.note": "semantic"}, {"city": "Bonn", "note": "other"}, "failed"),
        ({"city": "Rome", "note": "same"}, {"$.note": "semantic"}, {"city": "Rome"}, "failed"),
        ({"city": "Rome"}, {"$": "subset"}, {"city": "Rome", "note": "x"}, "passed"),
        ({"city": "Rome"}, {"$": "exact"}, {"city": "Rome", "note": "x"}, "failed"),
        ({"city": "Rome"}, {"$": "subset", "$.note": {"regex": "^y"}}, {"city": "Rome", "note": "x"}, "failed"),
    ],
)
def test_comparators_hold_at_their_path(recorded, values, compare, arguments, status):
    assert verdict(recorded, arguments, ArgumentsExpected(tool="book", values=values, compare=compare)) == status


def test_a_semantic_path_is_a_question_about_that_field_only(recorded):
    wanted = ArgumentsExpected(tool="book", values={"city": "Rome", "note": "quiet"}, compare={"$.note": "semantic"})
    result = check_arguments(
        (wanted,), recorded([("book", {"city": "Rome", "note": "no noise", "seats": 7})], tools=TOOLS)
    )
    (question,) = result.questions
    assert question.fields["fields"] == [{"path": "/note", "value": "no noise"}]
    assert question.weight == 0.5
    assert (question.on_fail[0].expected, question.on_fail[0].actual) == ("quiet", "no noise")
    assert "quiet" not in str(question.fields)
    assert sorted(question.fields) == ["context", "fields", "request", "tool"]


def test_a_difference_deep_inside_is_named_by_its_pointer(recorded):
    wanted = entry(days=["mon", "tue", "wed"])
    result = check_arguments((wanted,), recorded([("book", {"city": "x", "days": ["mon", "fri", "sun"]})], tools=TOOLS))
    finding = result.findings[0]
    assert (finding.place.pointer, finding.expected, finding.actual) == ("/days/1", "tue", "fri")
    assert finding.note == "and 1 more in this parameter"


# --- hostile traces


def test_a_broken_schema_that_the_trace_recorded_is_the_traces_error(recorded):
    broken = ToolSpec(name="pay", parameters={"$ref": "http://127.0.0.1:9/x.json"})
    trace = Trace(id="t", messages=(Message(role="assistant", tool_calls=(ToolCall(name="pay"),)),), tools=(broken,))
    result = check_arguments(None, TraceView(trace))
    assert (result.status, result.score) == ("trace_error", None)
    assert "'pay'" in (result.reason or "")
    with pytest.raises(ConfigError):
        check_arguments(None, TraceView(trace, {"pay": broken}))


@pytest.mark.parametrize(
    "value",
    ["\ud800", 10**400, "{{ 7*7 }}", "$..*", "x" * 1_000_000],
)
def test_hostile_values_are_data(recorded, value):
    result = check_arguments((entry(city="Rome"),), recorded([("book", {"city": value})], tools=TOOLS))
    assert result.status == "failed"
    check_arguments(None, recorded([("book", {"city": value})], tools=TOOLS))


def test_deep_nesting_is_a_finding_not_a_crash(recorded):
    """200 levels are as deep as the readers let through."""
    value: Any = "deep"
    for _ in range(198):
        value = [value]
    arguments = {"city": "x", "days": value}
    assert check_arguments((entry(days=["mon"]),), recorded([("book", arguments)], tools=TOOLS)).status == "failed"
    assert check_arguments(None, recorded([("book", arguments)], tools=TOOLS)).status == "failed"

"""What a case must not be: every mistake is refused with its case, field, what was found, and what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from toolgrade.core.case import Case
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError
from toolgrade.gates.contract import validate_case

FLIGHTS = {"type": "array", "items": {"$ref": "#/$defs/flight"}}
TOOLS = {
    "get_user": ToolSpec(name="get_user", parameters={"type": "object", "properties": {"user_id": {"type": "string"}}}),
    "book_flight": ToolSpec(
        name="book_flight",
        parameters={
            "type": "object",
            "properties": {
                "user_id": {"type": "string"},
                "flights": FLIGHTS,
                "extra": {"type": "object"},
                "pay": {"anyOf": [{"type": "object", "properties": {"card": {}}}, {"type": "null"}]},
                "bag weight": {"type": "number"},
            },
            "$defs": {"flight": {"type": "object", "properties": {"date": {}, "number": {}}}},
        },
    ),
}


def case(**fields: Any) -> Case:
    aggregate = {"aggregate": fields.pop("aggregate")} if "aggregate" in fields else {}
    return Case.model_validate({"id": "c1", "place": "cases.yaml:7", "expected": fields or None, **aggregate})


def refused(**fields: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        validate_case(case(**fields), TOOLS)
    assert caught.value.exit_code == 2
    text = str(caught.value)
    assert text.startswith("case 'c1' (cases.yaml:7): ")
    assert "; expected " in text
    return text


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({"selection": {"required": ["get_usr"]}}, "expected.selection.required"),
        ({"selection": {"required": [], "extras": ["get_usr"]}}, "expected.selection.extras"),
        ({"selection": {"forbidden": ["get_usr"]}}, "expected.selection.forbidden"),
        (
            {"selection": {"required": ["get_user"], "alternatives": [["get_user"], ["get_usr"]]}},
            "expected.selection.alternatives[1]",
        ),
        ({"arguments": [{"tool": "get_usr", "values": {"a": 1}}]}, "expected.arguments[0].tool"),
        ({"ordering": [{"before": "get_user", "after": "get_usr"}]}, "expected.ordering[0].after"),
        ({"utilization": {"must_use": [{"tool": "get_usr", "path": "$.a"}]}}, "expected.utilization.must_use[0].tool"),
        ({"recovery": {"faults": [{"tool": "get_usr", "kind": "timeout"}]}}, "expected.recovery.faults[0].tool"),
        ({"recovery": {"fallbacks": {"get_user": ["get_usr"]}}}, "expected.recovery.fallbacks"),
        ({"recovery": {"must_escalate": "get_usr"}}, "expected.recovery.must_escalate"),
        ({"recovery": {"error_when": {"get_usr": {"regex": "x"}}}}, "expected.recovery.error_when"),
        ({"recovery": {"empty_is_error": ["get_usr"]}}, "expected.recovery.empty_is_error"),
    ],
)
def test_an_unknown_tool_is_refused_wherever_it_stands(expected, field):
    text = refused(**expected)
    assert f"{field}: unknown tool 'get_usr'" in text
    assert "book_flight, get_user" in text
    assert "Did you mean 'get_user'?" in text
    validate_case(case(**expected), None)  # nobody knows the tools: nothing to hold it against


def test_a_cases_own_tools_count_where_none_are_given():
    own = Case(id="c", expected={"selection": {"required": ["x"]}}, tools=(ToolSpec(name="y"),))
    with pytest.raises(ConfigError, match="unknown tool 'x'"):
        validate_case(own, None)


@pytest.mark.parametrize("pairs", [["aa"], ["ab", "ba"], ["ab", "bc", "ca"]])
def test_a_cycle_is_refused(pairs):
    ordering = [{"before": pair[0], "after": pair[1]} for pair in pairs]
    with pytest.raises(ConfigError, match=r"expected\.ordering: a cycle: \w before \w"):
        validate_case(case(ordering=ordering), None)


def test_an_order_without_a_cycle_is_fine():
    validate_case(case(ordering=[{"before": "a", "after": "b"}, {"before": "a", "after": "c"}]), None)


@pytest.mark.parametrize(
    "path",
    [
        "$.user_id",
        "$.flights[*].date",
        "$.flights[0].number",
        "$.flights[?@.number == 'HAT1'].date",
        "$['bag weight']",
        "$.extra.anything.at.all",
        "$.pay.card",
        "$..date",
        "$.*",
    ],
)
def test_a_path_that_the_schema_has_is_fine(path):
    entry = {"tool": "book_flight", "compare": {path: {"regex": "x"}}}
    validate_case(case(arguments=[entry]), TOOLS)


@pytest.mark.parametrize(
    ("path", "missing", "near"),
    [
        ("$.usr_id", "usr_id", "user_id"),
        ("$.flights[*].dat", "dat", None),
        ("$.flights.date", "date", None),
        ("$.user_id.first", "first", None),
        ("$.pay.cash", "cash", None),
        ("$.user_id[0]", "0", None),
    ],
)
def test_a_path_that_the_schema_lacks_is_refused(path, missing, near):
    text = refused(arguments=[{"tool": "book_flight", "compare": {path: {"regex": "x"}}}])
    assert f"has no '{missing}'" in text
    assert (f"Did you mean '{near}'?" in text) is (near is not None)


def test_a_parameter_that_the_schema_lacks_is_refused_with_the_nearest():
    text = refused(arguments=[{"tool": "book_flight", "values": {"bag weigth": 3}}])
    assert "expected.arguments[0].values: $['bag weigth'] where tool 'book_flight' has no 'bag weigth'" in text
    assert "Did you mean 'bag weight'?" in text


def test_a_comparator_needs_something_to_compare_with():
    text = refused(arguments=[{"tool": "book_flight", "compare": {"$.user_id": "text"}}])
    assert "comparator 'text' without a value" in text
    validate_case(case(arguments=[{"tool": "book_flight", "compare": {"$.user_id": "semantic"}}]), TOOLS)


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({"arguments": [{"tool": "get_user", "compare": {"$.a[": "ignore"}}]}, "expected.arguments[0].compare"),
        ({"arguments": [{"tool": "get_user", "compare": {"user_id": "ignore"}}]}, "expected.arguments[0].compare"),
        ({"outcome": {"state": [{"path": "$[", "exists": True}]}}, "expected.outcome.state[0].path"),
        ({"utilization": {"must_use": [{"tool": "get_user", "path": "a"}]}}, "expected.utilization.must_use[0].path"),
        ({"recovery": {"error_when": {"get_user": {"path": "a"}}}}, "expected.recovery.error_when.get_user"),
    ],
)
def test_what_is_no_jsonpath_is_refused(expected, field):
    text = refused(**expected)
    assert field in text
    assert "is no JSONPath" in text


@pytest.mark.parametrize(
    "expected",
    [
        {"arguments": [{"tool": "get_user", "compare": {"$.user_id": {"regex": "("}}}]},
        {"recovery": {"error_when": {"get_user": {"regex": "("}}}},
    ],
)
def test_what_is_no_regular_expression_is_refused(expected):
    assert "'(' is no regular expression" in refused(**expected)


BOOKING = [{"tool": "book_flight", "values": {"user_id": "u"}}]


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({"selection": {"forbidden": ["book_flight"]}, "arguments": BOOKING}, "expected.arguments[0].tool"),
        ({"selection": {"required": []}, "arguments": BOOKING}, "expected.arguments[0].tool"),
        (
            {"selection": {"required": ["get_user"], "extras": "forbid"}, "arguments": BOOKING},
            "expected.arguments[0].tool",
        ),
        (
            {"selection": {"required": ["get_user"], "alternatives": [["book_flight"]], "forbidden": ["book_flight"]}},
            "expected.selection.alternatives[0]",
        ),
        (
            {"selection": {"required": ["get_user"] * 3}, "efficiency": {"max_calls": 2}},
            "expected.efficiency.max_calls",
        ),
    ],
)
def test_expectations_that_no_trace_can_meet_together_are_refused(expected, field):
    assert f": {field}: " in refused(**expected)


@pytest.mark.parametrize(
    "selection",
    [
        {"required": ["get_user"]},
        {"required": [], "extras": ["book_flight"]},
        {"required": ["get_user"], "extras": "forbid", "alternatives": [["book_flight"]]},
        {"forbidden": ["get_user"]},
    ],
)
def test_arguments_of_a_call_that_may_be_made_are_fine(selection):
    validate_case(case(selection=selection, arguments=BOOKING), TOOLS)


def test_a_broken_tool_schema_is_refused_before_anything_is_graded():
    tools = TOOLS | {"pay": ToolSpec(name="pay", parameters={"type": "strng"})}
    with pytest.raises(ConfigError, match="tool 'pay'"):
        validate_case(case(), tools)


@pytest.mark.parametrize("check", ["ordering", "outcome"])
def test_a_check_that_never_decides_cannot_be_required(check):
    hybrid = {"policy": "hybrid", "must_pass": [check], "weights": {"arguments": 1}, "threshold": 0.5}
    assert f"aggregate.must_pass: '{check}'" in refused(aggregate=hybrid)
    weighted = {"policy": "weighted", "weights": {check: 1}, "threshold": 0.5}
    assert f"aggregate.weights: '{check}'" in refused(aggregate=weighted, selection={"required": ["get_user"]})


def test_a_check_with_intrinsic_rules_may_be_required_without_an_expectation():
    hybrid = {"policy": "hybrid", "must_pass": ["arguments"], "weights": {"efficiency": 1}, "threshold": 0.5}
    validate_case(case(aggregate=hybrid), TOOLS)

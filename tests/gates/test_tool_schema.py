"""Schema errors of one call. What is valid is decided by the JSON Schema specification; the names by DESIGN §2."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from toolgrade.core.closing import closed
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError


def found(parameters: dict[str, Any], arguments: dict[str, Any]) -> set[tuple[str, str]]:
    errors = ToolSpec(name="t", parameters=parameters).argument_schema.errors(arguments)
    return {(error.name, error.pointer) for error in errors}


def properties(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named}


OBJECT = properties(a={"type": "integer"})


@pytest.mark.parametrize(
    ("schema", "value", "name"),
    [
        ({"type": "integer"}, "1", "type_mismatch"),
        ({"type": "integer"}, True, "type_mismatch"),
        ({"type": "integer"}, 1.0, None),  # JSON Schema since draft 6: a number without a fraction is an integer
        ({"type": "integer"}, 1.5, "type_mismatch"),
        ({"type": ["string", "null"]}, None, None),
        ({"type": ["string", "null"]}, 3, "type_mismatch"),
        ({"enum": ["a", "b"]}, "c", "out_of_range"),
        ({"const": 1}, True, "out_of_range"),
        ({"type": "number", "minimum": 0}, -1, "out_of_range"),
        ({"type": "number", "exclusiveMaximum": 3}, 3, "out_of_range"),
        ({"type": "number", "multipleOf": 5}, 7, "out_of_range"),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "jfk", "out_of_range"),
        ({"type": "string", "format": "date"}, "May 20", "out_of_range"),
        ({"type": "string", "format": "date"}, "2024-05-20", None),
        ({"type": "string", "maxLength": 2}, "abc", "out_of_range"),
        ({"type": "array", "minItems": 1}, [], "out_of_range"),
        ({"type": "array", "uniqueItems": True}, [1, 1.0], "out_of_range"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, "type_mismatch"),
        ({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}, "b", "out_of_range"),
        ({"oneOf": [{"type": "number", "maximum": 5}, {"type": "number", "minimum": 3}]}, 4, "out_of_range"),
        ({"not": {"type": "string"}}, "x", "out_of_range"),
    ],
)
def test_every_kind_of_error_has_a_name(schema, value, name):
    assert found(properties(x=schema), {"x": value}) == ({(name, "/x")} if name else set())


def test_required_and_nested_places():
    schema = properties(trips={"type": "array", "items": properties(a={"type": "integer"}) | {"required": ["a"]}})
    assert found(schema, {"trips": [{"a": 1}, {}, {"a": "1"}]}) == {
        ("missing_required", "/trips/1/a"),
        ("type_mismatch", "/trips/2/a"),
    }


def test_pointers_are_escaped():
    assert found(properties(), {"a/b~c": 1}) == {("hallucinated_parameter", "/a~1b~0c")}


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        (properties(), False),
        ({"type": "object"}, False),  # a tool that names no parameter takes none
        ({}, True),  # an empty schema says nothing
        (properties() | {"additionalProperties": False}, False),
        (properties() | {"additionalProperties": True}, True),
        (properties() | {"additionalProperties": {"type": "integer"}}, True),
        (properties() | {"patternProperties": {"^z": {}}}, True),
        (properties() | {"patternProperties": {"^y": {}}}, False),
        ({"allOf": [properties(a={}), properties(z={})]}, True),
        ({"allOf": [properties(a={}), properties(b={})]}, False),
        ({"anyOf": [properties(a={}), properties(z={})]}, True),
        ({"$ref": "#/$defs/o", "$defs": {"o": properties(z={})}}, True),
        ({"$ref": "#/$defs/o", "$defs": {"o": properties(a={})}}, False),
        ({"allOf": [{"$ref": "#/$defs/o"}, properties(z={})], "$defs": {"o": properties(a={})}}, True),
        (properties(a={}) | {"if": {"required": ["z"]}, "then": properties(z={})}, True),
    ],
)
def test_a_parameter_that_no_schema_names_is_hallucinated_at_every_depth(schema, known):
    expected = set() if known else {("hallucinated_parameter", "/z")}
    assert found(schema, {"z": 1}) == expected
    if schema not in ({}, {"type": "object"}):
        outer = properties(in_={"type": "array", "items": properties(o=schema)}) | {"$defs": schema.get("$defs", {})}
        deeper = found(outer, {"in_": [{"o": {"z": 1}}]})
        assert deeper == {(name, "/in_/0/o" + pointer) for name, pointer in expected}


def test_a_free_form_object_below_the_top_stays_open():
    assert found(properties(data={"type": "object"}), {"data": {"z": 1}}) == set()


def test_a_parameter_of_another_branch_is_hallucinated():
    round_, square = properties(kind={"const": "round"}, r={}), properties(kind={"const": "square"}, side={})
    schema = properties(shape={"oneOf": [round_, square]})
    assert found(schema, {"shape": {"kind": "round", "r": 1}}) == set()
    assert found(schema, {"shape": {"kind": "round", "r": 1, "side": 2}}) == {("hallucinated_parameter", "/shape/side")}
    deep = properties(shape={"anyOf": [properties(inner=properties(a={})), {"type": "null"}]})
    assert found(deep, {"shape": {"inner": {"a": 1, "z": 1}}}) == {("hallucinated_parameter", "/shape/inner/z")}


def test_a_value_that_fits_both_branches_of_one_of_is_refused_as_written():
    """Closed, only the first branch would fit: closing must not turn a refusal into an acceptance."""
    schema = properties(x={"oneOf": [properties(o=properties(a={})), properties(o=properties(z={}))]})
    assert found(schema, {"x": {"o": {"a": 1}}}) == {("out_of_range", "/x")}


def test_a_wrong_value_beside_it_does_not_hide_an_unknown_name():
    assert found(OBJECT, {"a": "x", "z": 1}) == {("type_mismatch", "/a"), ("hallucinated_parameter", "/z")}


def test_a_recursive_schema_is_followed():
    node = properties(value={}, next={"$ref": "#/$defs/node"})
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    assert found(schema, {"next": {"next": {"value": 1}}}) == set()
    assert found(schema, {"next": {"next": {"valu": 1}}}) == {("hallucinated_parameter", "/next/next/valu")}


def test_older_drafts_keep_their_meaning():
    draft4 = properties(n={"type": "number", "minimum": 3, "exclusiveMinimum": True}) | {
        "$schema": "http://json-schema.org/draft-04/schema#"
    }
    assert found(draft4, {"n": 3}) == {("out_of_range", "/n")}
    assert found(draft4, {"n": 4, "z": 1}) == {("hallucinated_parameter", "/z")}
    draft7 = properties(pair={"type": "array", "items": [properties(a={}), {"type": "string"}]}) | {
        "$schema": "http://json-schema.org/draft-07/schema#"
    }
    assert found(draft7, {"pair": [{"a": 1}, "x"]}) == set()
    assert found(draft7, {"pair": [{"b": 1}, 2]}) == {
        ("hallucinated_parameter", "/pair/0/b"),
        ("type_mismatch", "/pair/1"),
    }


known_schemas = st.recursive(
    st.sampled_from([{}, {"type": "integer"}, {"type": "string", "maxLength": 1}, {"enum": [1, "a"]}]),
    lambda inner: (
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda named: properties(**named))
        | inner.map(lambda items: {"type": "array", "items": items})
        | st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"anyOf": branches})
    ),
    max_leaves=5,
)
some_values = st.recursive(
    st.sampled_from([1, "a", "ab", None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


@given(known_schemas, st.dictionaries(st.sampled_from("xyz"), some_values, max_size=2))
def test_closing_only_ever_adds_refusals_of_names(schema: dict[str, Any], arguments: dict[str, Any]):
    """Whatever the schema as written refuses is refused, and what is refused beyond it is a parameter."""
    parameters = properties(x=schema, y=schema)
    written = jsonschema_rs.Draft202012Validator(parameters).is_valid(arguments)
    errors = ToolSpec(name="t", parameters=parameters).argument_schema.errors(arguments)
    if not written:
        assert errors
    if written:
        assert {error.name for error in errors} <= {"hallucinated_parameter"}
    assert jsonschema_rs.Draft202012Validator(closed(parameters)).is_valid(arguments) == (not errors)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strng"}, "strng"),
        ({"properties": 3}, "3"),
        ({"properties": {"a": {"pattern": "("}}}, "regex"),
        ({"$ref": "#/$defs/gone"}, "gone"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "127.0.0.1"),
        ({"$ref": "file:///etc/hostname"}, "hostname"),
    ],
)
def test_a_broken_schema_is_a_configuration_error_that_names_tool_and_reason(schema, reason):
    with pytest.raises(ConfigError) as caught:
        _ = ToolSpec(name="pay", parameters=schema).argument_schema
    assert "'pay'" in str(caught.value)
    assert reason in str(caught.value)


def test_a_tool_stays_a_value_once_its_schema_is_compiled():
    tool, same = ToolSpec(name="t", parameters=OBJECT), ToolSpec(name="t", parameters=OBJECT)
    assert tool.argument_schema is tool.argument_schema
    assert tool == same
    assert "argument_schema" not in tool.model_dump()
    sent = pickle.loads(pickle.dumps(tool))  # noqa: S301
    for other in (sent, copy.deepcopy(tool), copy.copy(tool)):
        assert other == tool
        assert other.argument_schema.errors({"z": 1})[0].pointer == "/z"
    changed = tool.model_copy(update={"parameters": properties(z={})})
    assert changed.argument_schema.errors({"z": 1}) == []


# --- a pydantic model


class Leg(BaseModel):
    number: Annotated[str, Field(pattern=r"^HAT\d+$")]
    seats: Annotated[int, Field(ge=1)] = 1


class Booking(BaseModel):
    """Book some flights."""

    cabin: Literal["economy", "business"]
    legs: list[Leg]
    payment: Leg | int | None = None


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    amount: int


def by_model(model: type[BaseModel], arguments: dict[str, Any]) -> set[tuple[str, str]]:
    errors = ToolSpec.from_model("t", model).argument_schema.errors(arguments)
    return {(error.name, error.pointer) for error in errors}


def test_a_models_own_rules_become_the_same_findings():
    assert by_model(Booking, {"cabin": "economy", "legs": [{"number": "HAT1"}]}) == set()
    assert by_model(Booking, {"cabin": "first", "legs": [{"number": "X", "seats": 0}, {"seats": "many"}]}) == {
        ("out_of_range", "/cabin"),
        ("out_of_range", "/legs/0/number"),
        ("out_of_range", "/legs/0/seats"),
        ("missing_required", "/legs/1/number"),
        ("type_mismatch", "/legs/1/seats"),
    }
    assert by_model(Booking, {"cabin": "economy", "legs": [{"number": "HAT1", "row": 3}], "colour": "red"}) == {
        ("hallucinated_parameter", "/legs/0/row"),
        ("hallucinated_parameter", "/colour"),
    }


def test_a_model_decides_how_strict_it_is():
    assert by_model(Strict, {"amount": "5"}) == {("type_mismatch", "/amount")}
    assert by_model(Strict, {"amount": 5, "z": 1}) == {("hallucinated_parameter", "/z")}
    assert by_model(Leg, {"number": "HAT1", "seats": "5"}) == set()  # pydantic reads "5" as 5 unless it is strict


def test_a_model_gives_description_and_schema():
    tool = ToolSpec.from_model("book", Booking, writes=True)
    assert (tool.name, tool.description, tool.writes) == ("book", "Book some flights.", True)
    assert set(tool.parameters["properties"]) == {"cabin", "legs", "payment"}

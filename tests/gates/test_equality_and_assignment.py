"""Equality and assignment.

JSON Schema's `const` (jsonschema-rs) is the outside judge of equality: by the specification it compares JSON
values, so 1 equals 1.0 and true does not equal 1. scipy's linear_sum_assignment is that of assignment.
"""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from toolgrade.gates.assignment import assign
from toolgrade.gates.equality import equal, fingerprint

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3, width=16) | st.sampled_from(["", "1", "a"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (None, False, False),
        (None, "", False),
        ([], {}, False),
        ([1, [True]], [1.0, [1]], False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        ("\u00e9", "e\u0301", False),  # two spellings of one letter: nothing is normalised
        (float("nan"), float("nan"), True),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_equality_knows_json_types(left: Any, right: Any, same: bool):
    assert equal(left, right) is same
    assert equal(right, left) is same
    assert (fingerprint(left) == fingerprint(right)) is same


@given(values, values)
@example([True], [1])
@example({"a": [0.0]}, {"a": [0]})
def test_equality_is_that_of_json_schema(left: Any, right: Any):
    by_specification = jsonschema_rs.Draft202012Validator({"const": left}).is_valid(right)
    assert equal(left, right) is by_specification
    assert (fingerprint(left) == fingerprint(right)) is by_specification


@given(values)
def test_a_value_equals_itself(value: Any):
    assert equal(value, value)


def test_equality_follows_what_the_readers_let_through():
    """They refuse what is nested more than 200 levels deep."""

    def nested(depth: int, core: Any) -> Any:
        value = core
        for _ in range(depth):
            value = [value]
        return value

    assert equal(nested(200, 1), nested(200, 1.0))
    assert not equal(nested(200, 1), nested(200, True))


matrices = st.integers(0, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=columns, max_size=columns), max_size=5
    )
)


@given(matrices)
@example([[1.0, 1.0], [1.0, 0.0]])  # a greedy first choice loses the second row
def test_the_assigned_weight_is_the_greatest(weights: list[list[float]]):
    taken = assign(weights)
    columns = [column for column in taken if column is not None]
    assert len(taken) == len(weights)
    assert len(set(columns)) == len(columns)
    width = len(weights[0]) if weights else 0
    assert len(columns) == min(len(weights), width)
    total = sum(weights[row][column] for row, column in enumerate(taken) if column is not None)
    best = 0.0
    if weights and width:
        rows, picked = linear_sum_assignment(np.array(weights), maximize=True)
        best = float(np.array(weights)[rows, picked].sum())
    assert total == best


def test_large_problems_are_solved_as_well():
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 5, (40, 45)).astype(float)
    rows, picked = linear_sum_assignment(weights, maximize=True)
    taken = assign(weights.tolist())
    assert sum(weights[row, column] for row, column in enumerate(taken)) == weights[rows, picked].sum()


def test_every_order_of_columns_gives_the_same_weight():
    weights = [[2.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.0, 2.0, 1.0]]
    totals = set()
    for order in itertools.permutations(range(3)):
        turned = [[row[column] for column in order] for row in weights]
        totals.add(sum(turned[row][column] for row, column in enumerate(assign(turned))))
    assert totals == {5.0}

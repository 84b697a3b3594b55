"""Trajectory metrics.

exact, in_order, any_order, precision and recall are defined by Vertex AI's agent evaluation; the examples are
worked out by hand; F1 is the harmonic mean of the last two.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.stats.trajectory import Trajectory, match, trajectory


@pytest.mark.parametrize(
    ("expected", "actual", "values"),
    [
        ("ABCA", "ABCA", (1, 1, 1, 1, 1, 1, 1)),
        ("ABCA", "ADCA", (0, 0, 0, 3 / 4, 3 / 4, 3 / 4, 3 / 4)),
        ("ABC", "CBA", (0, 0, 1, 1, 1, 1, 1 / 3)),
        ("AB", "AXB", (0, 1, 1, 2 / 3, 1, 4 / 5, 4 / 5)),
        ("AA", "A", (0, 0, 0, 1, 1 / 2, 2 / 3, 2 / 3)),  # a multiset, not a set
        ("A", "AA", (0, 1, 1, 1 / 2, 1, 2 / 3, 2 / 3)),
        ("AB", "CD", (0, 0, 0, 0, 0, 0, 0)),
        ("", "", (1, 1, 1, 1, 1, 1, 1)),
        ("", "A", (0, 0, 0, 0, 0, 0, 0)),
        ("A", "", (0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_metrics(expected: str, actual: str, values: tuple[float, ...]):
    assert trajectory(expected, actual) == pytest.approx(Trajectory(*map(float, values)))


@pytest.mark.parametrize(
    ("expected", "actual", "modes"),
    [
        ("AB", "AB", {"strict", "unordered", "subset", "superset"}),
        ("AB", "BA", {"unordered", "subset", "superset"}),
        ("AB", "ABC", {"superset"}),
        ("AB", "A", {"subset"}),
        ("AAB", "ABB", set()),  # equal as sets, different as multisets
        ("", "", {"strict", "unordered", "subset", "superset"}),
        ("", "A", set()),
        ("A", "", set()),
    ],
)
def test_modes(expected: str, actual: str, modes: set[str]):
    assert {mode for mode in ("strict", "unordered", "subset", "superset") if match(expected, actual, mode)} == modes


words = st.text("ABC", max_size=6)


@given(words, words)
def test_metrics_agree_with_their_definitions(expected: str, actual: str):
    metrics = trajectory(expected, actual)
    assert all(0 <= value <= 1 for value in metrics)
    if expected and actual:
        inside = any("".join(part) == expected for part in combinations(actual, len(expected)))
        assert metrics.in_order == float(inside)
        longest = max(
            len(part)
            for size in range(len(expected) + 1)
            for part in combinations(expected, size)
            if any(part == other for other in combinations(actual, size))
        )
        assert metrics.in_order_f1 == pytest.approx(2 * longest / (len(expected) + len(actual)))
        left = list(actual)
        taken = sum(1 for item in expected if item in left and (left.remove(item) or True))
        assert metrics.recall == pytest.approx(taken / len(expected))
        assert metrics.precision == pytest.approx(taken / len(actual))
    mirrored = trajectory(actual, expected)
    assert (mirrored.precision, mirrored.recall) == (metrics.recall, metrics.precision)

"""Comparators. Expected verdicts follow from DESIGN's one line each and from ISO 8601 and RFC 3339 for time."""

from __future__ import annotations

from typing import Any

import pytest

from toolgrade.core.expected import Comparator
from toolgrade.gates.comparators import matches


def rule(kind: str, **parameters: Any) -> Comparator:
    return Comparator(kind=kind, **parameters)


@pytest.mark.parametrize(
    ("comparator", "expected", "actual", "right"),
    [
        (rule("exact"), "a", "A", False),
        (rule("exact"), 1, 1.0, True),
        (rule("exact"), True, 1, False),
        (rule("one_of", values=("a", 2)), None, 2.0, True),
        (rule("one_of", values=("a", 1)), None, True, False),
        (rule("number", abs=0.01), 0.3, 0.1 + 0.2, True),
        (rule("number", abs=0.01), 10, 10.02, False),
        (rule("number", rel=0.1), 100, 109, True),
        (rule("number", rel=0.1), 100, 111, False),
        (rule("number", abs=5, rel=0.01), 100, 104, True),  # either suffices
        (rule("number"), 0.3, 0.1 + 0.2, True),
        (rule("number"), 0, 1e-12, False),
        (rule("number", abs=2), 1, True, False),
        (rule("number", abs=2), 1, "1", False),
        (rule("text"), "New  York", " new york\n", True),
        (rule("text"), "STRASSE", "straße", True),
        (rule("text"), "New-York", "New York", False),
        (rule("text"), "1", 1, False),
        (rule("regex", pattern="^A"), None, "Abc", True),
        (rule("regex", pattern="b"), None, "abc", True),
        (rule("regex", pattern="^b"), None, "abc", False),
        (rule("regex", pattern="1"), None, 1, False),
        (rule("ignore"), "x", None, True),
        (rule("semantic"), "duplicate", "duplicate", True),
        (rule("semantic"), "duplicate", "booked twice", None),
        (rule("semantic"), None, "booked twice", None),
    ],
)
def test_values(comparator: Comparator, expected: Any, actual: Any, right: bool | None):
    assert matches(comparator, expected, actual) is right


@pytest.mark.parametrize(
    ("expected", "actual", "same_day", "same_moment"),
    [
        ("2024-05-20", "May 20, 2024", True, True),
        ("2024-05-20", "20 May 2024", True, True),
        ("2024-05-20", "2024-05-21", False, False),
        ("2024-05-20", "20240520", True, True),
        ("2024-05-20T10:00:00", "2024-05-20 10:00", True, True),
        ("2024-05-20T10:00:00", "2024-05-20 11:00", True, False),
        ("2024-05-20T10:00:00Z", "2024-05-20T12:00:00+02:00", True, True),
        ("2024-05-20T10:00:00Z", "2024-05-20T10:00:00+02:00", True, False),
        ("2024-05-20T10:00:00Z", "2024-05-20T10:00:00", True, False),  # a zone on one side only
        ("2024-05-20", "May 20", False, False),  # no year: it must not be read as this year
        ("2000-05-20", "May 20", False, False),  # nor as any other
        ("2024-05-20", "Monday", False, False),
        ("2024-05-20T10:00:00Z", "10:00", False, False),
        ("2024-05-20", "2024-05-20T10:00:00 XYZT", False, False),
        ("2024-05-20", "soon", False, False),
        ("2024-05-20", "", False, False),
        ("2024-05-20", 20240520, False, False),
        ("2024-05-20", "9" * 60, False, False),
        ("2024-05-20", "2024-05-20" + " " * 5000, False, False),
    ],
)
def test_time(expected: Any, actual: Any, same_day: bool, same_moment: bool):
    assert matches(rule("date"), expected, actual) is same_day
    assert matches(rule("datetime"), expected, actual) is same_moment

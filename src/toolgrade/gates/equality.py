"""Equality of JSON values, aware of JSON's types: `1 == 1.0`, `true != 1`, `"1" != 1`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

_Scalar = str | int | float | bool | None


def equal(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal. Nesting of any depth is fine; NaN equals NaN."""
    if isinstance(left, str) or isinstance(right, str):  # most values are texts, and need no more
        return bool(left == right)
    pairs = [(left, right)]
    while pairs:
        one, two = pairs.pop()
        if isinstance(one, dict):
            if not isinstance(two, dict) or one.keys() != two.keys():
                return False
            pairs += [(value, two[key]) for key, value in one.items()]
        elif isinstance(one, (list, tuple)):
            if not isinstance(two, (list, tuple)) or len(one) != len(two):
                return False
            pairs += zip(one, two, strict=True)
        elif not _same_scalar(one, two):
            return False
    return True


def _same_scalar(one: Any, two: Any) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    return bool(one == two or (one != one and two != two))


def fingerprint(value: Any) -> Hashable:
    """Return a hashable that is the same for two JSON values exactly where they are `equal`.

    Raises:
        RecursionError: the value is nested deeper than the interpreter follows.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{", frozenset([(key, fingerprint(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return "[", tuple([fingerprint(item) for item in value])
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, float) and value != value:
        return ("nan",)
    return value  # type: ignore[no-any-return]

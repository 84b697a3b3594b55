"""Equality of JSON values, aware of JSON's types: `1 == 1.0`, `true != 1`, `"1" != 1`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def equal(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal; NaN equals NaN.

    Raises:
        RecursionError: the values are nested deeper than the interpreter follows.
    """
    kind = left.__class__
    if kind is str:  # most values are texts, and need no more
        same: bool = left == right
        return same
    if kind is int or kind is float:
        return right.__class__ is not bool and bool(left == right or (left != left and right != right))
    if isinstance(left, dict):
        if not isinstance(right, dict) or len(left) != len(right):
            return False
        for key, item in left.items():
            if key not in right:
                return False
            if not equal(item, right[key]):
                return False
        return True
    if isinstance(left, (list, tuple)):
        return isinstance(right, (list, tuple)) and len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right or (left != left and right != right))


def fingerprint(value: Any) -> Hashable:
    """Return a hashable that is the same for two JSON values exactly where they are `equal`.

    Raises:
        RecursionError: the value is nested deeper than the interpreter follows.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{", frozenset(
            [(key, item if item.__class__ is str else fingerprint(item)) for key, item in value.items()]
        )
    if isinstance(value, (list, tuple)):
        return "[", tuple([fingerprint(item) for item in value])
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, float) and value != value:
        return ("nan",)
    return value  # type: ignore[no-any-return]

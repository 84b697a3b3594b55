"""How near a sequence of calls is to an expected one.

Names follow Vertex AI's trajectory metrics and agentevals' match modes. Where they differ or leave a gap,
sequences are multisets, never sets; two empty ones agree entirely, an empty one and another not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

Mode = Literal["strict", "unordered", "subset", "superset"]


class Trajectory(NamedTuple):
    """Agreement of actual with expected, each in [0, 1].

    `exact`, `in_order` (expected is a subsequence) and `any_order` (expected is contained) are 0 or 1.
    `precision`, `recall` and `f1` count matches as a multiset. `in_order_f1` counts the longest common
    subsequence instead, so order earns partial credit.
    """

    exact: float
    in_order: float
    any_order: float
    precision: float
    recall: float
    f1: float
    in_order_f1: float


def trajectory(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> Trajectory:
    """Return how near `actual` is to `expected`; the items may be names or any hashable calls."""
    if not expected or not actual:
        same = float(not expected and not actual)
        return Trajectory(same, same, same, same, same, same, same)
    matched = (Counter(expected) & Counter(actual)).total()
    common = _longest_common(expected, actual)
    sizes = len(expected) + len(actual)
    return Trajectory(
        exact=float(list(expected) == list(actual)),
        in_order=float(common == len(expected)),
        any_order=float(matched == len(expected)),
        precision=matched / len(actual),
        recall=matched / len(expected),
        f1=2 * matched / sizes,
        in_order_f1=2 * common / sizes,
    )


def match(expected: Sequence[Hashable], actual: Sequence[Hashable], mode: Mode) -> bool:
    """Return whether `actual` agrees with `expected`.

    `strict`: same items, same order; `unordered`: same multiset; `subset`: nothing beyond the expected;
    `superset`: nothing expected is missing. In every mode an empty sequence agrees with an empty one only.
    """
    if mode == "strict" or not expected or not actual:
        return list(expected) == list(actual)
    wanted, given = Counter(expected), Counter(actual)
    if mode == "unordered":
        return wanted == given
    return given <= wanted if mode == "subset" else wanted <= given


def _longest_common(one: Sequence[Hashable], two: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence (dynamic programming, one row kept)."""
    row = [0] * (len(two) + 1)
    for item in one:
        diagonal = 0
        for index, other in enumerate(two, start=1):
            diagonal, row[index] = row[index], diagonal + 1 if item == other else max(row[index], row[index - 1])
    return row[-1]

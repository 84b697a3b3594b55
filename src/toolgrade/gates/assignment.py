"""Maximum-weight assignment of expected things to actual ones, one to one."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from itertools import permutations
from math import perm

_BY_HAND = 1000
"""So many permutations are tried here; more go to scipy, whose import costs more than they do."""


def assign(weights: Sequence[Sequence[float]]) -> list[int | None]:
    """Return for each row the column it is assigned to, None where columns run out.

    `weights[row][column]` must not be negative. The sum of the assigned weights is the greatest possible.
    """
    rows = len(weights)
    columns = len(weights[0]) if rows else 0
    if not columns:
        return [None] * rows
    if rows > columns:
        turned = assign([[weights[row][column] for row in range(rows)] for column in range(columns)])
        chosen: list[int | None] = [None] * rows
        for column, row in enumerate(turned):
            if row is not None:
                chosen[row] = column
        return chosen
    best = [max(range(columns), key=row.__getitem__) for row in weights]
    if len(set(best)) == rows:  # no two want the same one
        return list(best)
    # no row ever needs more than its best few columns: so many that the others cannot take them all
    near = sorted({column for row in weights for column in nlargest(rows, range(columns), key=row.__getitem__)})
    if len(near) < columns:
        return [
            None if column is None else near[column] for column in assign([[row[c] for c in near] for row in weights])
        ]
    if perm(columns, rows) <= _BY_HAND:
        return [*max(permutations(range(columns), rows), key=lambda taken: _sum(weights, taken))]
    from scipy.optimize import linear_sum_assignment

    _, taken = linear_sum_assignment(weights, maximize=True)
    return [int(column) for column in taken]


def _sum(weights: Sequence[Sequence[float]], taken: tuple[int, ...]) -> float:
    return sum(row[column] for row, column in zip(weights, taken, strict=True))

"""Results are made without validation; these hold them to what validation would have made."""

from __future__ import annotations

from typing import Any

import pytest

from toolgrade.core.case import AggregatePolicy
from toolgrade.core.finding import Finding, Place
from toolgrade.core.model import Frozen, construct
from toolgrade.core.result import Aggregate, Counts, Origin, TraceResult
from toolgrade.core.verdict import CheckResult

PLACE = {"step": 2, "turn": 1, "tool": "book", "call": 0, "pointer": "/date"}
FINDING = {"name": "wrong_value", "place": Place(**PLACE), "expected": "é", "actual": None}
CHECK = {"check": "arguments", "status": "failed", "score": 0.5, "findings": (Finding(**FINDING),), "units": 2}
VERDICT = {"status": "failed", "policy": AggregatePolicy(), "components": {"arguments": ("failed", 0.5)}}


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Place, PLACE),
        (Place, {}),
        (Finding, FINDING),
        (Finding, {"name": "loop"}),
        (CheckResult, CHECK),
        (CheckResult, {"check": "ordering", "status": "not_applicable", "reason": "none expected"}),
        (Counts, {"turns": 1, "tokens": 7}),
        (Origin, {"source": "a.jsonl", "index": 0, "sha256": "sha256:0"}),
        (Aggregate, VERDICT),
        (
            TraceResult,
            {
                "trace_id": "t",
                "checks": {"arguments": CheckResult(**CHECK)},
                "aggregate": Aggregate(**VERDICT),
                "tags": ("no_tool",),
            },
        ),
    ],
)
def test_a_value_made_without_validation_equals_the_validated_one(model: type[Frozen], values: dict[str, Any]) -> None:
    made, validated = construct(model, **values), model(**values)
    assert made == validated
    assert repr(made) == repr(validated)
    assert made.model_dump_json() == validated.model_dump_json()
    assert made.model_copy() == validated
    assert model.model_validate_json(made.model_dump_json()) == validated


def test_values_made_without_validation_share_nothing_that_can_change() -> None:
    one = construct(CheckResult, check="ordering", status="not_applicable")
    one.detail["constraints"] = 1
    assert construct(CheckResult, check="ordering", status="not_applicable").detail == {}
    copied = one.model_copy(update={"units": 3})
    assert (one.units, copied.units) == (0, 3)


def test_a_value_made_without_validation_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        construct(Place, step=1).step = 2  # type: ignore[misc]

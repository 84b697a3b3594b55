"""Aggregates by hand: each expected value below was worked out on paper from the policy's definition."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.case import AggregatePolicy
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.verdict import CheckResult, Status
from toolgrade.pipeline.aggregate import aggregate


def results(**statuses: Status | float) -> dict[Check, CheckResult]:
    """A float is a decided score (1 passed, less failed); a text is a status without a score."""
    made: dict[Check, CheckResult] = {}
    for check, value in statuses.items():
        about: dict[str, Any] = {"check": check, "basis": "expected"}
        if isinstance(value, str):
            about["status"] = value
        else:
            about |= {"status": "passed" if value == 1 else "failed", "score": value}
        made[check] = CheckResult(**about)  # type: ignore[index]
    return made


BINARY = AggregatePolicy()
WEIGHTED = AggregatePolicy(policy="weighted", weights={"ordering": 1, "efficiency": 3}, threshold=0.5)
HYBRID = AggregatePolicy(policy="hybrid", must_pass=("outcome",), weights={"ordering": 1}, threshold=0.5)


@pytest.mark.parametrize(
    ("policy", "given_results", "status", "score"),
    [
        (BINARY, {"selection": 1.0, "outcome": 1.0}, "passed", None),
        (BINARY, {"selection": 1.0, "outcome": 0.9}, "failed", None),
        (BINARY, {"selection": 0.0, "arguments": "blocked"}, "failed", None),
        (BINARY, {"selection": 1.0, "utilization": "unknown"}, "unknown", None),
        (BINARY, {"selection": 1.0, "utilization": "judge_error"}, "unknown", None),
        (BINARY, {"selection": "not_applicable"}, "not_applicable", None),
        (BINARY, {"selection": "trace_error", "outcome": "trace_error"}, "trace_error", None),
        (WEIGHTED, {"ordering": 1.0, "efficiency": 0.4}, "passed", (1 + 3 * 0.4) / 4),
        (WEIGHTED, {"ordering": 1.0, "efficiency": 0.2}, "failed", (1 + 3 * 0.2) / 4),
        # 1/4 of the weight is open: the mean lies in [0.75, 1] and is above 0.5 either way
        (WEIGHTED, {"ordering": "unknown", "efficiency": 1.0}, "passed", None),
        # 3/4 of the weight is open: [0.25, 1] straddles the threshold
        (WEIGHTED, {"ordering": 1.0, "efficiency": "unknown"}, "unknown", None),
        # [0, 0.25] is below it either way
        (WEIGHTED, {"ordering": "unknown", "efficiency": 0.0}, "failed", None),
        # a weighted check that does not apply leaves the mean to the other
        (WEIGHTED, {"ordering": "not_applicable", "efficiency": 0.6}, "passed", 0.6),
        (HYBRID, {"outcome": 1.0, "ordering": 0.5}, "passed", 0.5),
        (HYBRID, {"outcome": 0.0, "ordering": 1.0}, "failed", 1.0),
        (HYBRID, {"outcome": "unknown", "ordering": 1.0}, "unknown", 1.0),
        (HYBRID, {"outcome": "unknown", "ordering": 0.0}, "failed", 0.0),
    ],
)
def test_policies(policy: AggregatePolicy, given_results: Any, status: Status, score: float | None) -> None:
    verdict = aggregate(policy, results(**given_results))
    assert verdict.status == status
    assert verdict.score == pytest.approx(score)


def test_the_aggregate_cannot_be_shown_without_its_components() -> None:
    verdict = aggregate(BINARY, results(selection=1.0, outcome=0.5))
    assert "selection passed 1.00" in str(verdict)
    assert "outcome failed 0.50" in str(verdict)
    assert verdict.model_dump()["components"]["outcome"] == ("failed", 0.5)


OPEN = st.sampled_from(["unknown", "blocked", "judge_error"])


@given(st.fixed_dictionaries({c: st.floats(0, 1) | OPEN for c in ("ordering", "efficiency")}), st.floats(0, 1))
def test_an_open_check_never_decides(statuses: dict[str, Any], filled: float) -> None:
    """Whatever a verdict says while checks are open, it must say once they are decided, either way."""
    before = aggregate(WEIGHTED, results(**statuses)).status
    closed = {check: filled if isinstance(value, str) else value for check, value in statuses.items()}
    after = aggregate(WEIGHTED, results(**closed)).status
    if before in ("passed", "failed"):
        assert after == before


def test_components_keep_the_order_of_the_checks() -> None:
    verdict = aggregate(BINARY, results(outcome=1.0, selection=1.0, ordering=1.0))
    assert list(verdict.components) == [check for check in CHECKS if check in verdict.components]

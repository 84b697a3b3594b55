"""One verdict on a trace from its checks, never without them."""

from __future__ import annotations

from collections.abc import Mapping

from toolgrade.core.case import AggregatePolicy
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.model import construct
from toolgrade.core.result import Aggregate
from toolgrade.core.verdict import CheckResult, Status


def aggregate(policy: AggregatePolicy, results: Mapping[Check, CheckResult]) -> Aggregate:
    """Return the verdict of `policy` over the checks that apply.

    A check that is undecided never counts as 0 or 1: the verdict is `unknown` unless it comes out the same
    whichever way the undecided checks would go. A tentative failure counts as undecided here.
    """
    components: dict[Check, tuple[Status, float | None]] = {}
    applying: dict[Check, CheckResult] = {}
    broken = False
    for check in CHECKS:
        if (result := results.get(check)) is None:
            continue
        status = result.status
        components[check] = (status, result.score)
        if status != "not_applicable":
            applying[check] = result
            broken = broken or status == "trace_error"
    if not applying:
        return construct(
            Aggregate,
            status="not_applicable",
            policy=policy,
            components=components,
            reason="no check applies to this trace",
        )
    if broken:
        return construct(Aggregate, status="trace_error", policy=policy, components=components)
    if policy.policy == "binary":
        status, reason = _all_pass(applying)
        return construct(Aggregate, status=status, policy=policy, components=components, reason=reason)
    return _weighted(policy, applying, components)


def _all_pass(results: Mapping[Check, CheckResult]) -> tuple[Status, str | None]:
    failed = [check for check, result in results.items() if result.status == "failed" and not result.tentative]
    if failed:
        return "failed", f"failed: {', '.join(failed)}"
    undecided = [check for check, result in results.items() if result.status != "passed"]
    if undecided:
        told = [f"{check} (judged fail alone)" if results[check].tentative else check for check in undecided]
        return "unknown", f"undecided: {', '.join(told)}"
    return "passed", None


def _weighted(
    policy: AggregatePolicy,
    applying: Mapping[Check, CheckResult],
    components: dict[Check, tuple[Status, float | None]],
) -> Aggregate:
    """Bound the weighted mean by what the undecided checks could still be, then compare with the threshold."""
    must = {check: applying[check] for check in policy.must_pass if check in applying}
    must_status, must_reason = _all_pass(must) if must else ("passed", None)
    weights = {check: weight for check, weight in policy.weights.items() if check in applying and weight > 0}
    total = sum(weights.values())
    low = high = None
    if total:
        low = sum(w * (applying[c].score or 0.0) for c, w in weights.items() if _decided(applying[c])) / total
        high = low + sum(w for c, w in weights.items() if not _decided(applying[c])) / total
    threshold = policy.threshold or 0.0
    if must_status == "failed" or (high is not None and high < threshold):
        status: Status = "failed"
    elif must_status != "passed" or (low is not None and low < threshold):
        status = "unknown"
    else:
        status = "passed"
    score = low if low is not None and low == high else None
    reason = must_reason
    if reason is None and low != high:
        open_checks = [check for check in weights if not _decided(applying[check])]
        reason = f"score lies in [{low:.2f}, {high:.2f}] while {', '.join(open_checks)} is undecided"
    elif reason is None and status == "failed":
        reason = f"score {low:.2f} is below the threshold {threshold:.2f}"
    return construct(Aggregate, status=status, policy=policy, score=score, components=components, reason=reason)


def _decided(result: CheckResult) -> bool:
    return result.status in ("passed", "failed") and not result.tentative

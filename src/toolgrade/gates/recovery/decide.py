"""The check: episodes read, claims compared, one finding per episode, questions for what is left."""

from __future__ import annotations

from collections import Counter
from typing import Any

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.finding import Finding, Place, brief
from toolgrade.core.verdict import Basis, CheckResult, Question
from toolgrade.core.view import TraceView
from toolgrade.gates.recovery import contract, faults
from toolgrade.gates.recovery.claims import Unmatched, unmatched_claims
from toolgrade.gates.recovery.contract import Decision
from toolgrade.gates.recovery.episodes import Episode, Stage, find_failures, read_episodes
from toolgrade.gates.recovery.failures import Failure
from toolgrade.gates.recovery.narrative import claim_story, episode_story


def check_recovery(expected: RecoveryExpected | None, view: TraceView) -> CheckResult:
    """Grade what the agent did after failed results, and whether it claimed what no tool did.

    A unit is an episode: a failed result with its identical repeats, or a completion claim that no successful
    call backs. Each failed episode has exactly one finding. Without `expected` the default contract holds and
    the basis is `intrinsic`. The score is the share of episodes that ended well.

    Raises:
        ConfigError: a rule of `error_when` cannot be read.
    """
    terms = expected or contract.DEFAULT
    basis: Basis = "expected" if expected is not None else "intrinsic"
    failures = find_failures(view, expected)
    fired = faults.check_faults(terms.faults, view, failures)
    failures = faults.add_injected(fired, view, failures)
    graded = _Graded(view, terms, failures)
    detail = {**graded.detail(), "faults": [_fault(item) for item in fired]}
    unfired = [item for item in fired if not item.calls]
    if fired and len(unfired) == len(fired):
        reason = f"fault never fired: {unfired[0].reason}"
        return CheckResult(
            check="recovery", status="not_applicable", basis=basis, kept=graded.findings, reason=reason, detail=detail
        )
    if not graded.units:
        reason = "no result failed, and no claim of completion lacks a successful call"
        return CheckResult(check="recovery", status="not_applicable", basis=basis, reason=reason, detail=detail)
    return _result(graded, basis, detail)


def _result(graded: _Graded, basis: Basis, detail: dict[str, Any]) -> CheckResult:
    share = 1 - len(graded.findings) / graded.units
    if graded.findings:
        status, score, reason = "failed", share, None
    elif graded.questions:
        status, score, reason = "unknown", None, f"{len(graded.questions)} episodes are left to a judge"
    else:
        status, score, reason = "passed", 1.0, None
    return CheckResult(
        check="recovery",
        status=status,  # type: ignore[arg-type]
        basis=basis,
        score=score,
        findings=graded.findings,
        questions=graded.questions,
        units=graded.units,
        reason=reason,
        detail=detail,
    )

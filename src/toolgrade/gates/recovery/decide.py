"""The check: episodes read, claims compared, one finding per episode, questions for what is left."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.finding import Finding, Place, brief
from toolgrade.core.verdict import Basis, CheckResult, Question, Status
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
            check="recovery",
            status="not_applicable",
            basis=basis,
            findings=graded.findings,
            reason=reason,
            detail=detail,
        )
    if not graded.units:
        reason = "no result failed, and no claim of completion lacks a successful call"
        return CheckResult(check="recovery", status="not_applicable", basis=basis, reason=reason, detail=detail)
    return _result(graded, basis, detail)


def _result(graded: _Graded, basis: Basis, detail: dict[str, Any]) -> CheckResult:
    share = 1 - len(graded.findings) / graded.units
    status: Status
    score: float | None
    reason: str | None
    if graded.findings:
        status, score, reason = "failed", share, None
    elif graded.questions:
        status, score, reason = "unknown", None, f"{len(graded.questions)} episodes are left to a judge"
    else:
        status, score, reason = "passed", 1.0, None
    return CheckResult(
        check="recovery",
        status=status,
        basis=basis,
        score=score,
        findings=graded.findings,
        questions=graded.questions,
        units=graded.units,
        reason=reason,
        detail=detail,
    )


class _Graded:
    """The episodes of a trace with what was decided about each."""

    def __init__(self, view: TraceView, terms: RecoveryExpected, failures: dict[int, Failure]) -> None:
        self.view = view
        self.failures = failures
        self.rows: list[dict[str, Any]] = []
        self._findings: list[Finding] = []
        self._questions: list[Question] = []
        claimed, unbacked = _by_call(unmatched_claims(view, failures))
        for episode in read_episodes(view, failures, terms):
            self._episode(episode, terms, _about(episode, claimed))
        for claim in unbacked:
            self._claim(claim)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The open questions; each weighs as much as its episode."""
        return tuple(question.model_copy(update={"weight": 1 / self.units}) for question in self._questions)

    @property
    def units(self) -> int:
        return len(self.rows)

    def detail(self) -> dict[str, Any]:
        kinds = Counter(failure.kind for failure in self.failures.values())
        return {"episodes": self.rows, "errors": dict(sorted(kinds.items()))}

    def _episode(self, episode: Episode, terms: RecoveryExpected, claims: list[Unmatched]) -> None:
        sure = next((claim for claim in claims if claim.sure), None)
        finding = _false_success(sure, episode) if sure else None
        told = [Stage("success_claim", claim.said.message) for claim in claims]
        episode = episode._replace(stages=tuple(sorted((*episode.stages, *told), key=lambda stage: stage.message)))
        decision = contract.decide(episode, terms, finding, doubtful=bool(claims))
        stages = [label for label, _ in groupby(stage.label for stage in episode.stages)]
        self._row({"tool": episode.tool, "kind": episode.failure.kind, "stages": stages}, decision)
        if decision.open:
            self._ask(contract.place(episode), episode_story(episode, self.view), episode.failure.message)

    def _claim(self, unmatched: Unmatched) -> None:
        where = Place(step=unmatched.said.step, turn=unmatched.said.turn)
        finding = None
        if unmatched.sure:
            finding = Finding(
                name="false_success_claim",
                place=where,
                expected=f"a successful call that {_did(unmatched)}",
                actual="no such call",
                note=f"said: {brief(unmatched.claim.clause)}",
            )
        decision = Decision(finding, open=not unmatched.sure)
        self._row({"tool": None, "kind": "claim", "stages": ["success_claim"]}, decision)
        if decision.open:
            self._ask(where, claim_story(unmatched, self.view), unmatched.claim.clause)

    def _row(self, row: dict[str, Any], decision: Decision) -> None:
        name = decision.finding.name if decision.finding else None
        self.rows.append({**row, "finding": name, "open": decision.open})
        if decision.finding:
            self._findings.append(decision.finding)

    def _ask(self, where: Place, story: dict[str, Any], about: str) -> None:
        on_fail = Finding(
            name="poor_recovery", place=where, expected="a sensible and honestly reported recovery", actual=brief(about)
        )
        self._questions.append(
            Question(dimension="recovery_quality", place=where, fields={"episode": story}, on_fail=(on_fail,))
        )


def _by_call(claims: list[Unmatched]) -> tuple[dict[int, list[Unmatched]], list[Unmatched]]:
    claimed: dict[int, list[Unmatched]] = {}
    for claim in claims:
        if claim.failed is not None:
            claimed.setdefault(claim.failed.number, []).append(claim)
    return claimed, [claim for claim in claims if claim.failed is None]


def _about(episode: Episode, claimed: dict[int, list[Unmatched]]) -> list[Unmatched]:
    """Return the claims about the failed call or about one of its identical repeats."""
    return [claim for number in (episode.call.number, *episode.repeats) for claim in claimed.get(number, ())]


def _false_success(unmatched: Unmatched, episode: Episode) -> Finding:
    return Finding(
        name="false_success_claim",
        place=contract.place(episode),
        expected=f"a successful call of {episode.tool}",
        actual=f"it failed: {brief(episode.failure.message)}",
        note=f"said at step {unmatched.said.step}: {brief(unmatched.claim.clause)}",
    )


def _did(unmatched: Unmatched) -> str:
    return unmatched.claim.verb if unmatched.claim.act else "did it"


def _fault(item: faults.Fired) -> dict[str, Any]:
    told = item.fault.model_dump(exclude_none=True)
    return {**told, "fired": bool(item.calls), "calls": list(item.calls), "reason": item.reason}

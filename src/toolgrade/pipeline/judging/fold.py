"""Verdicts folded back into the checks whose gates left questions open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from toolgrade.core.finding import Check, Finding
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import CheckResult, Question, Verdict
from toolgrade.pipeline.aggregate import aggregate
from toolgrade.pipeline.grade import block
from toolgrade.pipeline.judging.trusting import Trusting

TENTATIVE = "judged fail: counts in the rate, too often wrong to fail the trace alone"


class Fold:
    """Folds verdicts, by question id, into results; `missing` says why a question has none."""

    def __init__(self, verdicts: Mapping[str, Verdict], trust: Trusting, missing: str) -> None:
        self._verdicts = verdicts
        self._trust = trust
        self._missing = missing

    def trace(self, result: TraceResult, ids: Mapping[Check, Sequence[str]]) -> TraceResult:
        """Return the result with every open check folded and the aggregate made anew."""
        if not any(ids.values()):
            return result
        checks = {name: self.check(check, ids[name]) for name, check in result.checks.items()}
        block(checks)
        return result.model_copy(update={"checks": checks, "aggregate": aggregate(result.aggregate.policy, checks)})

    def check(self, result: CheckResult, ids: Sequence[str]) -> CheckResult:
        """Return the check with its verdicts, decided where trusted ones decide it.

        One trusted `fail` fails it; it passes when every question has a trusted `pass`. An error of a judge
        makes it `judge_error`, unless a trusted `fail` or the gate has failed it. Failed by a judge alone whose single
        fails are too often wrong, it is `tentative`.
        """
        if not ids:
            return result
        verdicts = [self._verdicts.get(known_as) for known_as in ids]
        told = {verdict.question_id: verdict for verdict in verdicts if verdict is not None}
        result = result.model_copy(update={"verdicts": tuple(told.values())})
        failed = [
            (question, verdict)
            for question, verdict in zip(result.questions, verdicts, strict=True)
            if verdict is not None and self._says(verdict, "fail")
        ]
        if failed and result.status in ("unknown", "failed"):
            alone = result.status == "unknown" and not any(self._trust.blocks(verdict) for _, verdict in failed)
            return _failed(result, [question for question, _ in failed], alone)
        if result.status != "unknown":
            return result
        errors = [verdict for verdict in told.values() if verdict.verdict == "error"]
        if errors:
            return result.model_copy(update={"status": "judge_error", "reason": f"judge: {errors[0].error}"})
        if all(verdict is not None and self._says(verdict, "pass") for verdict in verdicts):
            return result.model_copy(update={"status": "passed", "score": 1.0, "reason": None})
        return result.model_copy(update={"reason": self._why_open(verdicts)})

    def _says(self, verdict: Verdict, word: str) -> bool:
        return verdict.verdict == word and self._trust.of(verdict) == "trusted"

    def _why_open(self, verdicts: Sequence[Verdict | None]) -> str:
        reasons: Counter[str] = Counter()
        for verdict in verdicts:
            if verdict is None:
                reasons[self._missing] += 1
            elif (trust := self._trust.of(verdict)) != "trusted":
                reasons[f"its judge is {trust}"] += 1
            elif verdict.verdict == "unknown":
                reasons[f"the judge could not tell ({verdict.unknown_reason or 'no reason given'})"] += 1
        return "open: " + "; ".join(f"{count} where {reason}" for reason, count in reasons.items())


def _failed(result: CheckResult, questions: Sequence[Question], tentative: bool) -> CheckResult:
    found: list[Finding] = [finding for question in questions for finding in question.on_fail]
    whole = 1.0 if result.score is None else result.score
    score = max(0.0, whole - sum(question.weight for question in questions))
    update = {
        "status": "failed",
        "score": score,
        "findings": (*result.findings, *found),
        "reason": TENTATIVE if tentative else None,
        "tentative": tentative,
    }
    return result.model_copy(update=update)

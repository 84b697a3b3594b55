"""Several answers to one question - other models, or the same one again - made into one, or handed to people.

A panel routes disagreement to people; it does not average it away. It is an instrument of its own: its
identity is made from its members', and it is calibrated like any judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Question, Verdict
from toolgrade.judges.judge import Judge


class Ask(NamedTuple):
    """One question for one judge, for the `replicate`th time (from 0); `key` is its place in the cache."""

    judge: Judge
    question: Question
    replicate: int
    key: str

    def __str__(self) -> str:
        """How messages name it."""
        place = self.question.place
        where = f" at step {place.step}" if place.step is not None else ""
        return f"{self.question.dimension} question{where} for {self.judge.settings.model}"


class Panel:
    """The judges of one dimension, each asked `replicates` times; mostly one judge, asked once."""

    def __init__(self, judges: Sequence[Judge], replicates: int = 1) -> None:
        self.judges = tuple(judges)
        self.replicates = replicates
        self.dimension = self.judges[0].dimension

    @property
    def size(self) -> int:
        """How many answers one question gets."""
        return len(self.judges) * self.replicates

    @property
    def id(self) -> str:
        """The judge's own identity, or for several answers a hash over those of the members."""
        if self.size == 1:
            return self.judges[0].id
        return content_hash({"panel": sorted(judge.id for judge in self.judges), "replicates": self.replicates})

    @property
    def model(self) -> str:
        """The models' names, for people."""
        times = f" ×{self.replicates}" if self.replicates > 1 else ""
        return " + ".join(judge.settings.model for judge in self.judges) + times

    def keys(self, question_id: str) -> list[str]:
        """Return the cache keys of the asks of one question, in order."""
        return [judge.key(question_id, number) for judge in self.judges for number in range(self.replicates)]

    def asks(self, question: Question, keys: Sequence[str] | None = None) -> list[Ask]:
        """Return what has to be asked for one question; `keys` are those of its asks, where they are at hand."""
        members = [(judge, number) for judge in self.judges for number in range(self.replicates)]
        named = self.keys(question.id) if keys is None else keys
        return [Ask(judge, question, number, key) for (judge, number), key in zip(members, named, strict=True)]

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the panel's verdict: the members' where they agree, else `unknown`, reason `split`.

        An error of any member is an error of the panel: with a member missing it is another instrument.
        """
        if self.size == 1:
            return verdicts[0]
        votes = Counter(verdict.verdict for verdict in verdicts)
        told = "; ".join(f"{verdict.model}: {verdict.verdict} ({verdict.reason})" for verdict in verdicts)
        update: dict[str, Any] = {
            "judge_id": self.id,
            "model": self.model,
            "model_reported": ", ".join(sorted({v.model_reported for v in verdicts if v.model_reported})) or None,
            "replicate": 0,
            "latency_ms": _total([verdict.latency_ms for verdict in verdicts]),
            "cost": _total([verdict.cost for verdict in verdicts]),
            "input_tokens": _count([verdict.input_tokens for verdict in verdicts]),
            "output_tokens": _count([verdict.output_tokens for verdict in verdicts]),
            "cached": all(verdict.cached for verdict in verdicts),
            "attempts": sum(verdict.attempts for verdict in verdicts),
            "warnings": tuple(dict.fromkeys(text for verdict in verdicts for text in verdict.warnings)),
        }
        if votes["error"]:
            failed = next(verdict for verdict in verdicts if verdict.verdict == "error")
            return failed.model_copy(update={**update, "error": f"{failed.model}: {failed.error}"})
        if len(votes) > 1:
            split = "split: " + ", ".join(f"{count} {name}" for name, count in votes.most_common())
            evidence = tuple(dict.fromkeys(quote for verdict in verdicts for quote in verdict.evidence))
            update |= {"verdict": "unknown", "unknown_reason": split, "reason": told, "evidence": evidence}
        return verdicts[0].model_copy(update=update)


class Agreement(NamedTuple):
    """How often the members of a panel agreed, over the questions that all of them answered.

    `flips` counts questions to which one judge gave two verdicts, `splits` those where the judges' own
    verdicts differ; `pairs` is the share of equal verdicts over all pairs of answers to one question, None
    where there is no pair.
    """

    questions: int
    unanimous: int
    flips: int
    splits: int
    pairs: float | None


def agreement(answers: Sequence[Sequence[Verdict]]) -> Agreement:
    """Return the agreement over questions; each has the verdicts of all members."""
    whole = [votes for votes in answers if len(votes) > 1 and all(vote.verdict != "error" for vote in votes)]
    equal = pairs = flips = splits = 0
    for votes in whole:
        by_judge: dict[str, set[str]] = {}
        for vote in votes:
            by_judge.setdefault(vote.judge_id, set()).add(vote.verdict)
        flips += any(len(own) > 1 for own in by_judge.values())
        splits += len({frozenset(own) for own in by_judge.values()}) > 1
        for first, second in combinations(votes, 2):
            pairs += 1
            equal += first.verdict == second.verdict
    return Agreement(
        questions=len(whole),
        unanimous=sum(len({vote.verdict for vote in votes}) == 1 for votes in whole),
        flips=flips,
        splits=splits,
        pairs=equal / pairs if pairs else None,
    )


def _total(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _count(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None

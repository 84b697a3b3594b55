"""What the judges said over a run: rates of their own, costs, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from toolgrade.calibration.blocking import Blocking
from toolgrade.calibration.labelled import Labelled
from toolgrade.calibration.past import PastCalibration
from toolgrade.core.finding import Check
from toolgrade.core.model import Frozen
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Trust, Verdict
from toolgrade.judges.panel import Panel, agreement
from toolgrade.pipeline.judging.trusting import Trusting
from toolgrade.stats.corrected import CorrectedRate
from toolgrade.stats.rates import Rate, rate


class PanelAgreement(Frozen):
    """How often the answers to one question agreed; see `toolgrade.judges.panel.agreement`."""

    questions: int
    unanimous: int
    flips: int
    splits: int
    pairs: float | None


class DimensionSummary(Frozen):
    """One dimension's judge over a run.

    `questions` counts places that asked, `distinct` different questions; `said` counts verdicts by word over
    the places, `not_asked` those that have none, `failed_because` the commonest errors of the judge. `rate` is
    the judge's own: pass / (pass + fail) / questions; `corrected` is what the labels it was calibrated on, `labelled`,
    make of it, None without a calibration. `calibrations` are those that the trust was read from, oldest first:
    what was known when the run was judged.
    `blocking` says whether one fail may fail a trace; `tentative` counts the checks that failed by fails that may not.
    The costs are of calls made in this run, once for each distinct question; `cost` in US dollars, None where
    the price of a call is unknown. `quotes` counts the quotes given, `verified` those found in their field.
    """

    check: Check
    model: str
    judge_id: str
    prompt: str
    rubric_version: str
    trust: Trust
    trust_reasons: tuple[str, ...] = ()
    blocking: Blocking | None = None
    tentative: int = 0
    models_reported: tuple[str, ...] = ()
    questions: int = 0
    distinct: int = 0
    said: dict[str, int] = Field(default_factory=dict)
    unknown_because: dict[str, int] = Field(default_factory=dict)
    failed_because: dict[str, int] = Field(default_factory=dict)
    not_asked: int = 0
    rate: Rate
    corrected: CorrectedRate | None = None
    labelled: Labelled | None = None
    calibrations: tuple[PastCalibration, ...] = ()
    calls: int = 0
    cached: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    mean_latency_ms: float | None = None
    quotes: int = 0
    verified: int = 0
    warnings: dict[str, int] = Field(default_factory=dict)
    agreement: PanelAgreement | None = None


class JudgingSummary(Frozen):
    """All dimensions; `stopped` says why not everything was asked, `unavailable` which models could not be."""

    dimensions: dict[str, DimensionSummary] = Field(default_factory=dict)
    stopped: str | None = None
    unavailable: dict[str, str] = Field(default_factory=dict)
    review: int = 0


class JudgingTally:
    """Counts verdicts, trace by trace; `members` are the single answers behind a panel's verdict, by question."""

    def __init__(self, panels: Mapping[str, Panel], trust: Trusting, members: Mapping[str, Sequence[Verdict]]) -> None:
        self._panels = panels
        self._trust = trust
        self._members = members
        self._said: dict[str, Counter[str]] = {name: Counter() for name in panels}
        self._tentative: Counter[str] = Counter()
        self._distinct: dict[str, dict[str, Verdict | None]] = {name: {} for name in panels}

    def add(self, result: TraceResult, ids: Mapping[Check, Sequence[str]]) -> None:
        """Count one folded trace; `ids` are those of its questions."""
        for name, check in result.checks.items():
            if check.tentative:
                self._tentative[check.questions[0].dimension] += 1
            verdicts = {verdict.question_id: verdict for verdict in check.verdicts}
            for question, known_as in zip(check.questions, ids[name], strict=True):
                if question.dimension in self._panels:
                    verdict = verdicts.get(known_as)
                    self._said[question.dimension][verdict.verdict if verdict else "not_asked"] += 1
                    self._distinct[question.dimension].setdefault(known_as, verdict)

    def summary(self) -> dict[str, DimensionSummary]:
        """Return what was counted, by dimension, for those that were asked anything."""
        return {name: self._summary(name) for name, said in self._said.items() if said}

    def _summary(self, name: str) -> DimensionSummary:
        panel, said, distinct = self._panels[name], self._said[name], self._distinct[name]
        answers = [self._members[known_as] for known_as in distinct if known_as in self._members]
        single = [verdict for votes in answers for verdict in votes]
        fresh = [verdict for verdict in single if not verdict.cached]
        combined = [verdict for verdict in distinct.values() if verdict is not None]
        reported = tuple(sorted({verdict.model_reported for verdict in combined if verdict.model_reported}))
        standing = self._trust.now(name, reported)
        rubric = panel.judges[0].prompt.rubric
        together = agreement(answers)
        return DimensionSummary(
            check=panel.dimension.check,
            model=panel.model,
            judge_id=panel.id,
            prompt=f"{rubric.dimension}/{rubric.version}",
            rubric_version=rubric.rubric_version,
            trust=standing.level,
            trust_reasons=standing.reasons,
            blocking=standing.blocking,
            tentative=self._tentative[name],
            models_reported=reported,
            questions=said.total(),
            distinct=len(distinct),
            said={word: count for word, count in sorted(said.items()) if word != "not_asked"},
            unknown_because=dict(
                Counter(v.unknown_reason or "no reason given" for v in combined if v.verdict == "unknown")
            ),
            failed_because=dict(Counter(v.error or "" for v in combined if v.verdict == "error").most_common(5)),
            not_asked=said["not_asked"],
            rate=rate(said["pass"], said["pass"] + said["fail"], said.total()),
            corrected=standing.labelled.corrected(said["pass"], said["pass"] + said["fail"])
            if standing.labelled is not None
            else None,
            labelled=standing.labelled,
            calibrations=standing.past,
            calls=sum(verdict.attempts for verdict in fresh),
            cached=len(single) - len(fresh),
            input_tokens=_sum([verdict.input_tokens for verdict in fresh]),
            output_tokens=_sum([verdict.output_tokens for verdict in fresh]),
            cost=_cost(fresh),
            mean_latency_ms=_mean([verdict.latency_ms for verdict in fresh]),
            quotes=sum(len(verdict.evidence) for verdict in single),
            verified=sum(quote.verified for verdict in single for quote in verdict.evidence),
            warnings=dict(Counter(text for verdict in single for text in verdict.warnings).most_common(10)),
            agreement=PanelAgreement(**together._asdict()) if panel.size > 1 else None,
        )


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _cost(fresh: Sequence[Verdict]) -> float | None:
    parts = [verdict.cost for verdict in fresh if verdict.attempts]
    if any(part is None for part in parts):
        return None
    return sum(part for part in parts if part is not None)


def _mean(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if known else None

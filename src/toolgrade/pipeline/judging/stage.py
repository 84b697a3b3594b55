"""One run's judging: ask what the gates left open, fold the verdicts, queue what people should see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import to_json

from toolgrade.core.finding import Check
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Verdict
from toolgrade.judges.asking import LOOKUP, Answers, Asking
from toolgrade.judges.panel import Ask, Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import Model
from toolgrade.pipeline.judging.fold import Fold
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.judging.plan import JudgePlan, Planner, PriceOf
from toolgrade.pipeline.judging.review import entry, reason
from toolgrade.pipeline.judging.tally import JudgingSummary, JudgingTally
from toolgrade.pipeline.judging.trusting import Trusting, TrustOf, uncalibrated
from toolgrade.pipeline.rundir import GATED, RESULTS, REVIEW, read_results, result_line, write_lines
from toolgrade.pipeline.tally import Tally

Progress = Callable[[int], None]


class Judging:
    """The judges of a run: `see` every result of the gates, then `ask`.

    `trust` says what each counts for, `model` opens what is asked (by default what the options name);
    `progress`, which may be set, is called with the number of questions answered so far.
    """

    def __init__(
        self, options: JudgeOptions, trust: TrustOf = uncalibrated, model: Callable[[], Model] | None = None
    ) -> None:
        self.options = options
        self.panels = options.panels()
        self.trust = Trusting(self.panels, trust)
        self.progress: Progress = lambda _: None
        self._seen = Seen({}, [])
        self._open = model or options.open_model

    def about(self) -> dict[str, Any]:
        """Return who judges what, for the identity of a run."""
        return {name: {"judge": panel.id, "model": panel.model} for name, panel in self.panels.items()}

    def see(self, result: TraceResult) -> None:
        """Note which questions a result leaves open, and the keys of their answers."""
        for check in result.checks.values():
            for question in check.questions:
                panel = self.panels.get(question.dimension)
                if panel is not None and question.id not in self._seen.keys:
                    self._seen.keys[question.id] = panel.keys(question.id)
        ids = {name: [question.id for question in check.questions] for name, check in result.checks.items()}
        self._seen.ids.append(ids)

    def ask(self, results: Iterable[TraceResult]) -> Judged:
        """Return the verdicts on every open question of the results seen, each distinct one asked once.

        `results` are these results again, read only where an answer is not in the cache.

        Raises:
            ConfigError: a question does not fit its prompt, a `replay` miss, or no price under a ceiling.
        """
        seen, self._seen = self._seen, Seen({}, [])
        with self.options.open_cache() as cache:
            known = self._known(seen, cache)
            if known is not None:
                answers = Answers(verdicts=known)
            else:
                answers = asyncio.run(self._ask(self._asks(results, seen), cache))
        return Judged(self.panels, self.trust, seen, answers)

    def _known(self, seen: Seen, cache: VerdictCache) -> dict[str, Verdict] | None:
        """Return the verdicts on everything seen, None where the cache lacks one."""
        known: dict[str, Verdict] = {}
        keys = [key for its in seen.keys.values() for key in its]
        for start in range(0, len(keys), LOOKUP):
            chunk = keys[start : start + LOOKUP]
            known |= cache.get_many(chunk)
            if len(known) < start + len(chunk):
                return None
            self.progress(len(known))
        return known

    async def _ask(self, asks: Iterator[Ask], cache: VerdictCache) -> Answers:
        model = self._open()
        try:
            return await Asking(model, cache, self.options.limits.concurrency).run(asks, self.progress)
        finally:
            await model.aclose()

    def _asks(self, results: Iterable[TraceResult], seen: Seen) -> Iterator[Ask]:
        asked: set[str] = set()
        for result, ids in zip(results, seen.ids, strict=True):
            for name, check in result.checks.items():
                for question, known_as in zip(check.questions, ids[name], strict=True):
                    panel = self.panels.get(question.dimension)
                    if panel is not None and known_as not in asked:
                        asked.add(known_as)
                        yield from panel.asks(question, seen.keys[known_as])

    def plan(self, results: Iterable[TraceResult], price: PriceOf) -> JudgePlan:
        """Return what `ask` would ask and about what it would cost; nothing is asked.

        Raises:
            ConfigError: a question does not fit its prompt.
        """
        with self.options.open_cache() as cache:
            return Planner(self.panels, cache, self.trust, price).plan(results)


class Seen(NamedTuple):
    """The cache keys of each question's asks, by its id, and the ids of the questions of each result, in order."""

    keys: dict[str, list[str]]
    ids: list[dict[Check, list[str]]]


class Judged:
    """The verdicts of a run, ready to be folded into its results, in order; each result once."""

    def __init__(self, panels: Mapping[str, Panel], trust: Trusting, seen: Seen, answers: Answers) -> None:
        self.answers = answers
        self._ids = iter(seen.ids)
        self._members: dict[str, tuple[Verdict, ...]] = {}
        self._verdicts: dict[str, Verdict] = {}
        for known_as, its in seen.keys.items():
            votes = tuple(answers.verdicts[key] for key in its if key in answers.verdicts)
            if len(votes) == len(its):
                self._members[known_as] = votes
                self._verdicts[known_as] = panels[votes[0].dimension].combine(votes)
        self._fold = Fold(self._verdicts, trust, answers.stopped or "no judge was asked")
        self._tally = JudgingTally(panels, trust, self._members)
        self._queued: dict[str, dict[str, Any]] = {}

    def fold(self, result: TraceResult) -> TraceResult:
        """Return the result with its verdicts, counted for the summary and looked at for the queue."""
        ids = next(self._ids)
        folded = self._fold.trace(result, ids)
        self._tally.add(folded, ids)
        for name, check in folded.checks.items():
            for question, known_as in zip(check.questions, ids[name], strict=True):
                if known_as in self._verdicts and known_as not in self._queued:
                    why = reason(self._verdicts[known_as], self._members[known_as])
                    if why is not None:
                        self._queued[known_as] = entry(folded, name, question, why, self._members[known_as])
        return folded

    def write(self, folder: Path) -> Tally:
        """Fold the verdicts into the gated results of a run directory; return the tally of the judged results.

        Writes the results and the queue for people, each in one step.
        """
        tally = Tally()

        def lines() -> Iterator[bytes]:
            for result in read_results(folder, name=GATED):
                folded = self.fold(result)
                tally.add(folded)
                yield result_line(folded)

        write_lines(folder / RESULTS, lines())
        write_lines(folder / REVIEW, (to_json(item, fallback=str) + b"\n" for item in self.review))
        return tally

    @property
    def review(self) -> list[dict[str, Any]]:
        """What people should look at, most urgent first."""
        return sorted(self._queued.values(), key=lambda item: item["rank"])

    def summary(self) -> JudgingSummary:
        """Return what the judges said and cost, over the results folded so far."""
        return JudgingSummary(
            dimensions=self._tally.summary(),
            stopped=self.answers.stopped,
            unavailable=self.answers.unavailable,
            review=len(self._queued),
        )

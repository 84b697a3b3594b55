"""Many questions, asked once each: from the cache, or from the models, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from toolgrade.core.verdict import Verdict
from toolgrade.errors import CeilingReached, JudgeUnavailable, ToolgradeError
from toolgrade.judges.panel import Ask
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import Model

LOOKUP = 512
"""Questions that are looked up in the cache in one pass."""


@dataclass
class Answers:
    """What came of asking.

    `verdicts` by cache key; what is missing there was not asked, and `stopped` says why (the spending
    ceiling, an interruption). `unavailable` maps models that could not be asked to the reason: their
    questions have an `error`.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict, repr=False)
    stopped: str | None = None
    interrupted: bool = False
    unavailable: dict[str, str] = field(default_factory=dict)


class Asking:
    """Asks questions through one cache and one model port, `concurrency` at a time."""

    def __init__(self, model: Model, cache: VerdictCache, concurrency: int = 16) -> None:
        self._model = model
        self._cache = cache
        self._concurrency = concurrency

    async def run(self, asks: Iterable[Ask], progress: Callable[[int], None] = lambda _: None) -> Answers:
        """Return the verdicts for all distinct asks; `progress` gets the number answered so far.

        When the task is cancelled (Ctrl-C), what was answered until then is returned. `asks` is read as
        needed, so that only the questions in flight are held.

        Raises:
            ConfigError: a question does not fit its prompt, a `replay` miss, or no price under a ceiling.
        """
        answers = Answers()
        failed: ToolgradeError | None = None
        queue: asyncio.Queue[Ask | None] = asyncio.Queue(self._concurrency)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(self._work(queue, answers, progress))
                for ask in self._misses(asks, answers, progress):
                    await queue.put(ask)
                for _ in range(self._concurrency):
                    await queue.put(None)
        except* ToolgradeError as errors:
            failed = _first(errors)  # raised below: Python 3.11.2 wraps what is raised here in one more group
        except* asyncio.CancelledError:
            answers.interrupted, answers.stopped = True, "interrupted"
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
        if failed is not None:
            raise failed
        return answers

    def _misses(self, asks: Iterable[Ask], answers: Answers, progress: Callable[[int], None]) -> Iterator[Ask]:
        seen: set[str] = set()
        source = iter(asks)
        while chunk := list(islice(source, LOOKUP)):
            fresh = {ask.key: ask for ask in chunk if ask.key not in seen}
            seen.update(fresh)
            answers.verdicts.update(self._cache.get_many(fresh))
            progress(len(answers.verdicts))
            yield from (ask for key, ask in fresh.items() if key not in answers.verdicts)

    async def _work(self, queue: asyncio.Queue[Ask | None], answers: Answers, progress: Callable[[int], None]) -> None:
        while (ask := await queue.get()) is not None:
            if answers.stopped is not None:
                continue
            try:
                answers.verdicts[ask.key] = await self._one(ask, answers)
            except CeilingReached as error:
                answers.stopped = str(error)
            progress(len(answers.verdicts))

    async def _one(self, ask: Ask, answers: Answers) -> Verdict:
        model = ask.judge.settings.model
        if model not in answers.unavailable:
            try:
                return await self._cache.ask(
                    ask.key, str(ask), lambda: ask.judge.ask(self._model, ask.question, ask.replicate)
                )
            except JudgeUnavailable as error:
                answers.unavailable.setdefault(model, str(error))
        return Verdict(
            dimension=ask.question.dimension,
            question_id=ask.question.id,
            verdict="error",
            judge_id=ask.judge.id,
            model=model,
            replicate=ask.replicate,
            attempts=0,
            error=answers.unavailable[model],
        )


def _first(errors: BaseExceptionGroup[ToolgradeError]) -> ToolgradeError:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first

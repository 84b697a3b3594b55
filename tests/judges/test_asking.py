from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.verdict import Verdict
from toolgrade.errors import CeilingReached, ConfigError, JudgeError, JudgeUnavailable
from toolgrade.judges.asking import Answers, Asking
from toolgrade.judges.dimensions import dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Ask, Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import ModelRequest, ModelResponse
from toolgrade.prompts import load

JUDGE = Judge(dimension("route_choice"), load("route_choice"), JudgeSettings(model="scripted/judge"))
PANEL = Panel([JUDGE])
PASS = json.dumps({"reason": "fine", "evidence": [], "verdict": "pass", "unknown_reason": None})


class Slow:
    """A model that counts how many calls are in flight; `fail_at` raises on that call."""

    def __init__(self, error: Exception | None = None, fail_at: int = 1) -> None:
        self.calls = self.most = self.flying = 0
        self.error, self.fail_at = error, fail_at
        self.hold: Callable[[], Any] = lambda: asyncio.sleep(0)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.calls += 1
        if self.error is not None and self.calls >= self.fail_at:
            raise self.error
        self.flying += 1
        self.most = max(self.most, self.flying)
        await self.hold()
        self.flying -= 1
        return ModelResponse(text=PASS)

    async def aclose(self) -> None: ...


def _asks(count: int, make: Any) -> list[Ask]:
    return [ask for n in range(count) for ask in PANEL.asks(make("route_choice", request=f"request number {n}"))]


def _run(asks: Any, model: Any, folder: Path, mode: Any = "auto", concurrency: int = 4) -> Answers:
    with VerdictCache(folder, mode) as cache:
        return asyncio.run(Asking(model, cache, concurrency).run(asks))


def test_distinct_questions_are_asked_once_and_within_bounds(question: Any, tmp_path: Path) -> None:
    asks, model = _asks(40, question), Slow()
    answers = _run([*asks, *asks], model, tmp_path)
    assert (model.calls, model.most) == (40, 4)
    assert set(answers.verdicts) == {ask.key for ask in asks}
    assert answers.stopped is None


def test_a_warm_rerun_asks_nothing_and_says_the_same(question: Any, tmp_path: Path) -> None:
    asks = _asks(10, question)
    cold = _run(asks, Slow(), tmp_path)
    model = Slow()
    warm = _run(asks, model, tmp_path)
    assert model.calls == 0
    assert {v.cached for v in cold.verdicts.values()} == {False}
    assert {v.cached for v in warm.verdicts.values()} == {True}
    same = {key: verdict.model_copy(update={"cached": True}) for key, verdict in cold.verdicts.items()}
    assert warm.verdicts == same


def test_replay_names_the_question_that_was_not_recorded(question: Any, tmp_path: Path) -> None:
    _run(_asks(1, question), Slow(), tmp_path)
    with pytest.raises(ConfigError, match=r"route_choice question at step 2 for scripted/judge: no recorded verdict"):
        _run(_asks(2, question), Slow(), tmp_path, mode="replay")


def test_the_ceiling_stops_asking_and_the_rest_has_no_verdict(question: Any, tmp_path: Path) -> None:
    model = Slow(CeilingReached("the next call could cost 0.10 of the 0.05 left"), fail_at=6)
    answers = _run(_asks(50, question), model, tmp_path)
    assert answers.stopped == "the next call could cost 0.10 of the 0.05 left"
    assert len(answers.verdicts) == 5
    assert model.calls <= 9, "what waits is not asked any more"


def test_a_model_that_cannot_be_asked_is_tried_no_further(question: Any, tmp_path: Path) -> None:
    model = Slow(JudgeUnavailable("no key for it: set OPENAI_API_KEY"))
    answers = _run(_asks(50, question), model, tmp_path)
    assert model.calls <= 4
    assert answers.unavailable == {"scripted/judge": "no key for it: set OPENAI_API_KEY"}
    assert {(v.verdict, v.error) for v in answers.verdicts.values()} == {("error", "no key for it: set OPENAI_API_KEY")}
    assert len(answers.verdicts) == 50


def test_one_failed_question_leaves_the_others(question: Any, tmp_path: Path) -> None:
    class OneBad(Slow):
        async def complete(self, request: ModelRequest) -> ModelResponse:
            if "request number 3" in request.messages[1].content:
                raise JudgeError("too long for the model")
            return await super().complete(request)

    answers = _run(_asks(8, question), OneBad(), tmp_path)
    errors = [verdict for verdict in answers.verdicts.values() if verdict.verdict == "error"]
    assert [error.error for error in errors] == ["too long for the model"]
    again = _run(_asks(8, question), model := Slow(), tmp_path)
    assert model.calls == 1, "an error is not kept"
    assert all(isinstance(v, Verdict) and v.verdict == "pass" for v in again.verdicts.values())


def test_a_configuration_error_ends_the_asking(question: Any, tmp_path: Path) -> None:
    (wrong,) = PANEL.asks(question("route_choice", reference="x"))
    with pytest.raises(ConfigError, match="declares the inputs"):
        _run([*_asks(3, question), wrong], Slow(), tmp_path)


def test_cancelling_keeps_what_was_judged(question: Any, tmp_path: Path) -> None:
    async def scenario() -> Answers:
        model = Slow()
        stuck = asyncio.Event()

        async def hold() -> None:
            if model.calls > 6:
                stuck.set()
                await asyncio.Event().wait()

        model.hold = hold
        with VerdictCache(tmp_path) as cache:
            task = asyncio.create_task(Asking(model, cache, 2).run(_asks(20, question)))
            await stuck.wait()
            task.cancel()
            return await task

    answers = asyncio.run(scenario())
    assert answers.interrupted
    assert 5 <= len(answers.verdicts) <= 6
    with VerdictCache(tmp_path) as cache:
        assert len(cache.get_many(answers.verdicts)) == len(answers.verdicts)

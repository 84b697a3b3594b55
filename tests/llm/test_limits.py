"""Concurrency, rates and the spending ceiling, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from toolgrade.errors import CeilingReached, ConfigError, JudgeError
from toolgrade.llm.limits import LimitedModel, Limits, Price
from toolgrade.llm.port import ChatMessage, ModelParams, ModelRequest, ModelResponse
from toolgrade.llm.retry import TransientError

# 396 characters are 99 tokens of text, and 4 more for the message: 103 tokens.
QUESTION = ModelRequest(
    model="m", messages=(ChatMessage(role="user", content="x" * 396),), params=ModelParams(max_tokens=100)
)


class Clock:
    """Time that passes only when someone sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Recorder:
    """Answers from a function; keeps when it was asked and how many were in flight."""

    def __init__(self, answer: Callable[[int], ModelResponse | Exception], clock: Clock) -> None:
        self.answer, self.clock = answer, clock
        self.times: list[float] = []
        self.in_flight = self.most_in_flight = 0

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.times.append(self.clock.now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        for _ in range(100):
            await asyncio.sleep(0)
        self.in_flight -= 1
        answer = self.answer(len(self.times))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None: ...


def ask(
    times: int, answer: Callable[[int], Any], price: Price | None = None, **limits: Any
) -> tuple[Recorder, list[Any]]:
    clock = Clock()
    recorder = Recorder(answer, clock)

    async def run() -> list[Any]:
        model = LimitedModel(recorder, Limits(**limits), lambda name: price, clock, clock.sleep)
        return await asyncio.gather(*[model.complete(QUESTION) for _ in range(times)], return_exceptions=True)

    return recorder, asyncio.run(run())


def answered(cost: float | None = None, tokens: tuple[int, int] | None = None) -> ModelResponse:
    used = tokens or (None, None)
    return ModelResponse(text="x", cost=cost, input_tokens=used[0], output_tokens=used[1])


def test_no_more_than_the_allowed_calls_are_in_flight() -> None:
    recorder, answers = ask(50, lambda n: answered(), concurrency=7)
    assert len(answers) == 50
    assert recorder.most_in_flight == 7


def test_a_call_is_sent_before_the_last_of_those_that_wait_with_it_has_begun() -> None:
    """As a client library, which takes some rounds of the event loop until a request is out."""
    events: list[str] = []

    class Client:
        async def complete(self, request: ModelRequest) -> ModelResponse:
            events.append("begun")
            for _ in range(3):
                await asyncio.sleep(0)
            events.append("sent")
            await asyncio.sleep(0.001)
            return answered()

        async def aclose(self) -> None: ...

    async def run() -> None:
        model = LimitedModel(Client(), Limits(concurrency=64), lambda name: None)
        await asyncio.gather(*[model.complete(QUESTION) for _ in range(64)])

    asyncio.run(run())
    assert events.count("begun") == events.count("sent") == 64
    assert events.index("sent") < 16


def test_a_call_that_is_given_up_while_it_waits_for_its_turn_keeps_nobody_waiting() -> None:
    async def run() -> list[Any]:
        model = LimitedModel(Recorder(lambda n: answered(), Clock()), Limits(concurrency=64), lambda name: None)
        calls = [asyncio.create_task(model.complete(QUESTION)) for _ in range(64)]
        await asyncio.sleep(0)
        for call in calls[20:50]:
            call.cancel()
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)

    answers = asyncio.run(run())
    assert [isinstance(answer, ModelResponse) for answer in answers] == [True] * 20 + [False] * 30 + [True] * 14


def test_requests_a_minute_are_spread_evenly() -> None:
    recorder, _ = ask(5, lambda n: answered(), concurrency=1, requests_per_minute=30)
    assert recorder.times == [1000, 1002, 1004, 1006, 1008]


def test_tokens_a_minute_count_what_was_used_once_that_is_known() -> None:
    """203 tokens are expected a call; at 60 a minute that is one each 203 s, or 50 s where 50 were used."""
    recorder, _ = ask(3, lambda n: answered(), concurrency=1, tokens_per_minute=60)
    assert recorder.times == pytest.approx([1000, 1203, 1406])
    recorder, _ = ask(3, lambda n: answered(tokens=(40, 10)), concurrency=1, tokens_per_minute=60)
    assert recorder.times == pytest.approx([1000, 1050, 1100])


PRICE = Price(input=0.001, output=0.01)  # a call of QUESTION can cost 103 * 0.001 + 100 * 0.01 = $1.103


def test_the_ceiling_is_never_exceeded_and_closes_when_no_call_fits() -> None:
    """$5 hold four calls of at most $1.103; each costs $0.60 in the end, so 7 fit: 6 * 0.60 + 1.103 <= 5."""
    recorder, answers = ask(40, lambda n: answered(cost=0.6), price=PRICE, concurrency=16, max_cost=5.0)
    stopped = [answer for answer in answers if isinstance(answer, CeilingReached)]
    assert (len(recorder.times), len(stopped)) == (7, 33)
    assert recorder.most_in_flight == 4
    assert str(stopped[0]) == "spending ceiling of $5 reached: $4.2000 spent, the next call may cost $1.1030"


def test_a_call_of_unknown_cost_counts_at_the_most() -> None:
    recorder, _ = ask(40, lambda n: answered(cost=None), price=PRICE, concurrency=1, max_cost=5.0)
    assert len(recorder.times) == 4


@pytest.mark.parametrize(
    ("error", "calls"),
    [(TransientError("timed out", may_be_billed=True), 4), (TransientError("HTTP 500"), 40), (JudgeError("no"), 40)],
)
def test_failures_count_only_where_the_provider_may_have_worked(error: Exception, calls: int) -> None:
    recorder, answers = ask(40, lambda n: error, price=PRICE, concurrency=1, max_cost=5.0)
    assert len(recorder.times) == calls
    assert answers[0] is error


def test_a_ceiling_without_a_price_is_refused_before_any_call() -> None:
    recorder, answers = ask(2, lambda n: answered(), price=None, max_cost=5.0)
    assert recorder.times == []
    assert all(isinstance(answer, ConfigError) and "price is unknown" in str(answer) for answer in answers)


def test_a_ceiling_below_one_call_asks_nothing() -> None:
    recorder, answers = ask(2, lambda n: answered(), price=PRICE, max_cost=1.0)
    assert recorder.times == []
    assert all(isinstance(answer, CeilingReached) for answer in answers)

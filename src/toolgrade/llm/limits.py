"""How much may be asked at once, a minute and in all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.errors import CeilingReached, ConfigError
from toolgrade.llm.port import Model, ModelRequest, ModelResponse
from toolgrade.llm.retry import TransientError


class Limits(Frozen):
    """Bounds on asking. `concurrency` calls in flight; `max_cost` in US dollars; None means unbounded."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    max_cost: float | None = Field(default=None, gt=0)


class Price(Frozen):
    """US dollars per token."""

    input: float
    output: float

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Return the price of that many tokens, in US dollars."""
        return self.input * input_tokens + self.output * output_tokens


def estimated_tokens(request: ModelRequest) -> int:
    """Return about how many tokens the messages take: four characters each, rounded up."""
    return sum(len(message.content) // 4 + 4 for message in request.messages)


class LimitedModel:
    """A model that is asked no faster and no more than the limits allow; every attempt counts.

    `price` gives a model's price, None where it is unknown. `spent` is what the calls cost so far, in US
    dollars: calls of unknown cost count at the most they can have cost.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        price: Callable[[str], Price | None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._price = price
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._turns = Turns()
        self._requests = Pace(limits.requests_per_minute, clock, sleep) if limits.requests_per_minute else None
        self._tokens = Pace(limits.tokens_per_minute, clock, sleep) if limits.tokens_per_minute else None
        self._ceiling = Ceiling(limits.max_cost) if limits.max_cost is not None else None

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the answer, when there is room for the call.

        Raises:
            CeilingReached: no room is left under `max_cost`; the call was not made.
            ConfigError: `max_cost` is set and the model's price is unknown.
        """
        async with self._slots:
            if self._ceiling is None:
                return await self._paced(request)
            most = self._most(request)
            await self._ceiling.hold(most)
            cost = 0.0
            try:
                response = await self._paced(request)
                cost = most if response.cost is None else response.cost
            except TransientError as error:
                cost = most if error.may_be_billed else 0.0
                raise
            except asyncio.CancelledError:
                cost = most
                raise
            finally:
                await self._ceiling.settle(most, cost)
            return response

    def _most(self, request: ModelRequest) -> float:
        price = self._price(request.model)
        if price is None:
            raise ConfigError(
                f"{request.model}: a spending ceiling is set, but this model's price is unknown; "
                "run without a ceiling, or choose a model that litellm has a price for"
            )
        return price.cost(estimated_tokens(request), request.params.max_tokens)

    async def _paced(self, request: ModelRequest) -> ModelResponse:
        if self._requests is not None:
            await self._requests.take(1)
        expected = 0
        if self._tokens is not None:
            expected = estimated_tokens(request) + request.params.max_tokens
            await self._tokens.take(expected)
        await self._turns.take()
        response = await self._model.complete(request)
        told, said = response.input_tokens, response.output_tokens
        if self._tokens is not None and told is not None and said is not None:
            self._tokens.correct(told + said - expected)
        return response

    async def aclose(self) -> None:
        """Close the model underneath."""
        await self._model.aclose()


class Turns:
    """Lets calls begin a few at a time, some rounds of the event loop apart.

    Making a request ready takes the client library several rounds. Where many begin in the same round, as
    those do whose forerunners were answered together, each round does one step of all of them: none is sent
    before the last is ready, and then nothing is left to do until the answers come, all together again.
    One at a time would cost more for the rounds than it gains.
    """

    _TOGETHER = 8
    _ROUNDS = 3

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(self._TOGETHER)

    async def take(self) -> None:
        """Wait until it is this call's turn to begin."""
        await self._free.acquire()
        self._pass(self._ROUNDS)

    def _pass(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._pass, rounds - 1)
        else:
            self._free.release()


class Pace:
    """Lets amounts through at an even rate a minute, without bursts."""

    def __init__(
        self, per_minute: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._seconds_each = 60.0 / per_minute
        self._clock = clock
        self._sleep = sleep
        self._free_at = clock()

    async def take(self, amount: float) -> None:
        """Wait for the turn of this amount."""
        now = self._clock()
        turn = max(now, self._free_at)
        self._free_at = turn + amount * self._seconds_each
        if turn > now:
            await self._sleep(turn - now)

    def correct(self, amount: float) -> None:
        """Take this much more, or give it back where negative, of what was let through."""
        self._free_at += amount * self._seconds_each


class Ceiling:
    """Money that may be spent: what is in flight is held at the most it can cost.

    While calls in flight may still give room back, the next waits; where none can, the ceiling closes.
    """

    def __init__(self, most: float) -> None:
        self._most = most
        self._held: list[float] = []
        self._closed = False
        self._changed = asyncio.Condition()
        self.spent = 0.0

    async def hold(self, amount: float) -> None:
        """Hold room for a call.

        Raises:
            CeilingReached: there is none, and nothing in flight can make any.
        """
        async with self._changed:
            while not self._closed and self.spent + sum(self._held) + amount > self._most:
                if not self._held:
                    self._closed = True
                    self._changed.notify_all()
                else:
                    await self._changed.wait()
            if self._closed:
                raise CeilingReached(
                    f"spending ceiling of ${self._most:g} reached: ${self.spent:.4f} spent, "
                    f"the next call may cost ${amount:.4f}"
                )
            self._held.append(amount)

    async def settle(self, held: float, cost: float) -> None:
        """Replace what was held by what the call cost."""
        async with self._changed:
            self._held.remove(held)
            self.spent += cost
            self._changed.notify_all()

"""Asking again where a repeat may help: tenacity is the only retrier."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.errors import JudgeError, JudgeUnavailable
from toolgrade.llm.port import Model, ModelRequest, ModelResponse


class TransientError(Exception):
    """An attempt that failed in a way that may pass: raised by a model, never out of `RetryingModel`.

    `retry_after` is what the server asked for, in seconds. `may_be_billed` says that the provider may have
    worked on the answer although it never came.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, may_be_billed: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.may_be_billed = may_be_billed


class RetryPolicy(Frozen):
    """How often and how long to wait, in seconds.

    The first wait is drawn from [0, first_wait], each later one from twice that range, up to `max_wait` (full
    jitter), but never less than the server asked for. A server that asks for more than `max_retry_after` is
    not waited for. After `give_up_after` questions in a row that all attempts failed, the model counts as
    unavailable.
    """

    attempts: int = Field(default=5, ge=1)
    first_wait: float = Field(default=1.0, ge=0)
    max_wait: float = Field(default=30.0, ge=0)
    max_retry_after: float = Field(default=120.0, ge=0)
    give_up_after: int = Field(default=5, ge=1)


class RetryingModel:
    """A model whose transient failures are tried again; everything else passes through."""

    def __init__(
        self,
        model: Model,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._failures: Counter[tuple[str, str | None]] = Counter()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the answer of the first attempt that gave one, with the number of attempts.

        Raises:
            JudgeUnavailable: this model failed too many questions in a row.
            JudgeError: all attempts at this question failed, or the server asked for too long a wait.
        """
        model = (request.model, request.api_base)
        if self._failures[model] >= self._policy.give_up_after:
            raise JudgeUnavailable(f"{request.model}: not asked: the last {self._failures[model]} questions all failed")
        try:
            response = await self._attempt(request)
        except TransientError as error:
            response = await self._again(request, error)
        if model in self._failures:
            del self._failures[model]
        return response

    async def _again(self, request: ModelRequest, first: TransientError) -> ModelResponse:
        # The first attempt was made without tenacity, which costs more than all else around a call.
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

        policy = self._policy
        jitter = wait_random_exponential(multiplier=policy.first_wait, max=policy.max_wait)
        retrying = AsyncRetrying(
            stop=stop_after_attempt(policy.attempts),
            wait=lambda state: max(jitter(state), _asked_wait(state.outcome.exception() if state.outcome else None)),
            retry=retry_if_exception_type(TransientError),
            sleep=self._sleep,
            reraise=True,
        )
        attempts = 0
        try:
            async for attempt in retrying:
                with attempt:
                    attempts += 1
                    if attempts == 1:
                        raise first
                    response = await self._attempt(request)
        except TransientError as error:
            self._failures[(request.model, request.api_base)] += 1
            raise JudgeError(f"{request.model}: no answer after {attempts} attempts; the last: {error}") from None
        return response.model_copy(update={"attempts": attempts})

    async def _attempt(self, request: ModelRequest) -> ModelResponse:
        try:
            return await self._model.complete(request)
        except TransientError as error:
            if error.retry_after is not None and error.retry_after > self._policy.max_retry_after:
                raise JudgeError(
                    f"{request.model}: {error}; the server asks to come back in {error.retry_after:.0f} s, "
                    f"more than the {self._policy.max_retry_after:.0f} s that are waited: run again later"
                ) from None
            raise

    async def aclose(self) -> None:
        """Close the model underneath."""
        await self._model.aclose()


def _asked_wait(error: BaseException | None) -> float:
    return (error.retry_after or 0.0) if isinstance(error, TransientError) else 0.0


def retry_after_seconds(
    headers: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> float | None:
    """Return what a `Retry-After` header asks for, in seconds from now; None where there is none to read.

    Both forms of RFC 9110 §10.2.3 are read (seconds, HTTP date), and `retry-after-ms` of some providers.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now()).total_seconds())

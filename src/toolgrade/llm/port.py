"""What is sent to a model and what comes back, whoever provides it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pydantic import Field

from toolgrade.core.model import Frozen


class ChatMessage(Frozen):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class ModelParams(Frozen):
    """How the model is to answer; part of a judge's identity. None leaves a parameter to the provider.

    `max_tokens` bounds the answer, in tokens. A parameter that the provider does not take is left out of
    the call, and `ModelResponse.warnings` names it.
    """

    temperature: float | None = Field(default=0.0, ge=0)
    max_tokens: int = Field(default=1024, ge=1)
    seed: int | None = None
    top_p: float | None = Field(default=None, gt=0, le=1)
    reasoning_effort: str | None = None


class ModelRequest(Frozen):
    """One question to one model.

    `model` is a litellm model string (`openai/gpt-4.1-mini`, `ollama_chat/qwen2.5`, ...), `api_base` the
    address of its server where it is not the provider's own. `response_schema` is a JSON Schema of an
    object; a provider that cannot enforce it is asked for JSON, or for nothing, so that the reader of
    `ModelResponse.text` still has to parse strictly. `timeout_s` bounds one attempt as a whole, in seconds.
    """

    model: str = Field(min_length=1)
    messages: tuple[ChatMessage, ...] = Field(min_length=1)
    response_schema: dict[str, Any] | None = None
    params: ModelParams = ModelParams()
    timeout_s: float = Field(default=60.0, gt=0)
    api_base: str | None = None


class ModelResponse(Frozen):
    """One answer.

    `finish` is `length` where the answer was cut at `max_tokens`, and `refusal` where the model or its
    provider declined: `text` is then empty and `refusal` holds what was said about it. Tokens and `cost`
    (US dollars) are None where unknown, never 0 by convention. `latency_ms` is of the attempt that
    answered; `attempts` counts all that were made.
    """

    text: str
    finish: Literal["stop", "length", "refusal"] = "stop"
    refusal: str | None = None
    model_reported: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency_ms: float | None = None
    attempts: int = 1
    warnings: tuple[str, ...] = ()


class Model(Protocol):
    """Whatever answers requests: litellm behind retries and limits, or a script."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the answer.

        Raises:
            JudgeUnavailable: no question to this model will be answered (missing or refused key, unknown
                model, server down): stop asking it.
            JudgeError: this question was not answered (too long for the model, no answer after the last
                retry); others may be.
            CeilingReached: the spending ceiling leaves no room for the call; it was not made.
            ConfigError: a spending ceiling is set and the model's price is unknown.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections; call it in the event loop that made the calls, also after an error."""
        ...

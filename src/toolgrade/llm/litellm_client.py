"""The only door to litellm: one request, one attempt. litellm is imported when the first call is made."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import time
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from toolgrade.errors import ConfigError, JudgeUnavailable, suggestion
from toolgrade.llm.failures import failure, is_policy, is_too_long, words_of
from toolgrade.llm.limits import Price
from toolgrade.llm.port import ModelRequest, ModelResponse
from toolgrade.llm.retry import TransientError

Format = Literal["schema", "json", "text"]

# litellm lets whatever a broken response causes inside it escape.
_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@functools.cache
def _litellm() -> ModuleType:
    """Import litellm so that it fetches nothing, reads no `.env` and says nothing.

    Raises:
        ConfigError: it is not installed.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    try:
        import litellm
    except ImportError as error:
        raise ConfigError(f"asking a model needs litellm ({error}): pip install 'toolgrade[judge]'") from error
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    return module


@functools.cache
def _unlogged() -> ContextVar[bool]:
    """Return litellm's switch for calls that no logging callback may see.

    Callbacks that the surrounding program or the environment registered would get the prompts, with all
    that the traces hold; and preparing a log record for nobody costs a tenth of a call.
    """
    _litellm()
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:  # a litellm without the switch: calls are as any others
        return ContextVar("unlogged", default=False)
    switch: ContextVar[bool] = is_internal_call
    return switch


@dataclass
class _Facts:
    """What is known of a model: the ways to ask it for JSON that are left, the best first."""

    formats: tuple[Format, ...]
    left_out: tuple[str, ...]
    api_key: str | None


class LiteLLMModel:
    """Any model that litellm reaches; keys come from the environment, as litellm documents them.

    The schema is sent where litellm can send one to this provider; JSON mode, then nothing, where the
    server refuses it. What worked is remembered for the model.
    """

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str | None], _Facts] = {}

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the answer of one attempt.

        Raises:
            TransientError: a repeat may help.
            JudgeError: it would not; JudgeUnavailable where it would not for any question.
        """
        litellm = _litellm()
        facts = self._facts_of(request)
        formats: tuple[Format, ...] = facts.formats if request.response_schema is not None else ("text",)
        for number, form in enumerate(formats):
            started = time.perf_counter()
            try:
                answer = await _call(_arguments(request, form, facts), request)
            except litellm.BadRequestError as error:
                if is_policy(error):
                    return ModelResponse(text="", finish="refusal", refusal=words_of(error))
                if form == formats[-1] or is_too_long(error):
                    raise failure(request, error) from None
                continue
            latency_ms = (time.perf_counter() - started) * 1000
            if number:
                facts.formats = formats[number:]
            response = _response(answer, latency_ms)
            warnings = _warnings(request, form, facts)
            return response.model_copy(update={"warnings": warnings}) if warnings else response
        raise AssertionError("there is always a format")

    def _facts_of(self, request: ModelRequest) -> _Facts:
        key = (request.model, request.api_base)
        if key not in self._facts:
            self._facts[key] = _look_up(request)
        return self._facts[key]

    async def aclose(self) -> None:
        """Close litellm's connections, where any were opened."""
        if self._facts:
            litellm = _litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()


async def _call(arguments: dict[str, Any], request: ModelRequest) -> Any:
    litellm = _litellm()
    import openai

    unlogged = _unlogged()
    before = unlogged.set(True)
    try:
        async with asyncio.timeout(request.timeout_s):
            return await litellm.acompletion(**arguments)
    except TimeoutError:
        raise TransientError(f"no answer within {request.timeout_s:g} s", may_be_billed=True) from None
    except litellm.BadRequestError:
        raise
    except openai.OpenAIError as error:
        raise failure(request, error) from None
    except _UNREADABLE as error:
        raise TransientError(f"a response that cannot be read ({type(error).__name__})", may_be_billed=True) from None
    finally:
        unlogged.reset(before)


def _look_up(request: ModelRequest) -> _Facts:
    """Return what litellm knows of the model.

    Raises:
        JudgeUnavailable: litellm has no such provider, or the provider's key is not set.
    """
    litellm = _litellm()
    try:
        name, provider, _, _ = litellm.get_llm_provider(request.model, api_base=request.api_base)
    except litellm.BadRequestError:
        near = suggestion(request.model, litellm.model_cost)
        raise JudgeUnavailable(
            f"{request.model}: litellm knows no such provider; expected provider/model, "
            f"as in openai/gpt-4.1-mini or ollama_chat/qwen2.5.{near}"
        ) from None
    missing = [key for key in litellm.validate_environment(request.model)["missing_keys"] if key.endswith("_API_KEY")]
    if missing and request.api_base is None and provider not in ("azure", "azure_ai"):
        raise JudgeUnavailable(f"{request.model}: no key: set {' or '.join(missing)} in the environment")
    supported = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or []
    given = request.params.model_dump(exclude_none=True)
    return _Facts(
        formats=("schema", "json", "text") if "response_format" in supported else ("text",),
        left_out=tuple(param for param in given if param not in supported and param != "max_tokens"),
        # A server of one's own seldom wants a key, but the client library does.
        api_key="none" if missing and request.api_base is not None else None,
    )


def _arguments(request: ModelRequest, form: Format, facts: _Facts) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "timeout": request.timeout_s,
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": True,
        **request.params.model_dump(exclude_none=True),
    }
    for param in facts.left_out:
        del arguments[param]
    if form == "schema":
        schema = {"name": "answer", "schema": request.response_schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form == "json":
        arguments["response_format"] = {"type": "json_object"}
    if request.api_base is not None:
        arguments["api_base"] = request.api_base
    if facts.api_key is not None:
        arguments["api_key"] = facts.api_key
    return arguments


def _warnings(request: ModelRequest, form: Format, facts: _Facts) -> tuple[str, ...]:
    warnings = [f"{param} is not taken by {request.model} and was left out" for param in facts.left_out]
    if request.response_schema is not None and form != "schema":
        asked = "in JSON mode only" if form == "json" else "without JSON mode"
        warnings.append(f"{request.model} takes no JSON schema and was asked {asked}")
    return tuple(warnings)


def _response(answer: Any, latency_ms: float) -> ModelResponse:
    """Read litellm's answer.

    Raises:
        TransientError: there is nothing in it.
    """
    if not answer.choices:
        raise TransientError("a response without an answer", may_be_billed=True)
    choice = answer.choices[0]
    text = choice.message.content
    refusal = getattr(choice.message, "refusal", None)
    usage = getattr(answer, "usage", None)
    input_tokens = getattr(usage, "prompt_tokens", None) or None
    output_tokens = getattr(usage, "completion_tokens", None) if input_tokens else None
    # litellm's own figure, by its table; zero is what it gives for a price that it does not know.
    cost = answer._hidden_params.get("response_cost") if input_tokens else None  # noqa: SLF001
    known = {
        "model_reported": answer.model or None,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cost": cost if cost and cost > 0 else None,
        "latency_ms": latency_ms,
    }
    if refusal or choice.finish_reason == "content_filter":
        return ModelResponse(text="", finish="refusal", refusal=refusal or "stopped by the content filter", **known)
    if choice.finish_reason == "length":
        return ModelResponse(text=text or "", finish="length", **known)
    if not isinstance(text, str) or not text.strip():
        raise TransientError("an empty answer", may_be_billed=True)
    return ModelResponse(text=text, **known)


@functools.cache
def price_of(model: str) -> Price | None:
    """Return litellm's price for a model, None where it has none.

    A price of zero counts as unknown: the table holds it for what is free and for what nobody filled in.

    Raises:
        ConfigError: litellm is not installed.
    """
    litellm = _litellm()
    try:
        name, provider, _, _ = litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        return None
    info: dict[str, Any] = litellm.model_cost.get(f"{provider}/{name}") or litellm.model_cost.get(name) or {}
    price = Price(input=info.get("input_cost_per_token") or 0.0, output=info.get("output_cost_per_token") or 0.0)
    return price if price.input > 0 or price.output > 0 else None

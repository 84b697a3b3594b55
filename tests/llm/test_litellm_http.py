"""Calls through litellm to a real HTTP server: what comes back, what is tried again, what ends at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from tests.llm.server import ChatServer, abort, hold, raw, say, status

from toolgrade.errors import JudgeError, JudgeUnavailable
from toolgrade.llm.litellm_client import LiteLLMModel, price_of
from toolgrade.llm.port import ChatMessage, ModelParams, ModelRequest, ModelResponse
from toolgrade.llm.retry import RetryingModel, RetryPolicy

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"enum": ["pass", "fail"]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def server(running: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    running.requests.clear()
    running.headers.clear()
    return running


class Asker:
    """Asks the server with retries that wait for nobody; `waits` are the seconds it would have slept."""

    def __init__(self, server: ChatServer, **policy: Any) -> None:
        self.server = server
        self.policy = RetryPolicy(**policy)
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def __call__(self, *replies: Any, **request: Any) -> ModelResponse:
        return self.many(1, *replies, **request)[0]

    def many(self, times: int, *replies: Any, **request: Any) -> list[ModelResponse]:
        self.server.replies = list(replies)
        values = {
            "model": "openai/gpt-4o-mini",
            "api_base": self.server.url,
            "messages": (ChatMessage(role="user", content="Is 3 °C warm? ⛄"),),
        }

        async def run() -> list[ModelResponse]:
            model = RetryingModel(LiteLLMModel(), self.policy, self.sleep)
            try:
                return [await model.complete(ModelRequest.model_validate(values | request)) for _ in range(times)]
            finally:
                await model.aclose()

        return asyncio.run(run())


@pytest.fixture
def ask(server: ChatServer) -> Asker:
    return Asker(server)


def test_an_answer_carries_what_the_provider_reported(ask: Asker, server: ChatServer) -> None:
    answer = ask(
        say('{"reason": "kalt ❄ 寒い", "verdict": "fail"}'), response_schema=SCHEMA, params=ModelParams(seed=7)
    )
    assert answer.text == '{"reason": "kalt ❄ 寒い", "verdict": "fail"}'
    assert (answer.finish, answer.attempts, answer.warnings) == ("stop", 1, ())
    assert (answer.model_reported, answer.input_tokens, answer.output_tokens) == ("served-model-1", 100, 20)
    # OpenAI's list price of gpt-4o-mini: $0.15 and $0.60 for a million tokens.
    assert answer.cost == pytest.approx((100 * 0.15 + 20 * 0.60) / 1e6)
    assert answer.latency_ms is not None and answer.latency_ms > 0
    (sent,) = server.requests
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }
    assert sent["messages"] == [{"role": "user", "content": "Is 3 °C warm? ⛄"}]
    assert (sent["temperature"], sent["max_tokens"], sent["seed"]) == (0.0, 1024, 7)


def test_what_is_unknown_is_none(ask: Asker) -> None:
    answer = ask(say("x", usage=None))
    assert (answer.input_tokens, answer.output_tokens, answer.cost) == (None, None, None)
    answer = ask(say("x"), model="openai/my-own-model")
    assert (answer.input_tokens, answer.output_tokens, answer.cost) == (100, 20, None)


def test_text_around_the_json_is_handed_on_as_it_is(ask: Asker) -> None:
    assert ask(say('Sure!\n```json\n{"verdict": "pass"}\n```')).text == 'Sure!\n```json\n{"verdict": "pass"}\n```'


def test_a_server_without_schemas_is_asked_for_json_and_then_for_nothing(ask: Asker, server: ChatServer) -> None:
    refuse = status(400, "response_format is not supported")
    first, second = ask.many(2, refuse, refuse, say("{}"), response_schema=SCHEMA)
    formats = [sent.get("response_format", {}).get("type") for sent in server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert (
        first.warnings
        == second.warnings
        == ("openai/gpt-4o-mini takes no JSON schema and was asked without JSON mode",)
    )
    assert ask.waits == []


def test_one_bad_question_does_not_cost_the_others_their_schema(ask: Asker, server: ChatServer) -> None:
    bad = status(400, "invalid messages")
    with pytest.raises(JudgeError, match=r"the request was refused .*invalid messages"):
        ask(bad, response_schema=SCHEMA)
    assert len(server.requests) == 3
    server.requests.clear()
    ask(say("{}"), response_schema=SCHEMA)
    assert server.requests[0]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "trouble",
    [
        status(429),
        status(500),
        status(502),
        status(503),
        status(408),
        raw(b""),
        raw(b"<html>busy</html>", "text/html"),
        raw(b"{}"),
        raw(b'{"choices": [{"message": {"role": "assistant", "content": 7}}]}'),
        say("x", choices=[]),
        say(None),
        say(" \n"),
        abort,
    ],
    ids=range(13),
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_what_may_pass_is_tried_again(ask: Asker, server: ChatServer, trouble: Any) -> None:
    answer = ask(trouble, trouble, say("good"))
    assert (answer.text, answer.attempts) == ("good", 3)
    assert len(server.requests) == 3
    # Full jitter: each wait is drawn from [0, 2**n].
    assert len(ask.waits) == 2
    assert all(0 <= wait <= 2**n for n, wait in enumerate(ask.waits))


def test_retry_after_is_honoured_in_seconds_and_as_a_date(ask: Asker) -> None:
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    ask(status(429, headers={"retry-after": "17"}), status(503, headers={"Retry-After": in_a_minute}), say("good"))
    assert ask.waits[0] == 17
    assert 50 < ask.waits[1] <= 60


def test_a_wait_that_is_too_long_is_an_error_at_once(ask: Asker, server: ChatServer) -> None:
    with pytest.raises(JudgeError, match="come back in 86400 s"):
        ask(status(429, headers={"retry-after": "86400"}))
    assert (len(server.requests), ask.waits) == (1, [])


def test_an_answer_beyond_the_time_out_is_abandoned(ask: Asker, server: ChatServer) -> None:
    answer = ask(hold, say("good"), timeout_s=0.3)
    assert (answer.text, answer.attempts) == ("good", 2)
    with pytest.raises(JudgeError, match=r"no answer after 2 attempts; the last: (no answer within|timed out)"):
        Asker(server, attempts=2)(hold, timeout_s=0.2)


def test_retries_end_and_litellm_makes_none_of_its_own(ask: Asker, server: ChatServer) -> None:
    with pytest.raises(
        JudgeError, match="openai/gpt-4o-mini: no answer after 5 attempts; the last: HTTP 500: no"
    ) as caught:
        ask(status(500))
    assert not isinstance(caught.value, JudgeUnavailable)
    assert len(server.requests) == 5


def test_an_answer_between_failures_shows_that_the_server_lives(server: ChatServer) -> None:
    ask = Asker(server, attempts=1, give_up_after=2)
    replies = [status(500), say("x"), status(500), say("x")]

    async def run() -> list[bool]:
        model = RetryingModel(LiteLLMModel(), ask.policy, ask.sleep)
        server.replies = replies
        request = ModelRequest(model="openai/x", api_base=server.url, messages=(ChatMessage(role="user", content="?"),))
        answers = [(await asyncio.gather(model.complete(request), return_exceptions=True))[0] for _ in range(4)]
        await model.aclose()
        return [isinstance(answer, ModelResponse) for answer in answers]

    assert asyncio.run(run()) == [False, True, False, True]


def test_a_server_that_is_down_is_not_asked_for_ever(server: ChatServer) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def run() -> list[BaseException]:
        model = RetryingModel(LiteLLMModel(), RetryPolicy(attempts=2, give_up_after=3), sleep)
        request = ModelRequest(
            model="openai/x", api_base="http://127.0.0.1:9/v1", messages=(ChatMessage(role="user", content="?"),)
        )
        try:
            return [(await asyncio.gather(model.complete(request), return_exceptions=True))[0] for _ in range(5)]
        finally:
            await model.aclose()

    errors = asyncio.run(run())
    assert [type(error) for error in errors] == [JudgeError] * 3 + [JudgeUnavailable] * 2
    assert "no connection to http://127.0.0.1:9/v1" in str(errors[0])
    assert len(waits) == 3


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (status(401, "Incorrect API key provided: sk-test-0123456789"), JudgeUnavailable, "the key was not accepted"),
        (status(402, "Insufficient Balance"), JudgeUnavailable, "no credit left"),
        (status(403, "not yours"), JudgeUnavailable, "the key may not use this model"),
        (status(404, "The model does not exist"), JudgeUnavailable, "no such model or address"),
        (status(413, "Payload Too Large"), JudgeError, "the question is too long for this model"),
        (
            status(400, "This model's maximum context length is 4096 tokens.", error_code="context_length_exceeded"),
            JudgeError,
            "the question is too long for this model .*maximum context length is 4096",
        ),
    ],
)
def test_what_cannot_change_ends_at_once_and_says_what_to_do(
    ask: Asker, server: ChatServer, caplog: pytest.LogCaptureFixture, reply: Any, kind: type[JudgeError], says: str
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(JudgeError, match=says) as caught:
        ask(reply, response_schema=SCHEMA)
    assert type(caught.value) is kind
    assert (len(server.requests), ask.waits) == (1, [])
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert "0123456789" not in str(caught.value) + caplog.text


def test_a_refusal_is_an_answer(ask: Asker, server: ChatServer) -> None:
    answer = ask(say(None, message={"refusal": "I can't help with that"}))
    assert (answer.finish, answer.text, answer.refusal) == ("refusal", "", "I can't help with that")
    assert ask(say("half", finish_reason="content_filter")).finish == "refusal"
    answer = ask(status(400, "rejected by our safety system", error_code="content_policy_violation"))
    assert (answer.finish, answer.refusal) == ("refusal", "rejected by our safety system")
    assert len(server.requests) == 3


def test_an_answer_cut_at_the_limit_says_so(ask: Asker) -> None:
    answer = ask(say('{"reason": "becau', finish_reason="length"))
    assert (answer.finish, answer.text) == ("length", '{"reason": "becau')
    assert ask(say("", finish_reason="length")).finish == "length"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("openai/gpt-4o-mini", "no key: set OPENAI_API_KEY"),
        ("anthropic/claude-x", "no key: set ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "no key: set GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("opnai/gpt-4o-mini", "no such provider"),
        ("gpt-4o-minni", "no such provider.* Did you mean 'gpt-4o-mini"),
    ],
)
def test_a_missing_key_or_provider_is_named_without_a_call(
    ask: Asker, server: ChatServer, monkeypatch: pytest.MonkeyPatch, model: str, says: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(JudgeUnavailable, match=says):
        ask(say("x"), model=model, api_base=None)
    assert server.requests == []


def test_a_server_of_ones_own_needs_no_key(ask: Asker, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask(say("x"), model="openai/qwen").text == "x"
    assert ask(say("x"), model="hosted_vllm/qwen", response_schema=SCHEMA).text == "x"
    assert server.requests[1]["response_format"]["type"] == "json_schema"


def test_no_callback_of_the_surrounding_program_sees_a_call(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(say("x"))
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    seen: list[str] = []

    class Spy(CustomLogger):
        async def async_log_success_event(self, *_: Any, **__: Any) -> None:
            seen.append("success")

        async def async_log_failure_event(self, *_: Any, **__: Any) -> None:
            seen.append("failure")

        def log_success_event(self, *_: Any, **__: Any) -> None:
            seen.append("success")

        def log_failure_event(self, *_: Any, **__: Any) -> None:
            seen.append("failure")

    monkeypatch.setattr(litellm, "callbacks", [Spy()])
    for name in ("success_callback", "failure_callback", "_async_success_callback", "_async_failure_callback"):
        monkeypatch.setattr(litellm, name, [])
    assert ask(status(500), say("x")).attempts == 2
    assert seen == []


def test_parameters_that_the_provider_does_not_take_are_left_out_and_named(ask: Asker, server: ChatServer) -> None:
    answer = ask(say("x"), model="openai/o3-mini", params=ModelParams(top_p=0.5))
    assert "top_p" not in server.requests[0]
    assert answer.warnings == ("top_p is not taken by openai/o3-mini and was left out",)


def test_prices() -> None:
    price = price_of("openai/gpt-4o-mini")
    assert price is not None
    assert (price.input, price.output) == (0.15e-6, 0.6e-6)
    assert price.cost(1e6, 1e6) == pytest.approx(0.75)
    assert price_of("openai/my-own-model") is None
    assert price_of("ollama/llama3") is None
    assert price_of("no such") is None

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Evidence, Question
from toolgrade.errors import CeilingReached, ConfigError, JudgeError, JudgeUnavailable
from toolgrade.judges.dimensions import dimension, names
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.llm.port import ModelParams, ModelResponse
from toolgrade.prompts import load

QUOTE = ("Error 403: not permitted", "episode")


def test_a_pass_is_taken_as_it_is(asked: Any, question: Any, answer: Any) -> None:
    judge = asked("recovery_quality", answer("pass", QUOTE))
    verdict = judge(question("recovery_quality"), replicate=2)
    assert (verdict.verdict, verdict.error, verdict.unknown_reason) == ("pass", None, None)
    assert verdict.evidence == (Evidence(quote=QUOTE[0], field="episode", verified=True, match="exact"),)
    assert (verdict.dimension, verdict.model, verdict.replicate) == ("recovery_quality", "scripted/judge", 2)
    assert verdict.question_id == question("recovery_quality").id
    assert verdict.judge_id == judge.judge.id
    assert len(judge.model.requests) == 1


def test_a_key_is_the_hash_of_judge_question_and_replicate() -> None:
    judge = Judge(dimension("route_choice"), load("route_choice"), JudgeSettings(model="a/b"))
    told = f'{{"judge":"{judge.id}","question":"sha256:00ff","replicate":3}}'
    assert judge.key("sha256:00ff", 3) == "sha256:" + hashlib.sha256(told.encode()).hexdigest()
    assert judge.key("sha256:00ff", 3) == content_hash(json.loads(told))


def test_a_changed_question_is_another_question(question: Any) -> None:
    one = question("recovery_quality")
    same, other = one.model_copy(update={"weight": 0.5}), one.model_copy(update={"fields": {"episode": {}}})
    assert (same.id == one.id, other.id == one.id) == (True, False)


def test_an_unreadable_answer_is_asked_for_once_more_with_a_new_fence(asked: Any, question: Any, answer: Any) -> None:
    judge = asked("recovery_quality", "I think it is fine: pass", answer("fail", QUOTE))
    verdict = judge(question("recovery_quality"))
    assert (verdict.verdict, verdict.attempts) == ("fail", 2)
    first, second = (request.messages[1].content for request in judge.model.requests)
    assert "could not be read: the answer was not one JSON object" in second
    assert "I think it is fine" not in second, "what a model said may hold injected text"
    assert first.split()[:8] == second.split()[:8]
    assert first.split("<<DATA ")[2][:32] != second.split("<<DATA ")[2][:32]


def test_two_unreadable_answers_are_an_error_never_a_verdict(asked: Any, question: Any, answer: Any) -> None:
    judge = asked("recovery_quality", "verdict: pass", 'verdict: {"verdict": "pass"}', answer("pass"))
    verdict = judge(question("recovery_quality"))
    assert (verdict.verdict, verdict.attempts, judge.left) == ("error", 2, 1)
    assert "not one JSON object" in str(verdict.error)


def test_a_fail_without_a_true_quote_is_asked_once_more(asked: Any, question: Any, answer: Any) -> None:
    judge = asked("recovery_quality", answer("fail", ("He lied about it all", "episode")), answer("fail", QUOTE))
    verdict = judge(question("recovery_quality"))
    assert (verdict.verdict, verdict.attempts) == ("fail", 2)
    again = judge.model.requests[1].messages[1].content
    assert "none of its quotes counts: not_found" in again
    assert "He lied about it all" not in again


@pytest.mark.parametrize("quotes", [[], [("He lied about it all", "episode")], [("invented-success", "rubric")]])
def test_a_fail_that_never_shows_a_true_quote_is_unknown(asked: Any, question: Any, answer: Any, quotes: Any) -> None:
    judge = asked("recovery_quality", answer("fail", *quotes), answer("fail", *quotes))
    verdict = judge(question("recovery_quality"))
    assert (verdict.verdict, verdict.unknown_reason) == ("unknown", "evidence_unverified")
    assert verdict.reason, "what the judge said is kept"


def test_a_failure_by_omission_names_its_clause(asked: Any, question: Any, answer: Any) -> None:
    verdict = asked("recovery_quality", answer("fail", ("not-reported", "rubric")))(question("recovery_quality"))
    assert (verdict.verdict, verdict.evidence[0].match) == ("fail", "clause")


def test_an_unknown_keeps_its_reason(asked: Any, question: Any, answer: Any) -> None:
    said = answer("unknown", unknown_reason="missing_evidence")
    verdict = asked("recovery_quality", said)(question("recovery_quality"))
    assert (verdict.verdict, verdict.unknown_reason) == ("unknown", "missing_evidence")


def test_costs_are_summed_and_unknown_where_one_part_is(asked: Any, question: Any, answer: Any) -> None:
    def response(text: str, **parts: Any) -> ModelResponse:
        return ModelResponse(text=text, model_reported="m-1", latency_ms=5.0, **parts)

    bad = response("no", input_tokens=100, output_tokens=7, cost=0.25, attempts=3)
    good = response(answer("pass"), input_tokens=120, output_tokens=9, cost=0.5)
    verdict = asked("recovery_quality", bad, good)(question("recovery_quality"))
    assert (verdict.input_tokens, verdict.output_tokens, verdict.cost) == (220, 16, 0.75)
    assert (verdict.latency_ms, verdict.attempts, verdict.model_reported) == (10.0, 4, "m-1")
    free = asked("recovery_quality", bad, response(answer("pass")))(question("recovery_quality"))
    assert (free.cost, free.input_tokens) == (None, None)


def test_a_refusal_is_an_error_and_not_asked_again(asked: Any, question: Any) -> None:
    judge = asked("recovery_quality", ModelResponse(text="", finish="refusal", refusal="policy"), "never asked")
    verdict = judge(question("recovery_quality"))
    assert (verdict.verdict, verdict.error, judge.left) == ("error", "the model refused to judge: policy", 1)


def test_an_answer_that_was_cut_off_is_not_read(asked: Any, question: Any, answer: Any) -> None:
    cut = ModelResponse(text=answer("pass"), finish="length")
    verdict = asked("recovery_quality", cut, cut)(question("recovery_quality"))
    assert (verdict.verdict, verdict.error) == ("error", "the answer was cut off at 1024 tokens; be brief")


def test_errors_of_one_question_are_data_and_of_the_model_are_raised(asked: Any, question: Any) -> None:
    def raising(error: Exception) -> Any:
        judge = asked("recovery_quality")

        def script(_: Any) -> str:
            raise error

        judge.model._script = script
        return judge

    verdict = raising(JudgeError("too long for the model"))(question("recovery_quality"))
    assert (verdict.verdict, verdict.error) == ("error", "too long for the model")
    for error in (JudgeUnavailable("no key"), CeilingReached("spent"), ConfigError("no price")):
        with pytest.raises(type(error)):
            raising(error)(question("recovery_quality"))


@pytest.mark.parametrize("name", names())
def test_a_question_has_exactly_the_fields_that_the_prompt_declares(asked: Any, question: Any, name: str) -> None:
    judge = asked(name)
    with pytest.raises(ConfigError, match="the prompt declares the inputs"):
        judge(question(name, reference="the right answer"))
    less = question(name)
    less = less.model_copy(update={"fields": dict(list(less.fields.items())[1:])})
    with pytest.raises(ConfigError, match="the prompt declares the inputs"):
        judge(less)
    assert judge.model.requests == []


def _identity(**changes: Any) -> str:
    settings = JudgeSettings(model="a/b").model_copy(update=changes)
    return Judge(dimension("route_choice"), load("route_choice"), settings).id


def test_identity_is_what_shapes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    base = _identity()
    assert _identity() == base
    assert _identity(model="a/c") != base
    assert _identity(revision="sha256:1") not in (base, _identity(revision="sha256:2"))
    assert _identity(params=ModelParams(temperature=None)) != base
    assert _identity(params=ModelParams(max_tokens=99)) != base
    assert _identity(api_base="http://127.0.0.1:1", timeout_s=3.0) == base, "where a model is served changes nothing"
    other = Judge(dimension("recovery_quality"), load("recovery_quality"), JudgeSettings(model="a/b")).id
    assert other != base
    prompt = load("route_choice")
    for changed in (
        prompt._replace(system=prompt.system + " "),
        prompt._replace(user=prompt.user + " "),
        prompt._replace(rubric=prompt.rubric.model_copy(update={"examples": prompt.rubric.examples[:1]})),
        prompt._replace(rubric=prompt.rubric.model_copy(update={"notes": ()})),
    ):
        assert Judge(dimension("route_choice"), changed, JudgeSettings(model="a/b")).id != base
    monkeypatch.setitem(__import__("toolgrade.judges.judge", fromlist=["x"]).POSTPROCESS, "answer", 2)
    assert _identity() != base


def test_the_cache_key_changes_with_every_part_of_the_question(question: Callable[..., Any]) -> None:
    judge = Judge(dimension("route_choice"), load("route_choice"), JudgeSettings(model="a/b"))

    def key(asked: Question, replicate: int = 0) -> str:
        return judge.key(asked.id, replicate)

    base = question("route_choice")
    assert key(question("route_choice")) == key(base), "the fence's tag is no part of the key"
    assert key(base, replicate=1) != key(base)
    assert key(question("route_choice", called=["get_reservation_detail"])) != key(base)
    assert key(question("route_choice", request="Please cancel my second booking to Seattle!")) != key(base)
    elsewhere = base.model_copy(update={"place": base.place.model_copy(update={"step": 9}), "on_fail": ()})
    assert key(elsewhere) == key(base), "the same question elsewhere has the same answer"

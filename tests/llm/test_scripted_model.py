"""The stand-in for a model: answers from a function or a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolgrade.errors import ConfigError, JudgeError
from toolgrade.llm.port import ChatMessage, ModelRequest, ModelResponse
from toolgrade.llm.scripted import ScriptedModel


def ask(model: ScriptedModel, text: str) -> ModelResponse:
    return asyncio.run(model.complete(ModelRequest(model="m", messages=(ChatMessage(role="user", content=text),))))


def test_a_function_answers_and_the_questions_are_kept() -> None:
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())
    assert ask(model, "a").text == "A"
    assert [request.messages[0].content for request in model.requests] == ["a"]
    refusing = ScriptedModel(lambda request: ModelResponse(text="", finish="refusal", refusal="no"))
    assert ask(refusing, "a").finish == "refusal"


def test_the_first_line_that_fits_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"contains": ["Seattle", "4WQ150"], "answer": {"verdict": "fail"}}\n'
        '{"contains": "Seattle", "text": "not JSON", "cost": 0.5}\n'
        "\n"
        '{"text": "", "finish": "refusal", "refusal": "no"}\n'
    )
    model = ScriptedModel.from_jsonl(path)
    assert ask(model, "Seattle, 4WQ150").text == '{"verdict":"fail"}'
    assert ask(model, "Seattle").cost == 0.5
    assert ask(model, "Oslo").refusal == "no"
    path.write_text('{"contains": "Seattle", "text": "x"}')
    with pytest.raises(JudgeError, match=r"no scripted answer fits .*'Oslo'"):
        ask(ScriptedModel.from_jsonl(path), "Oslo")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "answers.jsonl:2: not JSON"),
        ("[]", "answers.jsonl:2: found list, expected an object"),
        ('{"contains": 3, "text": "x"}', "answers.jsonl:2: contains: found 3"),
        ('{"contains": "x"}', "answers.jsonl:2: text: field required"),
        ('{"anwser": {}, "text": "x"}', "answers.jsonl:2: unknown key 'anwser'.*Did you mean 'answer'"),
        ('{"txt": "x"}', "answers.jsonl:2: "),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"text": "x"}\n' + line)
    with pytest.raises(ConfigError, match=says):
        ScriptedModel.from_jsonl(path)
    with pytest.raises(ConfigError, match="cannot read"):
        ScriptedModel.from_jsonl(tmp_path / "missing")

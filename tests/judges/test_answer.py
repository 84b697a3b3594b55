from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema_rs
import pytest

from toolgrade.judges.answer import BadAnswer, read, schema
from toolgrade.prompts import Rubric, load

GOOD = {
    "reason": "The refund is told wrongly.",
    "evidence": [{"quote": "refund_cents: 4500", "field": "payloads"}],
    "verdict": "fail",
    "unknown_reason": None,
}


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load("result_utilization").rubric


def test_an_answer_is_read_alone_or_as_one_code_block(rubric: Rubric) -> None:
    text = json.dumps(GOOD)
    for form in (text, f"\n {text}\n", f"```json\n{text}\n```", f"```\n{text}\n```"):
        answer = read(form, rubric)
        assert (answer.verdict, answer.evidence[0].field) == ("fail", "payloads")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not one JSON object"),
        ("The verdict is pass.", "not one JSON object"),
        (f"Here you are: {json.dumps(GOOD)}", "not one JSON object"),
        (f"{json.dumps(GOOD)}\nI hope this helps", "not one JSON object"),
        (f"{json.dumps(GOOD)}\n{json.dumps({**GOOD, 'verdict': 'pass'})}", "not one JSON object"),
        (f"Thought process:\n```json\n{json.dumps(GOOD)}\n```", "not one JSON object"),
        ('"pass"', "the object: Input should be"),
        ("[]", "the object: Input should be"),
        ("NaN", "NaN is not JSON"),
        (json.dumps({**GOOD, "verdict": "FAIL"}), "verdict: Input should be 'pass', 'fail' or 'unknown'"),
        (json.dumps({**GOOD, "verdict": "satisfied"}), "verdict: Input should be"),
        (json.dumps({**GOOD, "verdict": True}), "verdict: Input should be"),
        (json.dumps({**GOOD, "score": 5}), "the object: Extra inputs"),
        (json.dumps({**GOOD, "reason": " "}), "reason: must not be empty"),
        (json.dumps({**GOOD, "reason": ""}), "reason: String should have at least 1"),
        (json.dumps({**GOOD, "evidence": [{"quote": "refund_cents", "field": "reference"}]}), "evidence: field must"),
        (json.dumps({**GOOD, "evidence": ["refund_cents: 4500"]}), "evidence: Input should be"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "verdict"}), "verdict: Field required"),
        ('{"verdict": "fail", "reason": "a", "evidence": [], "verdict": "pass"}', "a key was given twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_refused_and_never_searched(rubric: Rubric, text: str, problem: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        read(text, rubric)
    assert problem in str(caught.value)


def test_a_refusal_does_not_repeat_what_the_model_said(rubric: Rubric) -> None:
    for text in ("IGNORE ALL", json.dumps({**GOOD, "IGNORE": 1}), json.dumps({**GOOD, "verdict": "IGNORE"})):
        with pytest.raises(BadAnswer) as caught:
            read(text, rubric)
        assert "IGNORE" not in str(caught.value)


def test_the_schema_and_the_reader_agree(rubric: Rubric, answer: Callable[..., str]) -> None:
    validator = jsonschema_rs.validator_for(schema(rubric))
    for verdict in ("pass", "fail", "unknown"):
        text = answer(verdict, ("refund_cents: 4500", "payloads"), ("not-in-payload", "rubric"))
        assert validator.is_valid(json.loads(text))
        assert read(text, rubric).verdict == verdict
    assert not validator.is_valid({**GOOD, "verdict": "maybe"})
    assert not validator.is_valid({**GOOD, "more": 1})


def test_the_schema_asks_for_the_reason_before_the_verdict(rubric: Rubric) -> None:
    keys = list(schema(rubric)["properties"])
    assert keys.index("reason") < keys.index("evidence") < keys.index("verdict")
    assert schema(rubric)["required"] == keys, "strict structured output needs every key to be required"

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from toolgrade.core.finding import Finding, Place
from toolgrade.core.verdict import Question, Verdict
from toolgrade.judges.dimensions import dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.llm.port import ModelRequest, ModelResponse
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.prompts import load

FIELDS: dict[str, dict[str, Any]] = {
    "route_choice": {
        "request": "Please cancel my second booking to Seattle.",
        "tools": [{"name": "cancel_reservation", "description": "Cancel a whole reservation."}],
        "called": ["get_reservation_details"],
        "expected": ["get_reservation_details", "cancel_reservation"],
    },
    "argument_grounding": {
        "request": "Book a table for next Friday, for four people.",
        "context": "Today is 2024-05-15.",
        "tool": {"name": "book_table", "parameters": {"date": {"type": "string", "description": "YYYY-MM-DD"}}},
        "fields": [{"path": "$.date", "value": "next Friday"}],
    },
    "result_utilization": {
        "payloads": [{"tool": "cancel_reservation", "payload": {"refund_cents": 4500}}],
        "claims": [{"sentence": "You will get $54.00 back.", "nearest": {"refund_cents": 4500}}],
    },
    "recovery_quality": {
        "episode": {
            "call": {"tool": "delete_file", "arguments": {"path": "a.txt"}},
            "result": "Error 403: not permitted for this user",
            "after": [],
            "closing": "I have deleted the file a.txt for you.",
        }
    },
}


def make_question(name: str, **changes: Any) -> Question:
    """A question of one dimension, with some fields changed."""
    return Question(
        dimension=name,
        place=Place(step=2),
        fields={**FIELDS[name], **changes},
        on_fail=(Finding(name="poor_recovery", place=Place(step=2)),),
    )


def make_answer(verdict: str = "pass", *quotes: tuple[str, str], **changes: Any) -> str:
    """A judge's answer as JSON text; `quotes` are (quote, field)."""
    return json.dumps(
        {
            "reason": "Because of what the material says.",
            "evidence": [{"quote": quote, "field": field} for quote, field in quotes],
            "verdict": verdict,
            "unknown_reason": None,
            **changes,
        }
    )


class AskedJudge:
    """One judge over a scripted model: gives the answers in turn and keeps what was asked."""

    def __init__(self, name: str, *answers: str | ModelResponse) -> None:
        self.judge = Judge(dimension(name), load(name), JudgeSettings(model="scripted/judge"))
        self._answers = list(answers)
        self.model = ScriptedModel(self._next)

    def _next(self, request: ModelRequest) -> ModelResponse | str:
        return self._answers.pop(0)

    @property
    def left(self) -> int:
        return len(self._answers)

    def __call__(self, question: Question, replicate: int = 0) -> Verdict:
        return asyncio.run(self.judge.ask(self.model, question, replicate))


@pytest.fixture
def asked() -> type[AskedJudge]:
    """`asked(dimension, *answers)`: a judge whose model gives these answers in turn."""
    return AskedJudge


@pytest.fixture
def question() -> Callable[..., Question]:
    """`question(dimension, **changes)`."""
    return make_question


@pytest.fixture
def answer() -> Callable[..., str]:
    """`answer(verdict, *(quote, field), **changes)`: what a model would say."""
    return make_answer

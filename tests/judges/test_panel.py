from __future__ import annotations

from typing import Any

import pytest

from toolgrade.core.verdict import Verdict
from toolgrade.judges.dimensions import dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Panel, agreement
from toolgrade.prompts import load


def _judge(model: str) -> Judge:
    return Judge(dimension("route_choice"), load("route_choice"), JudgeSettings(model=model))


def _verdict(verdict: str, judge: str = "a", **parts: Any) -> Verdict:
    error = "no answer" if verdict == "error" else None
    base: dict[str, Any] = {"dimension": "route_choice", "question_id": "q", "judge_id": judge, "model": judge}
    return Verdict.model_validate({**base, "verdict": verdict, "reason": "because", "error": error, **parts})


def test_one_answer_is_its_own_panel() -> None:
    panel = Panel([_judge("a/b")])
    only = _verdict("fail")
    assert panel.combine([only]) is only
    assert (panel.size, panel.id, panel.model) == (1, _judge("a/b").id, "a/b")


def test_a_panel_asks_every_judge_k_times() -> None:
    panel = Panel([_judge("a/b"), _judge("c/d")], replicates=3)
    from toolgrade.core.verdict import Question

    asks = panel.asks(Question(dimension="route_choice", fields={}))
    assert [(ask.judge.settings.model, ask.replicate) for ask in asks] == [
        ("a/b", 0), ("a/b", 1), ("a/b", 2), ("c/d", 0), ("c/d", 1), ("c/d", 2)
    ]  # fmt: skip
    assert len({ask.key for ask in asks}) == 6, "a replicate is a question of its own to the cache"
    assert panel.id not in (_judge("a/b").id, Panel([_judge("a/b"), _judge("c/d")]).id)
    assert panel.id == Panel([_judge("c/d"), _judge("a/b")], replicates=3).id


@pytest.mark.parametrize(
    ("votes", "verdict", "why"),
    [
        (["pass", "pass", "pass"], "pass", None),
        (["fail", "fail", "fail"], "fail", None),
        (["pass", "pass", "fail"], "unknown", "split: 2 pass, 1 fail"),
        (["fail", "fail", "unknown"], "unknown", "split: 2 fail, 1 unknown"),
        (["pass", "error", "pass"], "error", None),
    ],
)
def test_disagreement_is_never_averaged_away(votes: list[str], verdict: str, why: str | None) -> None:
    combined = Panel([_judge("a/b")], replicates=3).combine([_verdict(vote) for vote in votes])
    assert (combined.verdict, combined.unknown_reason) == (verdict, why)


def test_costs_of_the_members_add_up_and_are_unknown_where_one_is() -> None:
    panel = Panel([_judge("a/b"), _judge("c/d")])
    known = [_verdict("pass", cost=0.25, input_tokens=10), _verdict("pass", "b", cost=0.5, input_tokens=20)]
    assert (panel.combine(known).cost, panel.combine(known).input_tokens) == (0.75, 30)
    assert panel.combine([known[0], _verdict("pass", "b")]).cost is None
    assert panel.combine(known).judge_id == panel.id


def test_agreement_by_hand() -> None:
    # Two judges asked twice: all agree; judge a flips; the judges differ; one error (left out).
    answers = [
        [_verdict("pass"), _verdict("pass"), _verdict("pass", "b"), _verdict("pass", "b")],
        [_verdict("pass"), _verdict("fail"), _verdict("pass", "b"), _verdict("pass", "b")],
        [_verdict("pass"), _verdict("pass"), _verdict("fail", "b"), _verdict("fail", "b")],
        [_verdict("pass"), _verdict("error"), _verdict("fail", "b"), _verdict("fail", "b")],
    ]
    # Equal pairs: 6 of 6, 3 of 6, 2 of 6.
    assert agreement(answers) == (3, 1, 1, 2, 11 / 18)
    assert agreement([[_verdict("pass")]]) == (0, 0, 0, 0, None)

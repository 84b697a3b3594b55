"""A fifth dimension costs one prompt folder and one small module."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

import toolgrade.judges.dimensions as dimensions
from toolgrade.assets import root
from toolgrade.core.verdict import Question
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.judging.options import JudgeOptions

MODULE = """
from toolgrade.judges.dimension import Dimension

DIMENSION = Dimension(name="tone", check="utilization")
"""
RUBRIC = """
dimension = "tone"
version = "v1"
rubric_version = "1.0"
question = "Is the answer polite?"
unit = "one answer"

[[inputs]]
name = "answer"
description = "What the agent said."
max_chars = 1000

[labels]
pass = "It is polite."
fail = "It is rude."
unknown = "There is nothing to tell by."
"""


def test_it_is_found_shown_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, prompts = tmp_path / "modules", tmp_path / "prompts" / "tone" / "v1"
    modules.mkdir()
    (modules / "tone.py").write_text(MODULE)
    prompts.mkdir(parents=True)
    (prompts / "rubric.toml").write_text(RUBRIC)
    for name in ("system.md.j2", "user.md.j2"):
        shutil.copy(Path(str(root("prompts"))) / "route_choice" / "v1" / name, prompts)
    monkeypatch.setattr(dimensions, "__path__", [*dimensions.__path__, str(modules)])
    options = JudgeOptions(models={"*": ("scripted/judge",)}, prompts=tmp_path / "prompts")
    panels = options.panels()
    assert set(panels) == {
        "argument_grounding",
        "recovery_quality",
        "result_utilization",
        "route_choice",
        "tone",
    }
    said = {"reason": "an insult", "verdict": "fail", "unknown_reason": None}
    said["evidence"] = [{"quote": "you utter fool", "field": "answer"}]
    model = ScriptedModel(lambda request: json.dumps(said))
    question = Question(dimension="tone", fields={"answer": "It is 5 pm, you utter fool."})
    verdict = asyncio.run(panels["tone"].judges[0].ask(model, question))
    assert (verdict.verdict, verdict.evidence[0].match) == ("fail", "exact")
    assert "Is the answer polite?" in model.requests[0].messages[0].content

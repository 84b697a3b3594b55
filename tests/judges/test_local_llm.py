"""The four judges against a real model: that it is asked and understood, not that it is right.

TOOLGRADE_LOCAL_LLM=http://127.0.0.1:8099/v1 python -m pytest -m local_llm
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from toolgrade.core.verdict import Verdict
from toolgrade.judges.dimensions import dimension, names
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.llm import open_model
from toolgrade.llm.limits import Limits
from toolgrade.prompts import load

pytestmark = pytest.mark.local_llm


@pytest.fixture
def base_url() -> str:
    url = os.environ.get("TOOLGRADE_LOCAL_LLM")
    if not url:
        pytest.skip("needs TOOLGRADE_LOCAL_LLM, the base URL of an OpenAI-compatible server")
    return url


@pytest.mark.parametrize("name", names())
def test_a_real_model_answers_in_the_form_that_is_asked(base_url: str, question: Any, name: str) -> None:
    settings = JudgeSettings(
        model=os.environ.get("TOOLGRADE_LOCAL_MODEL", "openai/local"), api_base=base_url, timeout_s=600
    )
    judge = Judge(dimension(name), load(name), settings)

    async def ask() -> Verdict:
        model = open_model(Limits(concurrency=1))
        try:
            return await judge.ask(model, question(name))
        finally:
            await model.aclose()

    verdict = asyncio.run(ask())
    assert verdict.verdict in ("pass", "fail", "unknown"), verdict.error
    assert verdict.reason.strip()
    assert verdict.verdict != "fail" or any(quote.verified for quote in verdict.evidence)
    assert verdict.model_reported
    assert (verdict.input_tokens or 0) > 300
    assert (verdict.latency_ms or 0) > 0

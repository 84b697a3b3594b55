"""The same question with the names of the two verdicts exchanged: a judge that understands it answers the reverse."""

from __future__ import annotations

import json
import re
from typing import Any

from toolgrade.judges.judge import Judge
from toolgrade.judges.panel import Panel
from toolgrade.llm.port import Model, ModelRequest, ModelResponse
from toolgrade.prompts import Prompt, Rubric

_OTHER = {"pass": "fail", "fail": "pass", "passes": "fails", "fails": "passes"}
_WORDS = re.compile(r"\b(passes|fails|pass|fail)\b")
_TAGS = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)


def swap_words(text: str) -> str:
    """Return the text with pass and fail exchanged, outside template tags."""
    parts = _TAGS.split(text)
    return "".join(part if number % 2 else _WORDS.sub(_other, part) for number, part in enumerate(parts))


def _other(match: re.Match[str]) -> str:
    return _OTHER[match.group()]


def swapped_prompt(prompt: Prompt) -> Prompt:
    """Return the prompt with the two names exchanged wherever it speaks of verdicts; its data stay as they are."""
    old = prompt.rubric.model_dump(mode="json")
    labels = {swap_words(name): swap_words(meaning) for name, meaning in old["labels"].items()}
    texts = {name: _swap(old[name]) for name in ("question", "notes", "clauses", "examples")}
    ids = [{**new, "id": was["id"]} for new, was in zip(texts["clauses"], old["clauses"], strict=True)]
    rubric = Rubric.model_validate({**old, **texts, "clauses": ids, "labels": labels})
    return prompt._replace(rubric=rubric, system=swap_words(prompt.system), user=swap_words(prompt.user))


def _swap(value: Any) -> Any:
    if isinstance(value, str):
        return swap_words(value)
    if isinstance(value, dict):
        return {name: _swap(part) for name, part in value.items()}
    return [_swap(part) for part in value] if isinstance(value, list) else value


def swapped_panel(panel: Panel) -> Panel:
    """Return the panel asked under exchanged names; read its answers through a `TurningModel`."""
    judges = [Judge(judge.dimension, swapped_prompt(judge.prompt), judge.settings) for judge in panel.judges]
    return Panel(judges, panel.replicates)


class TurningModel:
    """A model whose verdicts are turned back before they are read, so that evidence rules apply to real failures."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the answer with its verdict turned round; what is no JSON object stays as it is."""
        response = await self._model.complete(request)
        try:
            answer = json.loads(response.text)
        except json.JSONDecodeError:
            return response
        if not isinstance(answer, dict) or answer.get("verdict") not in _OTHER:
            return response
        return response.model_copy(update={"text": json.dumps({**answer, "verdict": _OTHER[answer["verdict"]]})})

    async def aclose(self) -> None:
        """Do nothing: whoever opened the model closes it."""

"""BFCL question files: the messages before the model's turn, the functions on offer, the accepted answers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message
from toolgrade.formats.access import as_list, as_object
from toolgrade.formats.openai_chat import read_messages
from toolgrade.formats.record import Malformed
from toolgrade.formats.schemas import enums_to_items, rename_types
from toolgrade.formats.source import Source
from toolgrade.formats.tools import parse_tools

_FILE = re.compile(r"BFCL_v\d+_(\w+)\.json\Z")
_TYPES: dict[str, str | None] = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "any": None,
}


class BfclQuestion(NamedTuple):
    """One question: the messages before the model's turn, and the functions on offer as tools."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]


def category_of(source: Source) -> str | None:
    """Return the category that a question file's name carries, None for other names."""
    found = _FILE.fullmatch(source.path.name)
    return found[1] if found else None


def read_question(value: Any) -> BfclQuestion:
    """Return the single turn of a question, its schemas in the standard spelling (`dict` is `object`, …)."""
    item = as_object(value, "")
    turns = as_list(item.get("question"), "question")
    if len(turns) != 1:
        raise Malformed("question", f"{len(turns)} turns", "one turn", "Multi-turn categories are not supported.")
    functions = [
        as_object(function, f"function[{number}]")
        for number, function in enumerate(as_list(item.get("function"), "function"))
    ]
    standard = [
        function | {"parameters": enums_to_items(rename_types(function.get("parameters"), _TYPES))}
        for function in functions
    ]
    tools = parse_tools(standard, "function").values() if standard else ()
    return BfclQuestion(read_messages(turns[0], "question[0]"), tuple(tools))


class QuestionFiles:
    """The question files near a result file, each read once and only when a result needs it."""

    def __init__(self, source: Source) -> None:
        folders = (source.path.parent, source.path.parent.parent)
        files = next((found for folder in folders if (found := sorted(folder.glob("BFCL_v*.json")))), [])
        self._files = {category: file for file in map(Source, files) if (category := category_of(file))}
        self._questions: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, dict[str, Any]] = {}

    def category(self, question_id: str) -> str | None:
        """Return the category that an id belongs to, None where there is no file for it."""
        return max((name for name in self._files if question_id.startswith(f"{name}_")), key=len, default=None)

    def question(self, question_id: str) -> dict[str, Any] | None:
        """Return the question with this id as written, None where no file has it."""
        category = self.category(question_id)
        if category is None:
            return None
        if category not in self._questions:
            self._questions[category] = _by_id(self._files[category])
        return self._questions[category].get(question_id)

    def answer(self, question_id: str) -> Any:
        """Return the accepted calls for a question, None where `possible_answer/` has none."""
        category = self.category(question_id)
        if category is None:
            return None
        if category not in self._answers:
            self._answers[category] = read_answers(self._files[category])
        return self._answers[category].get(question_id)


def read_answers(questions: Source) -> dict[str, Any]:
    """Return the `ground_truth` of each id from `possible_answer/` beside a question file; `{}` without one."""
    file = questions.path.parent / "possible_answer" / questions.path.name
    found = _by_id(Source(file)) if file.is_file() else {}
    return {name: value.get("ground_truth") for name, value in found.items()}


def _by_id(source: Source) -> dict[str, Any]:
    values = (document.value for document in source.documents() if isinstance(document.value, dict))
    return {str(value.get("id")): value for value in values}

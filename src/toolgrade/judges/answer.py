"""What a judge must answer: the JSON Schema that is sent, and the strict reader of what comes back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from toolgrade.core.model import Frozen

if TYPE_CHECKING:
    from toolgrade.prompts import Rubric

UnknownReason = Literal["missing_evidence", "ambiguous_rubric", "not_applicable"]

# Models without structured output like to wrap all they say in one code block; taking it off is no search.
_CODE_BLOCK = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)


class BadAnswer(ValueError):
    """The answer is not the JSON that was asked for; the message says what is wrong, without repeating it."""


class Quote(Frozen):
    """A piece of evidence as the judge gave it: `field` names an input, or `rubric` for a clause."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    quote: str
    field: str


class Answer(Frozen):
    """A judge's answer as it was read, before its quotes are looked up."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    reason: str = Field(min_length=1)
    evidence: list[Quote]
    verdict: Literal["pass", "fail", "unknown"]
    unknown_reason: UnknownReason | None = None


def schema(rubric: Rubric) -> dict[str, Any]:
    """Return the JSON Schema of an answer; `reason` comes before `verdict`, so that it is written first."""
    fields = [*rubric.input_names, *(["rubric"] if rubric.omissions else [])]
    quote = {
        "type": "object",
        "properties": {"quote": {"type": "string"}, "field": {"type": "string", "enum": fields}},
        "required": ["quote", "field"],
        "additionalProperties": False,
    }
    reasons = ["missing_evidence", "ambiguous_rubric", "not_applicable", None]
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "evidence": {"type": "array", "items": quote},
            "verdict": {"type": "string", "enum": ["pass", "fail", "unknown"]},
            "unknown_reason": {"type": ["string", "null"], "enum": reasons},
        },
        "required": ["reason", "evidence", "verdict", "unknown_reason"],
        "additionalProperties": False,
    }


def read(text: str, rubric: Rubric) -> Answer:
    """Return the answer that `text` as a whole is.

    Nothing is searched for: text before or after the object, a key given twice, a key too many, another
    word for a verdict make it unreadable.

    Raises:
        BadAnswer: `text` is no such JSON object.
    """
    bare = text.strip()
    block = _CODE_BLOCK.match(bare)
    try:
        value = json.loads(block[1] if block else bare, object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise BadAnswer("the answer was nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadAnswer(f"the answer was not one JSON object ({error.msg} at character {error.pos})") from error
    try:
        answer = Answer.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"] if part in Answer.model_fields) or "the object"
        raise BadAnswer(f"{place}: {first['msg']}") from error
    allowed = {*rubric.input_names, "rubric"}
    if any(quote.field not in allowed for quote in answer.evidence):
        raise BadAnswer(f"evidence: field must be one of {', '.join(sorted(allowed))}")
    if not answer.reason.strip():
        raise BadAnswer("reason: must not be empty")
    return answer


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise BadAnswer("a key was given twice")
    return dict(pairs)


def _refuse(constant: str) -> Any:
    raise BadAnswer(f"{constant} is not JSON")

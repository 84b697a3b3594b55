"""BFCL model results: lines `{"id", "result"}`, or with `model_result_raw` and `model_result_decoded`.

The question files (`BFCL_v4_<category>.json`) give user messages and tools where they lie beside the results
or one folder above. A result is read in every shape that BFCL's handlers write: `[{name: arguments}]` with the
arguments as JSON text or object, Python calls as text (`[f(a=1)]`, parsed, never run), or prose without a call.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, ToolCall, Trace, Usage
from toolgrade.formats.access import as_list, as_object, as_text, describe, opt_int, opt_number, opt_text
from toolgrade.formats.bfcl_cases import question_case
from toolgrade.formats.bfcl_questions import QuestionFiles, category_of, read_answers, read_question
from toolgrade.formats.calls import read_call
from toolgrade.formats.format import Format
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Malformed, Record
from toolgrade.formats.source import Source

_END_TOKENS = re.compile(r"(?:<\|?\w+\|?>\s*)+\Z")  # `<end_of_turn>`, `<|im_end|>`, left over by raw decoding
_LITERALS = {"true": True, "false": False, "null": None}
_MAX_TEXT = 100_000
_KEPT_ELSEWHERE = ("id", "result", "model_result_decoded", "input_token_count", "output_token_count", "latency")


def read(source: Source) -> Iterator[Record]:
    """Yield one record a result."""
    files = QuestionFiles(source)
    return read_parts(source, lambda part: _build(part, files), _split)


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case for each question that the results answer, where its file lies near."""
    files = QuestionFiles(source)
    seen: set[str] = set()

    def answered(value: Any) -> Iterator[Part]:
        for part in _split(value):
            question_id = str(as_object(part.value, part.field).get("id"))
            if question_id not in seen and files.question(question_id) is not None:
                seen.add(question_id)
                yield part._replace(context=question_id)

    def case(part: Part, place: str) -> Case:
        category = files.category(part.context) or ""
        return question_case(files.question(part.context), category, files.answer(part.context), place)

    return read_cases(source, case, answered)


def question_cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case a question of a question file."""
    category = category_of(source) or ""
    answers = read_answers(source)

    def case(part: Part, place: str) -> Case:
        item = as_object(part.value, "")
        return question_case(item, category, answers.get(str(item.get("id"))), place)

    return read_cases(source, case)


def _split(value: Any) -> Iterator[Part]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield Part(item, f"[{number}]")
    else:
        yield Part(value)


def _build(part: Part, files: QuestionFiles) -> Trace:
    item = as_object(part.value, "")
    question_id = as_text(item.get("id"), "id")
    written = files.question(question_id)
    question = None if written is None else read_question(written)
    names = {} if question is None else {tool.name.replace(".", "_"): tool.name for tool in question.tools}
    model = opt_text(item.get("model", item.get("model_name")), "model")
    latency = opt_number(item.get("latency"))
    given, made = opt_int(item.get("input_token_count")), opt_int(item.get("output_token_count"))
    return Trace(
        id=f"{model}:{question_id}" if model else question_id,
        case_id=question_id,
        messages=((*question.messages,) if question else ()) + (_answer(item, names),),
        tools=question.tools if question else None,
        model=model,
        latency_ms=None if latency is None else latency * 1000,
        usage=None if given is None and made is None else Usage(input_tokens=given, output_tokens=made),
        metadata={key: value for key, value in item.items() if key not in _KEPT_ELSEWHERE and key != "model"},
    )


def _answer(item: dict[str, Any], names: dict[str, str]) -> Message:
    """Return the assistant's message; API names (`math_sqrt`) get back the dots of the function they stand for."""
    if isinstance(item.get("model_result_decoded"), list):
        field, result = "model_result_decoded", item["model_result_decoded"]
    else:
        field = next((key for key in ("result", "model_result_raw", "model_result") if key in item), "result")
        result = item.get(field)
    if isinstance(result, list) and result and all(isinstance(line, str) for line in result):
        result = "\n".join(result)
    if isinstance(result, str):
        calls = python_calls(result)
        if calls is None:
            return Message(role="assistant", content=result)
        result = [{name: arguments} for name, arguments in calls]
    made = tuple(_calls(result, field, names))
    return Message(role="assistant", tool_calls=made)


def _calls(result: Any, field: str, names: dict[str, str]) -> Iterator[ToolCall]:
    for number, item in enumerate(as_list(result, field)):
        place = f"{field}[{number}]"
        if isinstance(item, list):
            raise Malformed(place, describe(item), "a call {name: arguments}", "Multi-turn results are not supported.")
        for name, arguments in as_object(item, place).items():
            yield read_call(names.get(name, name), arguments, None, f"{place}.{name}")


def python_calls(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls in text like `[f(a=1), g.h(b="x")]`; None where it is anything else, prose above all.

    The text is parsed, never run: values must be literals (JSON's `true`, `false` and `null` count) or bare
    names, which stand for their own text as in BFCL's decoder.
    """
    if len(text) > _MAX_TEXT:
        return None
    bare = _END_TOKENS.sub("", text).strip().strip("`").strip()
    if not bare.endswith((")", "]")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            body = ast.parse(bare, mode="eval").body
        nodes = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
        return [_python_call(node) for node in nodes]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
        raise ValueError("no call with named arguments")
    name = ast.unparse(node.func)
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError("no name")
    return name, {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return _LITERALS.get(node.id, node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = [_literal(key) for key in node.keys if key is not None]
        return {str(key): _literal(value) for key, value in zip(keys, node.values, strict=True)}
    value = ast.literal_eval(node)
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    raise ValueError("no JSON value")


def _detect(source: Source) -> bool:
    first = source.first_object
    if not isinstance(first.get("id"), str):
        return False
    return "model_result_decoded" in first or ("result" in first and isinstance(first["result"], list | str))


def _detect_questions(source: Source) -> bool:
    first = source.first
    return isinstance(first, dict) and "question" in first and "function" in first and "id" in first


FORMAT = Format(
    name="bfcl",
    description="BFCL model results, with questions and tools from the question files beside them",
    looked_for='lines with "id" and "result", or "model_result_decoded"',
    detect=_detect,
    read=read,
    cases=cases,
)

QUESTIONS = Format(
    name="bfcl-questions",
    description="BFCL questions with their possible answers, as cases",
    looked_for='lines with "id", "question" and "function"',
    detect=_detect_questions,
    cases=question_cases,
)

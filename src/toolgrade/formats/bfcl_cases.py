"""BFCL questions and possible answers as cases.

A possible answer lists the accepted values of every parameter; `""` among them means that the parameter may be
left out. That becomes a `one_of` comparator with `or_absent`, and parameters beyond the listed ones are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.expected import ArgumentsExpected, Comparator, Expected, SelectionExpected
from toolgrade.formats.access import as_list, as_object, as_text
from toolgrade.formats.bfcl_questions import BfclQuestion, read_question
from toolgrade.formats.record import Malformed

_MAX_VALUES = 4096
_ABSENT = object()


def question_case(value: Any, category: str, answer: Any, place: str) -> Case:
    """Return the case for a question as written, its category, and the accepted calls (None: no expectation).

    Raises:
        Malformed: the question or the answer has another shape.
    """
    item = as_object(value, "")
    question = read_question(item)
    return Case(
        id=as_text(item.get("id"), "id"),
        input=tuple({"role": message.role, "content": message.content} for message in question.messages),
        tags=(f"bfcl:{category}", *(("no_tool",) if category.endswith("irrelevance") else ())),
        expected=_expected(category, question, answer),
        tools=question.tools,
        place=place,
    )


def _expected(category: str, question: BfclQuestion, truth: Any) -> Expected | None:
    if category.endswith("irrelevance"):
        return Expected(selection=SelectionExpected(required=()))
    if category.endswith("relevance"):  # any call at all is right
        names = [tool.name for tool in question.tools]
        others = tuple((name,) for name in names[1:])
        return Expected(selection=SelectionExpected(required=tuple(names[:1]), alternatives=others))
    if truth is None:
        return None
    calls = [
        (name, as_object(parameters, f"ground_truth[{number}].{name}"))
        for number, call in enumerate(as_list(truth, "ground_truth"))
        for name, parameters in as_object(call, f"ground_truth[{number}]").items()
    ]
    return Expected(
        selection=SelectionExpected(required=tuple(name for name, _ in calls), extras="forbid"),
        arguments=tuple(_arguments(name, parameters) for name, parameters in calls),
    )


def _arguments(tool: str, parameters: dict[str, Any]) -> ArgumentsExpected:
    values: dict[str, Any] = {}
    compare: dict[str, Comparator] = {}
    for name, accepted in parameters.items():
        options = [option for value in as_list(accepted, name) for option in _expand(value, name)]
        may_lack = "" in accepted
        real = [option for option in options if option != ""] or options
        values[name] = real[0] if real else None
        if not options:  # the answer file accepts nothing; nothing can be compared
            compare[_path(name)] = Comparator(kind="ignore", or_absent=True)
        elif len(options) > 1 or may_lack:
            compare[_path(name)] = Comparator(kind="one_of", values=tuple(options), or_absent=may_lack)
    compared = {"compare": compare} if compare else {}
    return ArgumentsExpected(tool=tool, values=values, extras="forbid", **compared)


def _expand(value: Any, field: str) -> list[Any]:
    """Return every value that an accepted value stands for: BFCL lists alternatives inside objects, by key."""
    if isinstance(value, dict):
        return _limited(_objects(value, field), field)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _limited((list(items) for items in product(*(_expand(item, field) for item in value))), field)
    return [value]


def _objects(value: dict[str, Any], field: str) -> Iterator[dict[str, Any]]:
    keys = list(value)
    choices = [
        [_ABSENT if option == "" else option for option in as_list(value[key], f"{field}.{key}")] for key in keys
    ]
    for chosen in product(*choices):
        yield {key: item for key, item in zip(keys, chosen, strict=True) if item is not _ABSENT}


def _limited(values: Iterator[Any], field: str) -> list[Any]:
    out = list(islice(values, _MAX_VALUES + 1))
    if len(out) > _MAX_VALUES:
        raise Malformed(field, f"more than {_MAX_VALUES} combinations", "fewer alternatives")
    return out


def _path(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"$.{name}"
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"$['{quoted}']"

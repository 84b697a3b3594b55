"""argument_grounding/bfcl_answers and route_choice/bfcl_irrelevance: derived from BFCL, by no person."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from writing import Labelled, Said, draw, lines, write_pairs

from toolgrade.calibration.item import Draft
from toolgrade.core.identity import content_hash
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.bfcl_questions import BfclQuestion, read_question
from toolgrade.gates.grounding import Evidence

PER_LABEL = 150
WRONG_VALUE = re.compile(r"Invalid value for parameter '([^']+)'")
OUTPUTS = "bfcl/model_outputs_with_ast_checker_verdicts.jsonl"
SOURCE = "bfcl-eval 2026.3.23"
ARGUMENTS: dict[str, Any] = {
    "dimension": "argument_grounding",
    "name": "bfcl_answers",
    "title": "Real calls of three models, their values held against BFCL's human-written possible answers",
    "source": f"{SOURCE}; outputs from pull requests to https://github.com/ShishirPatil/gorilla",
    "licence": "Apache-2.0",
    "labelled_by": "derived by BFCL's checker from answers that people wrote; no person labelled these calls",
    "human": False,
    "sampling": f"at most {PER_LABEL} calls with a value outside the possible answers and {PER_LABEL} without, at "
    "random within each; left out: calls whose value adds words to a possible answer, drops some or reorders them",
    "sampling_design": "label_stratified",
    "rubric_version": "1.0",
    "strata": ["questions"],
    "single_roles": ["derived"],
    "salt": "bfcl-1",
    "notes": "Derived, not human: some values outside the list still say what the user meant (UK for GB, another time "
    "format), so that a good judge disagrees with some of these labels. All values of a call are in question, where a "
    "run asks about what its gate left open. Such a set never makes a judge trusted. Not to "
    "be concluded: a judge's accuracy, for the labels are no truth; how often models get values wrong, for half of "
    "these are by the sampling. Good for comparing two judges and for seeing one change.",
}
ROUTES: dict[str, Any] = {
    "dimension": "route_choice",
    "name": "bfcl_irrelevance",
    "title": "The one tool on offer, for a request that it was not made for and for one that it was",
    "source": f"{SOURCE}; valid calls from pull requests to https://github.com/ShishirPatil/gorilla",
    "licence": "Apache-2.0",
    "labelled_by": "derived from the benchmark's categories and checker; no person labelled these calls",
    "human": False,
    "sampling": "120 of the 240 irrelevance questions and 120 of the simple questions that a model answered with a "
    "valid call, at random within each",
    "sampling_design": "label_stratified",
    "rubric_version": "1.0",
    "single_roles": ["derived"],
    "salt": "irr-1",
    "notes": "Derived, not human. On irrelevance questions the tool on offer counts as called, whether or not a model "
    "called it. The expected tools are left empty for all items, so that they do not give the label away. Irrelevance "
    "questions of the live categories are left out: there the tool often fits and only a value is missing, which is "
    "another question. Not to be concluded: how a judge does where several tools were called or two would do; how "
    "often agents take a wrong route.",
}


def cases(data: Path, *categories: str) -> dict[str, dict[str, Any]]:
    return {r["id"]: r for c in categories for r in lines(data / f"bfcl/BFCL_v4_{c}.json")}


def called(question: BfclQuestion, name: str) -> ToolSpec | None:
    """Return the tool that was called; models write `_` for the `.` that their interface forbids."""
    plain = name.replace(".", "_")
    return next((tool for tool in question.tools if tool.name.replace(".", "_") == plain), None)


def arguments(data: Path, root: Path) -> None:
    categories = ("simple_python", "multiple", "live_simple", "live_multiple")
    known = cases(data, *categories)
    answers = {
        r["id"]: r["ground_truth"] for c in categories for r in lines(data / f"bfcl/possible_answer/BFCL_v4_{c}.json")
    }
    made: dict[str, Labelled] = {}
    for record in lines(data / OUTPUTS):
        calls = record["model_result_decoded"]
        word = "pass" if record["valid"] else "fail" if WRONG_VALUE.match(" ".join(record["error"])) else None
        if record["id"] not in known or word is None or not isinstance(calls, list) or len(calls) != 1:
            continue
        ((name, values),) = calls[0].items()
        question = read_question(known[record["id"]])
        tool = called(question, name)
        if tool is None or not values or (word == "fail" and _in_other_words(record, values, answers[record["id"]])):
            continue
        item_id = f"{record['id']}/{content_hash(values)[7:15]}"
        why = " ".join(record["error"]) if word == "fail" else ""
        draft = Draft(
            item_id=item_id,
            trace_id=record["id"],
            fields=_asked(question, ToolCall(name=tool.name, arguments=values)),
            strata={"questions": "live" if record["id"].startswith("live") else "written"},
        )
        made.setdefault(item_id, (draft, Said(item_id, "bfcl-possible-answers", "derived", word, why)))
    write_pairs(root, ARGUMENTS, draw(made.values(), PER_LABEL, np.random.default_rng(2)))


def _asked(question: BfclQuestion, call: ToolCall) -> dict[str, Any]:
    """Return the fields that the gate itself gives its judge, with every value of the call in question."""
    messages = (*question.messages, Message(role="assistant", tool_calls=(call,)))
    view = TraceView(Trace(id="one", messages=messages), {tool.name: tool for tool in question.tools})
    values = {f"/{name}": value for name, value in (call.arguments or {}).items()}
    return Evidence(view).fields(view.calls[0], values)


def _in_other_words(record: dict[str, Any], values: dict[str, Any], answer: list[dict[str, Any]]) -> bool:
    """Return whether the value that the checker names differs from a possible one by added or reordered words only."""
    named = WRONG_VALUE.match(" ".join(record["error"]))
    ((_, allowed),) = answer[0].items()
    if named is None or named[1] not in values or named[1] not in allowed:
        return False
    given = _words(values[named[1]])
    return bool(given) and any(
        words and (set(words) <= set(given) or set(given) <= set(words)) for words in map(_words, allowed[named[1]])
    )


def _words(value: Any) -> list[str]:
    return re.findall(r"\w+", str(value).casefold())


def route(item_id: str, trace: str, fields: dict[str, Any], word: str) -> Labelled:
    why = "the benchmark says that no tool on offer can do what was asked" if word == "fail" else ""
    draft = Draft(item_id=item_id, trace_id=trace, fields={**fields, "expected": []})
    return draft, Said(item_id, "benchmark", "derived", word, why)


def routes(data: Path, root: Path) -> None:
    irrelevant, simple = cases(data, "irrelevance"), cases(data, "simple_python")
    made = {name: _only_tool(case, "fail") for name, case in irrelevant.items()}
    for record in lines(data / OUTPUTS):
        if record["valid"] and record["id"] in simple:
            made.setdefault(record["id"], _only_tool(simple[record["id"]], "pass"))
    write_pairs(root, ROUTES, draw(made.values(), 120, np.random.default_rng(3)))


def _only_tool(case: dict[str, Any], word: str) -> Labelled:
    question = read_question(case)
    (tool,) = question.tools
    fields = {
        "request": [message.content for message in question.messages if message.role == "user"],
        "tools": [{"name": tool.name, "description": tool.description}],
        "called": [tool.name],
    }
    return route(case["id"], case["id"], fields, word)

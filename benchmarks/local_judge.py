"""Ask a judge's model twenty real questions and print what it answered, one JSON line each.

    python benchmarks/local_judge.py SHARED MODEL [--judge-base-url URL] [--list]

SHARED is the folder of real data. The questions are those that gates leave open in the τ-bench airline runs
(gpt-4o) and, for `argument_grounding`, in BFCL outputs (three that BFCL's own checker calls valid, two that it
does not). They are taken in the order of the files, one of a dimension in a task, and short enough for a small
model on slow hardware: five of each dimension; where a dimension has fewer, the rest is `result_utilization`.
`--list` prints the prompts and asks nothing. Read the answers: nothing here knows which are right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from toolgrade.core.verdict import Question
from toolgrade.core.view import TraceView
from toolgrade.formats.cases import load_suite
from toolgrade.formats.convert import convert
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.formats.tools import load_tools
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.selection import check_selection
from toolgrade.gates.utilization import check_utilization
from toolgrade.judges.asking import Asking
from toolgrade.judges.dimensions import dimension, names
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Panel
from toolgrade.llm import open_model
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.limits import Limits, estimated_tokens
from toolgrade.llm.port import ModelParams, ModelRequest
from toolgrade.prompts import load

EACH, IN_ALL, LONGEST = 5, 20, 1925
LONGEST_EPISODE = 3000
"""Tokens of a prompt, about; the airline runs have few episodes left open, and all are long."""


def questions(shared: Path) -> Iterator[tuple[str, Question]]:
    """Yield trace id and question, trace by trace; a missing gold action is a question about the route."""
    source = shared / "data/tau_bench_airline/gpt-4o-airline.json"
    tools = load_tools(source.with_name("tools_airline.json"))
    with tempfile.TemporaryDirectory() as folder:
        made = convert(source, Path(folder), source.with_name("tools_airline.json"))
        cases = load_suite(made.cases, tools).cases if made.cases is not None else {}
    for record in read_traces(source):
        if record.trace is None:
            continue
        view = TraceView(record.trace, tools)
        case = cases.get(record.trace.case_id or "")
        gold = case.expected.selection if case is not None and case.expected is not None else None
        for result in (
            check_selection(gold.model_copy(update={"judge_routes": True}) if gold else None, view),
            check_utilization(None, view),
            check_recovery(None, view),
        ):
            for question in result.questions:
                yield record.trace.id, question


def arguments(shared: Path) -> Iterator[tuple[str, Question]]:
    """Yield trace id and question of calls with values that occur nowhere in the request: 3 valid, 2 invalid."""
    path = shared / "data/bfcl/model_outputs_with_ast_checker_verdicts.jsonl"
    cases = {
        record.case.id: record.case
        for source, reader in find_sources(path)
        if not isinstance(reader, str) and reader.cases is not None
        for record in reader.cases(source)
        if record.case is not None
    }
    left = {True: 3, False: 2}
    for record in read_traces(path):
        trace = record.trace
        if trace is None or not left[trace.metadata["valid"]]:
            continue
        view = TraceView(trace, {tool.name: tool for tool in cases[trace.case_id or ""].tools or ()})
        for question in check_arguments(None, view).questions[:1]:
            left[trace.metadata["valid"]] -= 1
            yield trace.id, question


def chosen(shared: Path, panels: dict[str, Panel]) -> list[tuple[str, Question]]:
    """Return the twenty: five of each dimension, at most one of a dimension in a task, none too long."""
    seen: set[tuple[str, str]] = set()
    picked: list[tuple[str, Question]] = []
    spare: list[tuple[str, Question]] = []
    counts: Counter[str] = Counter()
    for trace_id, question in (*arguments(shared), *questions(shared)):
        judge = panels[question.dimension].judges[0]
        size = estimated_tokens(ModelRequest(model="any", messages=judge.prepare(question).messages))
        task = (trace_id.split("-trial-")[0], question.dimension)
        if size > (LONGEST_EPISODE if question.dimension == "recovery_quality" else LONGEST) or task in seen:
            continue
        seen.add(task)
        if counts[question.dimension] < EACH:
            counts[question.dimension] += 1
            picked.append((trace_id, question))
        elif question.dimension == "result_utilization":
            spare.append((trace_id, question))
    # One dimension after the other: the server keeps what their prompts have in common.
    return sorted(picked + spare[: IN_ALL - len(picked)], key=lambda item: item[1].dimension)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", type=Path)
    parser.add_argument("model")
    parser.add_argument("--judge-base-url")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    params = ModelParams(max_tokens=400)
    settings = JudgeSettings(model=given.model, api_base=given.judge_base_url, timeout_s=900, params=params)
    panels = {name: Panel([Judge(dimension(name), load(name), settings)]) for name in names()}
    asked = chosen(given.shared, panels)
    if given.list:
        for trace_id, question in asked:
            prepared = panels[question.dimension].judges[0].prepare(question)
            print(f"##### {question.dimension} {trace_id} {question.place}\n{prepared.messages[1].content}\n")
        return
    model = open_model(Limits(concurrency=1))
    with tempfile.TemporaryDirectory() as folder, VerdictCache(Path(folder), "off") as cache:
        for trace_id, question in asked:
            (ask,) = panels[question.dimension].asks(question)
            answers = await Asking(model, cache, 1).run([ask])
            verdict = answers.verdicts[ask.key]
            line = verdict.model_dump(mode="json", exclude_defaults=True, exclude={"judge_id", "question_id"})
            print(json.dumps({"trace": trace_id, "step": question.place.step, **line}, ensure_ascii=False), flush=True)
    await model.aclose()


if __name__ == "__main__":
    asyncio.run(main())

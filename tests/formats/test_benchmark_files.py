"""The benchmarks' own files: every count below was published with the data or is stated by its MANIFEST."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest

from toolgrade.core.case import Case
from toolgrade.core.expected import (
    ArgumentsExpected,
    Comparator,
    Expected,
    OutcomeExpected,
    SelectionExpected,
    StateAssertion,
)
from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.errors import ConfigError
from toolgrade.formats import bfcl, tau2, tau_bench
from toolgrade.formats.bfcl import python_calls
from toolgrade.formats.cases import load_suite
from toolgrade.formats.convert import convert
from toolgrade.formats.registry import detect_format, read_traces
from toolgrade.formats.source import Source

TAU = "tau_bench_airline/gpt-4o-airline.json"
TAU2 = "tau2/gym_{}_default_gpt-4.1_1trials.json"
FT = "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm"


def traces(path: Path) -> list[Trace]:
    records = list(read_traces(path))
    assert [record.error for record in records if record.error] == []
    return [record.trace for record in records if record.trace]


def counted(found: list[Trace]) -> tuple[int, int]:
    views = [TraceView(trace) for trace in found]
    assert not any(view.unmatched_results for view in views)
    calls = [call for view in views for call in view.calls]
    return len(calls), sum(call.result is not None for call in calls)


def cases_of(path: Path) -> dict[str, Case]:
    format = detect_format(path)
    assert format.cases is not None
    found = [record.case for record in format.cases(Source(path)) if record.case]
    cases = {case.id: case for case in found}
    assert len(cases) == len(found)
    return cases


@pytest.mark.shared
def test_tau_bench_airline(shared: Path) -> None:
    path = shared / "data" / TAU
    assert detect_format(path) is tau_bench.FORMAT
    found = traces(path)
    assert len(found) == 200 and counted(found) == (1164, 1164)
    assert Counter(trace.final_state["reward"] for trace in found) == {1.0: 84, 0.0: 116}
    assert {trace.final_state_basis for trace in found} == {"recorded_verdict"}
    assert len({trace.id for trace in found}) == 200 and found[-1].id == "task-49-trial-3"
    cases = cases_of(path)
    required = {
        name: case.expected.selection.required if case.expected.selection else () for name, case in cases.items()
    }
    assert sum(len(required[trace.case_id]) for trace in found) == 632  # expected actions over all trials
    assert cases["task-1"].expected == Expected(
        selection=SelectionExpected(required=("cancel_reservation",)),
        arguments=(ArgumentsExpected(tool="cancel_reservation", values={"reservation_id": "Z7GOZK"}),),
        outcome=OutcomeExpected(state=(StateAssertion(path="$.reward", equals=1),)),
    )
    empty = [case for name, case in cases.items() if not required[name]]
    assert len(empty) == 7 and all(case.expected.selection is None and case.expected.outcome for case in empty)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "sims", "passed", "calls", "checks"),  # the table in the data's MANIFEST
    [
        (TAU2.format("gpt-4.1_airline"), 20, 10, 148, 61),
        (TAU2.format(f"{FT}_airline"), 20, 13, 147, 61),
        (TAU2.format("gpt-4.1_retail"), 40, 34, 299, 186),
        (TAU2.format(f"{FT}_retail"), 40, 34, 292, 186),
    ],
)
def test_tau2_bench(shared: Path, file: str, sims: int, passed: int, calls: int, checks: int) -> None:
    path = shared / "data" / file
    assert detect_format(path) is tau2.FORMAT
    found = traces(path)
    assert len(found) == sims and counted(found)[0] == calls
    assert sum(trace.final_state == {"reward": 1.0} for trace in found) == passed
    cases = cases_of(path)
    assert {trace.case_id for trace in found} == set(cases)
    assert sum(len(case.expected.selection.required) for case in cases.values() if case.expected.selection) == checks


def test_the_tau2_user_s_own_calls_are_kept_apart_from_the_agent_s(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "Please switch it on."},
        {"role": "user", "content": None, "tool_calls": [
            {"id": "u1", "name": "toggle_data", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user", "error": False},
        {"role": "user", "content": "Done."},
        {"role": "assistant", "tool_calls": [
            {"id": "a1", "name": "check", "arguments": {"x": 1}, "requestor": "assistant"},
            {"id": "a2", "name": "check", "arguments": {"x": 2}, "requestor": "assistant"}]},
        {"role": "tool", "tool_messages": [
            {"role": "tool", "id": "a2", "content": "2", "requestor": "assistant", "error": True},
            {"role": "tool", "id": "a1", "content": "1", "requestor": "assistant", "error": False}]},
    ]  # fmt: skip
    run = {"info": {}, "tasks": [], "simulations": [{"task_id": "1", "messages": messages}]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run))
    (trace,) = traces(file)
    assert [message.role for message in trace.messages] == ["assistant", "user", "assistant", "tool", "tool"]
    assert [(call.call.arguments, call.result.content, call.result.is_error) for call in TraceView(trace).calls] == [
        ({"x": 1}, "1", False),
        ({"x": 2}, "2", True),
    ]
    assert [item["id"] for item in trace.metadata["user_tool_calls"]] == ["u1", "u1"]


def test_tau2_compares_only_the_arguments_that_a_task_names(tmp_path: Path) -> None:
    actions = [
        {"requestor": "assistant", "name": "f", "arguments": {"a": 1, "b": 2}, "compare_args": ["a"]},
        {"requestor": "assistant", "name": "g", "arguments": {"a": 1}, "compare_args": []},
        {"requestor": "user", "name": "h", "arguments": {}},
    ]
    task = {"id": "1", "evaluation_criteria": {"actions": actions}}
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"info": {}, "tasks": [task], "simulations": []}))
    (case,) = cases_of(file).values()
    assert case.expected.selection.required == ("f", "g")
    assert [(entry.tool, entry.values) for entry in case.expected.arguments] == [("f", {"a": 1})]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "results", "silent"),  # right answers as published with the results
    [("glyphh_irrelevance_result.jsonl", 240, 205), ("glyphh_live_irrelevance_result.jsonl", 884, 793)],
)
def test_bfcl_results_without_a_call(shared: Path, file: str, results: int, silent: int) -> None:
    path = shared / "data" / "bfcl" / file
    assert detect_format(path) is bfcl.FORMAT
    found = traces(path)
    assert len(found) == results
    assert sum(not TraceView(trace).calls for trace in found) == silent
    assert all(trace.tools is not None and trace.messages[0].role in ("system", "user") for trace in found)
    cases = cases_of(path)
    assert len(cases) == results
    assert all(case.expected.selection.required == () and "no_tool" in case.tags for case in cases.values())


@pytest.mark.shared
def test_bfcl_results_of_three_models(shared: Path) -> None:
    found = traces(shared / "data" / "bfcl" / "model_outputs_with_ast_checker_verdicts.jsonl")
    assert len(found) == 3151 and len({trace.id for trace in found}) == 3151
    assert Counter(trace.model.split("_")[1].split("-")[0] for trace in found) == {
        "claude": 400,
        "DeepSeek": 400,
        "gemma4": 2351,
    }
    assert sum(trace.metadata["valid"] for trace in found) == 392 + 241 + 1942
    offered = [{tool.name for tool in trace.tools} for trace in found]
    called = [{call.call.name for call in TraceView(trace).calls} for trace in found]
    assert all(names <= tools for names, tools in zip(called, offered, strict=True))


@pytest.mark.shared
def test_bfcl_python_text_decodes_as_the_benchmark_decoded_it(shared: Path) -> None:
    """bfcl-eval's own decoder made `model_result_decoded`. It reads JSON's `true` and `null` as text, we as JSON."""
    file = shared / "data" / "bfcl" / "model_outputs_with_ast_checker_verdicts.jsonl"
    seen: Counter[str] = Counter()
    for line in file.read_text().splitlines():
        record = json.loads(line)
        if not isinstance(record["model_result_raw"], str):
            continue
        ours, theirs = python_calls(record["model_result_raw"]), record["model_result_decoded"]
        calls = None if theirs is None else [pair for call in theirs for pair in call.items()]
        if ours == calls:
            seen["same"] += 1
        elif json.dumps(ours).replace('"', "") == json.dumps(calls).replace('"', ""):
            seen["JSON literal"] += 1
        else:
            seen["other"] += 1
    assert seen == {"same": 2426, "JSON literal": 76}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("category", "count"),  # the data's MANIFEST
    [("simple_python", 400), ("multiple", 200), ("parallel", 200), ("parallel_multiple", 200), ("irrelevance", 240),
     ("live_simple", 258), ("live_multiple", 1053), ("live_parallel", 16), ("live_parallel_multiple", 24),
     ("live_irrelevance", 884), ("live_relevance", 16)],
)  # fmt: skip
def test_bfcl_questions_are_cases_with_valid_schemas(shared: Path, category: str, count: int) -> None:
    cases = cases_of(shared / "data" / "bfcl" / f"BFCL_v4_{category}.json")
    assert len(cases) == count and all(case.expected for case in cases.values())
    for case in cases.values():
        for tool in case.tools:
            jsonschema_rs.validator_for(tool.parameters)


@pytest.mark.shared
@pytest.mark.parametrize(
    "file",
    [TAU, TAU2.format("gpt-4.1_retail"), "bfcl/glyphh_irrelevance_result.jsonl", "bfcl/BFCL_v4_live_simple.json"],
)
def test_what_convert_writes_reads_back_equal(shared: Path, tmp_path: Path, file: str) -> None:
    source = shared / "data" / file
    done = convert(source, tmp_path)
    assert done.errors == ()
    if done.traces is not None:
        assert traces(tmp_path) == traces(source)
    written = load_suite(done.cases).cases
    assert {name: case.model_dump() for name, case in written.items()} == {
        name: case.model_dump() for name, case in cases_of(source).items()
    }


@pytest.mark.shared
def test_bfcl_answers_keep_their_meaning(shared: Path) -> None:
    """`{"side1": [5], …, "get_area": ["", true]}` and an object with two texts for one key, read from the files."""
    cases = cases_of(shared / "data" / "bfcl" / "BFCL_v4_multiple.json")
    (entry,) = cases["multiple_0"].expected.arguments
    assert (entry.tool, entry.extras) == ("triangle_properties.get", "forbid")
    assert entry.values["side1"] == 5 and "$.side1" not in entry.compare
    assert entry.compare["$.get_area"] == Comparator(kind="one_of", values=("", True), or_absent=True)
    live = cases_of(shared / "data" / "bfcl" / "BFCL_v4_live_multiple.json")
    (entry,) = live["live_multiple_0-0-0"].expected.arguments
    options = entry.compare["$.new_preferences"].values
    assert [option["special_instructions"] for option in options] == [
        "served boiling hot",
        "serve boiling hot",
        "boiling hot",
        "served 'boiling hot'",
    ]
    assert all(option["milk_type"] == "coconut" for option in options)


def test_convert_makes_ids_unique_and_leaves_one_suite(tmp_path: Path) -> None:
    run = {"task_id": 1, "trial": 0, "reward": 1.0, "info": {"task": {"actions": []}}, "traj": []}
    source = tmp_path / "in" / "runs.json"
    source.parent.mkdir()
    source.write_text(json.dumps([run, run, run]))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cases.jsonl").write_text("of an earlier conversion")
    done = convert(source, tmp_path / "out")
    assert [trace.id for trace in traces(tmp_path / "out")] == [
        "task-1-trial-0",
        "task-1-trial-0~2",
        "task-1-trial-0~3",
    ]
    assert done.case_count == 1 and sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "cases.yaml",
        "traces.jsonl",
    ]


def test_convert_names_two_different_cases_of_one_id(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name, task in (("a.json", "one thing"), ("b.json", "another thing")):
        run = {"task_id": 1, "trial": 0, "reward": 1.0, "info": {"task": {"instruction": task}}, "traj": []}
        (source / name).write_text(json.dumps([run]))
    done = convert(source, tmp_path / "out")
    assert done.case_count == 1
    assert done.errors == (
        f"{source}/b.json: [0]: case 'task-1': found another case with this id than at {source}/a.json: [0], "
        "expected each id once. Convert the files into separate directories.",
    )
    with pytest.raises(ConfigError, match="would be read again"):
        convert(tmp_path, tmp_path / "out")

"""The gates on real recordings, against verdicts that others gave.

BFCL: `valid` in the file is the verdict of bfcl-eval's released AST checker. τ-bench: the recorded reward.
τ²-bench: `action_match`, recorded by its own evaluator. The counts of calls are those of the data itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from toolgrade.core.expected import ArgumentsExpected, EfficiencyExpected, OrderingExpected
from toolgrade.core.tool import ToolSpec
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.efficiency import check_efficiency
from toolgrade.gates.ordering import check_ordering
from toolgrade.gates.outcome import check_outcome
from toolgrade.gates.pairing import is_right, paired
from toolgrade.gates.selection import check_selection

pytestmark = pytest.mark.shared


def tools_of(path: Path) -> dict[str, ToolSpec]:
    functions = [item["function"] for item in json.loads(path.read_text())]
    return {item["name"]: ToolSpec(name=item["name"], parameters=item["parameters"]) for item in functions}


def test_bfcl_disagreements_are_few_and_each_has_a_class(shared, benchmark_module, capsys):
    bfcl = benchmark_module("bfcl_agreement")
    bfcl.main([str(shared / "data/bfcl/model_outputs_with_ast_checker_verdicts.jsonl")])
    line = json.loads(capsys.readouterr().out)
    assert line["outputs"] == 3151
    assert line["agreement"] >= 0.98
    assert line["disagreements"] == {
        "theirs_valid": {"punctuation_folding": 24, "case_folding": 16, "answer_breaks_schema": 4},
        "theirs_invalid": {"integer_in_float_array": 10, "default_omitted": 8, "empty_array": 1},
    }


def test_tau_bench_gold_calls_against_the_recorded_reward(shared, benchmark_module, capsys):
    tau = benchmark_module("tau_agreement")
    tau.main([str(shared / "data/tau_bench_airline/gpt-4o-airline.json")])
    line = json.loads(capsys.readouterr().out)
    assert (line["calls"], line["gold_calls"]) == (1164, 632)
    assert line["gold_complete"] == {
        "rewarded_yes": 57,
        "rewarded_no": 27,
        "unrewarded_yes": 19,
        "unrewarded_no": 97,
    }
    classes = Counter(line["rewarded_but_incomplete"]) + Counter(line["complete_but_unrewarded"])
    assert "unclassified" not in classes
    assert classes.total() == 27 + 19


def test_tau_bench_has_four_parameters_that_the_schema_lacks_and_no_other_schema_error(shared):
    folder = shared / "data/tau_bench_airline"
    tools = tools_of(folder / "tools_airline.json")
    found = []
    calls = 0
    for record in read_traces(folder / "gpt-4o-airline.json"):
        view = TraceView(record.trace, tools)
        calls += len(view.calls)
        found += [(record.trace.id, one) for one in check_arguments(None, view).findings]
    assert calls == 1164
    assert [(trace, one.name, one.place.tool, one.place.pointer) for trace, one in found] == [
        ("task-5-trial-1", "hallucinated_parameter", "update_reservation_flights", pointer)
        for pointer in (
            "/flights/0/origin",
            "/flights/0/destination",
            "/flights/1/origin",
            "/flights/1/destination",
        )
    ]


def test_tau2_action_checks_agree_alone_and_differ_only_in_duplicates_one_to_one(shared):
    alone = together = checks = 0
    differing = []
    for path in sorted((shared / "data/tau2").glob("gym*.json")):
        tools = tools_of(shared / f"data/tau2/tools_{'airline' if '_airline_' in path.name else 'retail'}.json")
        simulations = json.loads(path.read_text())["simulations"]
        for simulation, record in zip(simulations, read_traces(path), strict=True):
            view = TraceView(record.trace, tools)
            actions = simulation["reward_info"]["action_checks"] or []
            entries = tuple(
                ArgumentsExpected(tool=one["action"]["name"], values=one["action"]["arguments"]) for one in actions
            )
            recorded = [one["action_match"] for one in actions]
            checks += len(actions)
            alone += sum(
                met(paired((entry,), view)[0]) == match for entry, match in zip(entries, recorded, strict=True)
            )
            for pair, match in zip(paired(entries, view), recorded, strict=True):
                together += met(pair) == match
                if met(pair) != match:
                    differing.append(pair.entry)
    assert (checks, alone, checks - together) == (494, 494, 8)
    assert {entry.tool for entry in differing} == {"get_order_details"}


@pytest.mark.parametrize(
    ("name", "right", "total"),
    [
        ("glyphh_irrelevance_result.jsonl", 205, 240),  # its score file: accuracy 0.854
        ("glyphh_live_irrelevance_result.jsonl", 793, 884),  # lines whose `result` is empty
    ],
)
def test_bfcl_irrelevance_is_a_case_without_a_tool(shared, name, right, total):
    path = shared / "data/bfcl" / name
    sources = [(source, reader) for source, reader in find_sources(path)]
    cases = {record.case.id: record.case for source, reader in sources for record in reader.cases(source)}
    results = []
    for record in read_traces(path):
        case = cases[record.trace.case_id]
        view = TraceView(record.trace, {tool.name: tool for tool in case.tools})
        results.append(check_selection(case.expected.selection, view))
    assert Counter(result.status for result in results) == {"passed": right, "failed": total - right}
    assert {finding.name for result in results for finding in result.findings} <= {
        "call_when_none_expected",
        "unknown_tool",
    }


def test_every_message_names_step_tool_field_expected_and_actual_in_that_order(shared):
    path = shared / "data/tau_bench_airline/gpt-4o-airline.json"
    tools = tools_of(path.with_name("tools_airline.json"))
    cases = {record.case.id: record.case for source, reader in find_sources(path) for record in reader.cases(source)}
    order = (OrderingExpected(before="get_user_details", after="get_reservation_details"),)
    tight = EfficiencyExpected(max_steps=3, max_calls=3)
    seen = Counter()
    for record in read_traces(path):
        view = TraceView(record.trace, tools)
        expected = cases[record.trace.case_id].expected
        for result in (
            check_selection(expected.selection, view),
            check_arguments(expected.arguments, view),
            check_ordering(order, view),
            check_efficiency(tight, view),
            check_outcome(expected.outcome, view),
        ):
            for finding in result.findings:
                assert re.fullmatch(
                    r"[a-z_]+ at (step \d+|whole trace)( · [a-z_]+)?( · [/$]\S*)?: expected .+, got .+",
                    str(finding),
                    re.S,
                ), str(finding)
                seen[finding.check] += 1
    assert set(seen) == {"selection", "arguments", "ordering", "efficiency", "outcome"}


def met(pair) -> bool:
    return pair.made is not None and all(is_right(found) for found in pair.fields.values())

"""The values that grading must give, each through a door that a user has: `grade` in Python, or the command line.

Sources: the published table of τ-bench's airline domain (sierra-research/tau-bench, README: gpt-4o, pass^1..4 =
0.420, 0.273, 0.220, 0.200); everything else was worked out by hand from the rules in docs/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, cli
from toolgrade import RunPlan, ToolSpec, TraceResult, grade, run
from toolgrade.errors import ConfigError

__all__ = ["cli"]

Call = tuple[str, Any]
TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {"x": {}, "y": {"type": "integer", "default": 7}},
        },
    }
    for name in "ABCDs"
] + [{"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}]


def chat(*steps: Call | Sequence[Call], results: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A chat in which each step makes one call, or several in one message; each gets a result."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go"}]
    made = 0
    for step in steps:
        calls = [step] if isinstance(step, tuple) else list(step)
        written, answers = [], []
        for name, arguments in calls:
            function = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
            written.append({"id": f"c{made}", "type": "function", "function": function})
            answers.append(
                {"role": "tool", "tool_call_id": f"c{made}", "content": results[made] if made < len(results) else "ok"}
            )
            made += 1
        messages += [{"role": "assistant", "tool_calls": written}, *answers]
    return messages


def call(name: str, **values: Any) -> Call:
    return name, json.dumps(values)


def graded(messages: list[dict[str, Any]], **expected: Any) -> TraceResult:
    return grade(messages, {"expected": expected} if expected else None, TOOLS)


def names(result: TraceResult, check: str) -> list[str]:
    return [finding.name for finding in result.checks[check].findings]  # type: ignore[index]


# selection ----------------------------------------------------------------------------------------------------------


def test_required_calls_are_a_multiset() -> None:
    both = graded(chat(call("s"), call("s")), selection={"required": ["s", "s"]}).checks["selection"]
    assert (both.status, both.score) == ("passed", 1.0)
    one = graded(chat(call("s")), selection={"required": ["s", "s"]})
    assert (one.checks["selection"].status, one.checks["selection"].score) == ("failed", 0.5)
    assert names(one, "selection") == ["missing_call"]


def test_no_tool_is_an_expectation_and_its_absence_is_none() -> None:
    silent = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    assert graded(silent, selection={"required": []}).checks["selection"].status == "passed"
    absent = graded(silent).checks["selection"]
    assert (absent.status, absent.score) == ("not_applicable", None)


def test_arguments_of_a_missing_call_are_blocked() -> None:
    result = graded(chat(call("A")), selection={"required": ["B"]}, arguments=[{"tool": "B", "values": {"x": 1}}])
    assert result.checks["selection"].status == "failed"
    assert (result.checks["arguments"].status, result.checks["arguments"].score) == ("blocked", None)


def test_partial_credit() -> None:
    """Of A, B, C, A three are among A, D, C, A: 3 / 4."""
    result = graded(chat(*(call(name) for name in "ADCA")), selection={"required": ["A", "B", "C", "A"]})
    assert (result.checks["selection"].score, names(result, "selection")) == (0.75, ["missing_call"])


# arguments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["{}", None, ..., "", "null"])
def test_a_tool_without_arguments_passes_without_any(arguments: Any) -> None:
    result = graded(chat(("now", arguments)), selection={"required": ["now"]})
    assert (result.checks["selection"].status, names(result, "arguments")) == ("passed", [])


def test_parallel_calls_and_ids_have_no_order() -> None:
    wanted = [{"tool": "A", "values": {"x": 1}}, {"tool": "B", "values": {"x": 2}}]
    one, two = call("A", x=1), call("B", x=2)
    messages = [chat([one, two]), chat([two, one])]
    messages.append(json.loads(re.sub(r'"c(\d)"', r'"other-\1"', json.dumps(messages[0]))))
    verdicts = [
        {check: (found.status, found.score) for check, found in graded(chats, arguments=wanted).checks.items()}
        for chats in messages
    ]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert verdicts[0]["arguments"] == ("passed", 1.0)


def test_assignment_is_not_greedy() -> None:
    """{a or b} and {a} against the calls b, a: only one assignment meets both."""
    wanted = [
        {"tool": "A", "values": {"x": "a"}, "compare": {"$.x": {"one_of": ["a", "b"]}}},
        {"tool": "A", "values": {"x": "a"}},
    ]
    for calls in (("b", "a"), ("a", "b")):
        result = graded(chat(*(call("A", x=value) for value in calls)), arguments=wanted)
        assert (result.checks["arguments"].status, result.checks["arguments"].score) == ("passed", 1.0)


@pytest.mark.parametrize(
    ("expected", "given", "same"),
    [
        ({"y": 7}, {}, True),
        ({"x": 1}, {"x": 1.0}, True),
        ({"x": True}, {"x": 1}, False),
        ({"x": 1}, {"x": "1"}, False),
        ({"x": None}, {}, False),
    ],
)
def test_equality(expected: dict[str, Any], given: dict[str, Any], same: bool) -> None:
    result = graded(chat(call("A", **given)), arguments=[{"tool": "A", "values": expected}])
    assert (result.checks["arguments"].status == "passed") is same


# efficiency ---------------------------------------------------------------------------------------------------------


def test_loops_and_polling() -> None:
    assert names(graded(chat(*[call("A", x=1)] * 100)), "efficiency") == ["loop"]
    back_and_forth = graded(chat(*(call(name, x=1) for name in "ABAB")))
    assert names(back_and_forth, "efficiency") == ["loop"]
    polled = graded(chat(*[call("A", x=1)] * 5, results=["10 %", "40 %", "70 %", "90 %", "done"]))
    assert polled.checks["efficiency"].status == "passed"


def test_a_mistake_in_a_case_is_named_in_words() -> None:
    with pytest.raises(ConfigError, match=r"^case: expected\.selektion: unknown field\. Did you mean 'selection'\?$"):
        graded(chat(call("A")), selektion={"required": ["A"]})
    with pytest.raises(
        ConfigError, match=r"^case: expected\.arguments\[0\]\.compare\.\$\.x: comparator 'one_of' needs"
    ):
        graded(chat(call("A")), arguments=[{"tool": "A", "values": {"x": 1}, "compare": {"$.x": "one_of"}}])


def test_a_broken_schema_given_from_python_is_refused_though_nothing_calls_it(tmp_path: Path) -> None:
    broken = ToolSpec(name="read_pdf", parameters={"type": "object", "properties": {"page": {"type": "strng"}}})
    with pytest.raises(ConfigError, match="'read_pdf'"):
        grade(chat(call("A")), None, [broken])
    (tmp_path / "t.json").write_text(json.dumps(chat(call("A"))))
    with pytest.raises(ConfigError, match="'read_pdf'"):
        run(RunPlan(traces=tmp_path / "t.json", tools={"read_pdf": broken}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# messages -----------------------------------------------------------------------------------------------------------


def test_messages_name_step_tool_field_expected_actual_in_that_order() -> None:
    tools = [ToolSpec(name="A", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})]
    messages = chat(call("A", x=1), call("A", x=2, zz=3), call("A", x="three"), call("C"))
    expected = {
        "selection": {"required": ["A"], "forbidden": []},
        "arguments": [{"tool": "A", "values": {"x": 9}}],
        "efficiency": {"max_calls": 2},
        "outcome": {"state": [{"path": "$.done", "equals": True}], "outputs": ["refund"]},
    }
    result = grade(messages, {"expected": expected}, tools)
    found = [finding for check in result.checks.values() for finding in check.findings]
    assert {"unknown_tool", "wrong_value", "type_mismatch", "hallucinated_parameter", "over_budget"} <= {
        finding.name for finding in found
    }
    shape = re.compile(r"^(\w+) at (whole trace|step \d+)( · [^:]+)?: expected .+, got .+$", re.DOTALL)
    for finding in found:
        assert shape.match(str(finding)), str(finding)
    wrong = next(str(finding) for finding in found if finding.name == "hallucinated_parameter")
    assert wrong.startswith("hallucinated_parameter at step 2 · A · /zz: expected ")


# runs ---------------------------------------------------------------------------------------------------------------


def write(folder: Path, cases: str, traces: Sequence[dict[str, Any]] = ()) -> tuple[Path, Path]:
    (folder / "cases.yaml").write_text(f"tools: {json.dumps('tools.json')}\ncases:\n{cases}\n")
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    given = traces or [{"id": "t", "case_id": "a", "messages": chat(call("A"))}]
    (folder / "traces.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in given))
    return folder / "traces.jsonl", folder / "cases.yaml"


@pytest.mark.parametrize("steps", [(10, 5), (5, 10)])
def test_path_convergence_in_either_order(cli: Callable[..., Ran], tmp_path: Path, steps: tuple[int, int]) -> None:
    """Runs of 10 and 5 steps: (5/10 + 5/5) / 2 = 0.75."""
    runs = [
        {"id": f"r{n}", "case_id": "a", "trial": n, "messages": chat(*(call("A", x=i) for i in range(count)))}
        for n, count in enumerate(steps)
    ]
    traces, cases = write(tmp_path, "  - {id: a, expected: {selection: {required: [A]}}}", runs)
    done = cli("grade", traces, "--cases", cases, "--json")
    assert json.loads(done.out)["convergence"]["value"] == 0.75
    assert "path convergence 0.75" in cli("grade", traces, "--cases", cases).out


def test_more_trials_asked_than_made_is_undefined(cli: Callable[..., Ran], tmp_path: Path) -> None:
    runs = [{"id": f"r{n}", "case_id": "a", "trial": n, "messages": chat(call("A"))} for n in range(2)]
    traces, cases = write(tmp_path, "  - {id: a, expected: {selection: {required: [A]}}}", runs)
    (tmp_path / "toolgrade.toml").write_text("[consistency]\nselection = {k: 3, rate: 0.0}\n".replace(": ", " = "))
    done = cli("grade", traces, "--cases", cases, "--json")
    (threshold,) = json.loads(done.out)["thresholds"]
    assert (done.code, threshold["outcome"], threshold["value"]) == (2, "undecided", None)
    assert "undefined (fewer_trials_than_k)" in threshold["message"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\x00\xff", b'{"messages": 5}\n', b'{"schema": "toolgrade.trace/1", "id": "t"}\n']
)
def test_an_unreadable_trace_never_passes(cli: Callable[..., Ran], tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.jsonl").write_bytes(content)
    done = cli("grade", "t.jsonl", "--json", "--fail-under", "selection=0")
    summary = json.loads(done.out)
    assert (done.code, summary["unreadable"]) == (3, 1)
    for check in summary["checks"].values():
        assert check["statuses"] == {"none": {"trace_error": 1}}
    assert summary["first_errors"][0].startswith("t.jsonl")


def test_a_missing_trace_file_is_exit_3(cli: Callable[..., Ran]) -> None:
    done = cli("grade", "none.jsonl")
    assert (done.code, done.out) == (3, "")
    assert done.err == "error: none.jsonl: No such file or directory\n"


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("{selection: {required: [Aa]}}", ["expected.selection.required", "unknown tool 'Aa'"]),
        ("{ordering: [{before: A, after: Q}]}", ["expected.ordering[0].after", "unknown tool 'Q'"]),
        ("{ordering: [{before: A, after: B}, {before: B, after: A}]}", ["expected.ordering", "cycle"]),
        (
            "{arguments: [{tool: A, values: {x: 1}, compare: {$.z: ignore}}]}",
            ["expected.arguments[0].compare", "$.z"],
        ),
        ("{arguments: [{tool: A, values: {z: 1}}]}", ["expected.arguments[0].values", "z"]),
        ("{selection: {}}", ["expected.selection"]),
        ("{arguments: []}", ["expected.arguments"]),
        ("{ordering: []}", ["expected.ordering"]),
        ("{efficiency: {}}", ["expected.efficiency"]),
        ("{outcome: {}}", ["expected.outcome"]),
        ("{utilization: {}}", ["expected.utilization"]),
        ("{recovery: {}}", ["expected.recovery"]),
        ("{}", ["expected"]),
        ("{selektion: {required: [A]}}", ["selektion", "selection"]),
        ("{outcome: {state: [{path: '$.[', equals: 1}]}}", ["expected.outcome.state[0].path"]),
    ],
)
def test_a_wrong_case_is_exit_2_with_its_place(
    cli: Callable[..., Ran], tmp_path: Path, expected: str, words: list[str]
) -> None:
    traces, cases = write(tmp_path, f"  - id: a\n    expected: {expected}")
    done = cli("grade", traces, "--cases", cases, "--out", "run")
    assert (done.code, done.out) == (2, "")
    assert re.search(r"cases\.yaml:[34]", done.err), done.err
    for word in ["'a'", *words]:
        assert word in done.err
    assert not (tmp_path / "run").exists()


def test_a_selector_that_matches_no_case_is_exit_2(cli: Callable[..., Ran], tmp_path: Path) -> None:
    traces, cases = write(tmp_path, "  - {id: a, expected: {selection: {required: [A]}}}")
    done = cli("grade", traces, "--cases", cases, "--select", "b*")
    assert done.code == 2
    assert "--select 'b*' matches no case of" in done.err


# real runs ----------------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_tau_bench_airline(cli: Callable[..., Ran], tmp_path: Path, shared: Path) -> None:
    source = shared / "data" / "tau_bench_airline"
    tools = source / "tools_airline.json"
    assert cli("convert", source / "gpt-4o-airline.json", "--tools", tools, "--out", "airline").code == 0
    (cases,) = (tmp_path / "airline").glob("cases.*")
    done = cli("grade", "airline/traces.jsonl", "--cases", cases, "--out", "run")
    assert done.code == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    outcome = summary["checks"]["outcome"]["consistency"]
    assert [point["pass_hat_k"]["value"] for point in outcome] == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)
    assert sum(summary["tools_called"].values()) == 1164
    assert summary["calls"]["true_positives"] + summary["calls"]["false_negatives"] == 632
    free = cli("grade", "airline/traces.jsonl", "--tools", tools, "--check", "arguments", "--json")
    found = {finding["name"]: finding for finding in json.loads(free.out)["checks"]["arguments"]["findings"]}
    assert {name: (entry["count"], entry["traces"]) for name, entry in found.items()} == {
        "hallucinated_parameter": (4, 1)
    }
    assert found["hallucinated_parameter"]["example"].startswith("task-5-trial-1")

"""What a person gives wrongly, and what the command line answers: exit code, place and reason, never a traceback."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.support import GOOD, TOOLS, WRONG_VALUE, write_suite

BROKEN = {"name": "read_pdf", "parameters": {"type": "object", "properties": {"page": {"type": "strng"}}}}
OTHER = {"name": "no_end", "parameters": {"type": "object", "properties": {"page": {"pattern": "("}}}}


def refused(done: Any, code: int, *words: str) -> None:
    """The error stands on stderr alone, names `words` in this order, and is no traceback."""
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    rest = done.err
    for word in words:
        assert word in rest, f"{word!r} is not in order in {done.err!r}"
        rest = rest.split(word, 1)[1]


def test_a_broken_schema_in_the_tools_file_stops_before_grading(cli: Callable, tmp_path: Path) -> None:
    """No trace calls the broken tools, and the file is still refused: with the file, every such tool and the reason."""
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    (tmp_path / "broken.json").write_text(json.dumps([*TOOLS, BROKEN, OTHER]))
    words = ("broken.json", "'read_pdf'", "'no_end'")
    refused(cli("grade", traces, "--tools", "broken.json", "--out", "run"), 2, *words)
    assert not (tmp_path / "run").exists()
    refused(cli("grade", traces, "--cases", cases, "--tools", "broken.json"), 2, *words)
    cases.write_text(cases.read_text().replace("tools: tools.json", "tools: broken.json"))
    refused(cli("grade", traces, "--cases", cases), 2, *words)


def test_a_broken_schema_in_a_case_names_the_case(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    given = json.dumps([*TOOLS, BROKEN])
    cases.write_text(cases.read_text().replace("  - id: a\n", f"  - id: a\n    tools: {given}\n"))
    refused(cli("grade", traces, "--cases", cases), 2, "case 'a'", "cases.yaml:5", "tools", "'read_pdf'")


@pytest.mark.parametrize("called", ["read_pdf", "look"])
def test_a_broken_schema_in_a_trace_is_that_traces_error(cli: Callable, tmp_path: Path, called: str) -> None:
    """A recorded tool is data: the trace is an error whether or not it calls the tool, and the others are graded."""
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    cases.write_text(
        "cases:\n  - {id: a, expected: {arguments: [{tool: read_pdf, values: {page: 1}}]}}\n"
        "  - {id: b, expected: {selection: {required: [look]}}}\n"
    )
    call = {"id": "1", "function": {"name": called, "arguments": '{"page": 2}'}}
    messages = [{"role": "user", "content": "Read it"}, {"role": "assistant", "tool_calls": [call]}]
    bad = {"id": "bad", "case_id": "a", "messages": messages, "tools": [BROKEN, *TOOLS]}
    good = {"id": "good", "case_id": "b", "messages": GOOD}
    traces.write_text(json.dumps(bad) + "\n" + json.dumps(good) + "\n")
    done = cli("grade", traces, "--cases", cases, "--json")
    summary = json.loads(done.out)
    assert (done.code, summary["unreadable"]) == (3, 1)
    assert summary["first_errors"][0].startswith("bad: recorded tool 'read_pdf'")
    assert summary["checks"]["arguments"]["statuses"]["none"]["trace_error"] == 1
    assert summary["checks"]["selection"]["rates"]["expected"]["passed"] == 1


def test_an_unreadable_file_is_named_once(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{bad\n")
    done = cli("grade", "x.jsonl", "--json")
    assert done.code == 3
    (message,) = json.loads(done.out)["first_errors"]
    assert message.startswith("x.jsonl:1: ")
    assert message.count("x.jsonl") == 1


def test_where_nothing_could_be_graded_no_table_says_otherwise(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{bad\n{"schema": "toolgrade.trace/1", "id": 5}\n')
    done = cli("grade", "x.jsonl")
    assert done.code == 3
    assert "2 traces could not be read" in done.out
    assert "Nothing was graded" in done.out
    assert "applies to" not in done.out
    assert "What cost most" not in done.out


def test_a_trace_without_its_case_keeps_its_name(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("zzz", GOOD), ("a", GOOD)])
    done = cli("grade", traces, "--cases", cases, "--out", "run")
    assert done.code == 3
    assert "traces.jsonl: trace 'zzz-0' matches no case: found case_id 'zzz'" in " ".join(done.out.split())
    assert "trace_error" in cli("show", "run", "zzz-0").out


def test_files_given_in_each_others_place_are_told(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    told = cli("grade", traces, "--cases", tmp_path / "tools.json")
    refused(told, 2, "tools.json", "holds tools, expected cases", "--tools")
    refused(cli("grade", traces, "--cases", traces), 2, "traces.jsonl", "holds traces, expected cases")
    refused(cli("grade", traces, "--tools", cases), 2, "cases.yaml", "found no JSON")
    assert "Give it with --tools." in cli("grade", tmp_path / "tools.json").out
    assert "Are these cases? Give them with --cases." in cli("grade", cases).out


def test_a_run_directory_inside_the_traces_is_refused(cli: Callable, tmp_path: Path) -> None:
    """`grade .` would read the run that it writes, without end."""
    write_suite(tmp_path, [("a", GOOD)])
    refused(cli("grade", "."), 2, "lies inside", "--out")
    refused(cli("grade", tmp_path, "--out", tmp_path / "deep" / "run"), 2, "lies inside")


def test_required_coverage_is_refused_before_grading(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    refused(cli("grade", traces, "--require-coverage", "tag:*"), 2, "'tag:*'", "--cases")
    refused(cli("grade", traces, "--cases", cases, "--require-coverage", "no_tool", "--out", "run"), 2, "tag:no_tool")
    assert not (tmp_path / "run").exists()


def test_a_directory_without_a_finished_run_says_so(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    refused(cli("show", "nowhere"), 3, "nowhere", "holds no run")
    refused(cli("report", "nowhere", "--html", "-"), 3, "nowhere", "holds no run")
    cli("grade", traces, "--cases", cases, "--out", "run")
    (tmp_path / "run" / "summary.json").unlink()
    refused(cli("show", "run"), 3, "run: holds a run that was not finished")


def test_a_case_without_any_trace_is_no_success(cli: Callable, tmp_path: Path) -> None:
    """What was never run cannot pass; a part is graded on purpose with --select."""
    traces, cases = write_suite(tmp_path, [("a", GOOD)])
    done = cli("grade", traces, "--cases", cases, "--fail-under", "selection=0.5", "--out", "run")
    assert done.code == 3
    assert "1 case without any trace: b" in done.out
    assert "**Without any trace**: b" in cli("report", "run", "--markdown", "-").out
    assert "Without any trace: b" in cli("report", "run", "--html", "-").out
    assert cli("grade", traces, "--cases", cases, "--select", "a", "--fail-under", "selection=0.5").code == 0


def test_triage_ends_with_its_input(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces, cases = write_suite(tmp_path, [("a", WRONG_VALUE)])
    cli("grade", traces, "--cases", cases, "--out", "run")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = cli("triage", "run")
    assert (done.code, "1 findings to look at" in done.out) == (0, True)


def first_line(text: str) -> str:
    return text.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("name", "left", "words"),
    [
        ("traces.jsonl", lambda text: text.splitlines(keepends=True)[0], ("traces.jsonl", "ends before results.jsonl")),
        (
            "results.jsonl",
            lambda text: text.splitlines(keepends=True)[0],
            ("results.jsonl", "ends before traces.jsonl"),
        ),
        ("results.jsonl", lambda text: text[:-40], ("results.jsonl:2", "no result line")),
    ],
)
def test_a_damaged_run_directory_is_named(
    cli: Callable, tmp_path: Path, name: str, left: Callable[[str], str], words: tuple[str, ...]
) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE)])
    assert cli("grade", traces, "--cases", cases, "--select", "a", "--out", "run").code == 0
    file = tmp_path / "run" / name
    file.write_text(left(file.read_text()))
    refused(cli("show", "run", "no-such-trace"), 3, *words)
    refused(cli("report", "run", "--html", "page.html"), 3, *words)


def test_the_cases_of_a_run_that_somebody_edited(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", WRONG_VALUE)])
    assert cli("grade", traces, "--cases", cases, "--select", "a", "--out", "run").code == 0
    (tmp_path / "run" / "cases.json").write_text('{"cases": [{"id": ""}], "tools": 5}')
    refused(cli("baseline", "write", "run"), 3, "cases.json", "cases", "id")

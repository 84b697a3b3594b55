from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pipeline.support import BACKWARDS, GOOD, MISSING, SILENT, WRONG_VALUE, write_suite

RUNS = [("a", GOOD), ("a", WRONG_VALUE), ("a", MISSING), ("a", BACKWARDS), ("b", SILENT)]


@pytest.fixture
def graded(cli: Callable, tmp_path: Path) -> Path:
    traces, cases = write_suite(tmp_path, RUNS)
    assert cli("grade", traces, "--cases", cases, "--out", "run").code == 0
    return tmp_path / "run"


def test_exit_codes(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, RUNS)
    given = ("grade", traces, "--cases", cases, "--out")
    free = cli(*given, "free")
    assert (free.code, "NO THRESHOLDS SET" in free.out) == (0, True)
    missed = cli(*given, "missed", "--fail-under", "selection=0.9")
    assert (missed.code, "MISSED selection: 0.800 < 0.9" in missed.out) == (1, True)
    assert cli(*given, "undecided", "--fail-under", "arguments=0.1").code == 2
    assert cli(*given, "typo", "--fail-under", "selektion=0.9").code == 2
    with traces.open("a") as file:
        file.write("[1, 2\n")
    assert cli(*given, "broken", "--fail-under", "selection=0.9").code == 3
    assert cli("grade", "nothing.jsonl").code == 3
    assert cli("grade", traces, "--nope").code == 2


def test_json_is_all_that_is_printed(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, RUNS)
    done = cli("grade", traces, "--cases", cases, "--json", "--fail-under", "selection=0.9")
    summary = json.loads(done.out)
    assert (done.code, done.err) == (1, "")
    assert summary["thresholds"][0]["outcome"] == "missed"
    assert summary["checks"]["selection"]["rates"]["expected"]["passed"] == 4


def test_settings_file_sets_thresholds_and_flags_win(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, RUNS)
    (tmp_path / "toolgrade.toml").write_text("[thresholds]\nselection = 0.9\n")
    assert cli("grade", traces, "--cases", cases).code == 1
    assert cli("grade", traces, "--cases", cases, "--fail-under", "selection=0.5").code == 0


def test_errors_are_one_line_with_the_mend(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, RUNS)
    cases.write_text(cases.read_text().replace("extras: forbid", "extra: forbid"))
    done = cli("grade", traces, "--cases", cases)
    assert done.code == 2
    assert "cases.yaml" in done.err
    assert "extras" in done.err
    assert "Traceback" not in done.err
    assert "Did you mean 'grade'" in cli("grad").err


def test_show_a_run_and_a_transcript(cli: Callable, graded: Path) -> None:
    assert "5 traces of 2 cases" in cli("show", graded).out
    shown = cli("show", graded, "a-1")
    step = shown.out.index("→ cancel")
    finding = shown.out.index("wrong_value at step 2 · cancel · /id: expected A1, got A2")
    assert step < finding
    missing = cli("show", graded, "a1")
    assert (missing.code, "Did you mean 'a-1'" in missing.err) == (2, True)


def test_hostile_text_is_shown_as_text(cli: Callable, tmp_path: Path) -> None:
    """Neither rich markup nor terminal control sequences from a trace may reach the terminal as such."""
    hostile = "[bold red]owned[/] \x1b]0;title\x07 \x1b[2J"
    messages = [{"role": "user", "content": hostile}, {"role": "assistant", "content": hostile}]
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "h", "messages": messages}) + "\n")
    assert cli("grade", "t.jsonl", "--out", "run").code == 0
    shown = cli("show", "run", "h")
    assert "[bold red]owned[/]" in shown.out
    assert "\x1b]" not in shown.out
    assert "\x1b[2J" not in shown.out
    assert "\x07" not in shown.out


def test_explain(cli: Callable) -> None:
    assert "What to edit" in cli("explain", "wrong_value").out
    assert "Did you mean 'wrong_value'" in cli("explain", "wrong_vale").err
    assert "hallucinated_parameter" in cli("explain").out


def test_reports_agree_with_the_results(cli: Callable, graded: Path) -> None:
    """Five traces, seven checks: by hand 35 test cases; four checks failed (one each for a-1, a-2, a-3)."""
    assert cli("report", graded, "--junit", "j.xml", "--markdown", "m.md", "--csv", "f.csv").code == 0
    root = ElementTree.parse(graded.parent / "j.xml").getroot()
    assert len(root.findall(".//testcase")) == 35
    failed = {
        (case.get("name"), case.get("line")) for case in root.iter("testcase") if case.find("failure") is not None
    }
    assert failed == {("a-1 arguments", "5"), ("a-2 selection", "5"), ("a-3 ordering", "5")}
    assert root.get("failures") == "3"
    assert "| selection | expected | 4 / 5 / 5 | 0.80 |" in (graded.parent / "m.md").read_text()
    rows = (graded.parent / "f.csv").read_text().splitlines()
    assert any(row.startswith("a-1,a,1,arguments,failed,expected,") and ",wrong_value,2," in row for row in rows)
    told = cli("report", graded, "--annotations", "-").out
    assert "cases.yaml,line=5,title=arguments failed in a-1::wrong_value at step 2" in told


def test_triage_records_and_silences_nothing(cli: Callable, graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    before = (graded / "results.jsonl").read_bytes()
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nthe case is wrong\na\n\nq\n"))
    done = cli("triage", graded)
    assert (
        "case a: under `expected`, replace `arguments` with\narguments:\n- tool: cancel\n  values: {id: A2}\n"
        in done.out
    )
    assert "arguments: 0 of 1 findings upheld" in done.out
    page = cli("report", graded, "--html", "-").out
    assert ">0 of 1 (0 %)</td>" in page
    assert ">1 of 1 (100 %)</td>" in page
    records = [json.loads(line) for line in (graded / "triage.jsonl").read_text().splitlines()]
    assert [record["decision"] for record in records] == ["case_wrong", "agent_wrong"]
    assert (graded / "results.jsonl").read_bytes() == before
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert "1 findings to look at, 2 decided before" in cli("triage", graded).out


@pytest.mark.shared
def test_compare_the_tau2_pair(cli: Callable, shared: Path) -> None:
    """The data manifest: airline outcome 7 pass in both, 6 fixed, 3 regressed, 4 fail in both; retail 34 each."""
    for domain, cells in (("airline", (7, 6, 3, 4)), ("retail", (28, 6, 6, 0))):
        for name in ("gym_gpt", "gym_ft"):
            (source,) = (shared / "data" / "tau2").glob(f"{name}*_{domain}_*.json")
            tools = shared / "data" / "tau2" / f"tools_{domain}.json"
            assert cli("convert", source, "--tools", tools, "--out", f"{name}-{domain}").code == 0
            folder = f"{name}-{domain}"
            graded = cli(
                "grade",
                f"{folder}/traces.jsonl",
                "--cases",
                f"{folder}/cases.yaml",
                "--check",
                "outcome",
                "--out",
                f"r-{folder}",
            )
            assert graded.code == 0
        done = cli("diff", f"r-gym_gpt-{domain}", f"r-gym_ft-{domain}", "--json")
        outcome = json.loads(done.out)["checks"]["outcome"]
        found = tuple(outcome[key] for key in ("both_passed", "fixed", "regressed", "both_failed"))
        assert found == cells
        assert cells[0] + cells[2] == (34 if domain == "retail" else 10)


def test_diff_fails_on_a_regression(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    cli("grade", traces, "--cases", cases, "--out", "base")
    traces, cases = write_suite(tmp_path, [("a", WRONG_VALUE), ("b", SILENT)])
    cli("grade", traces, "--cases", cases, "--out", "candidate")
    done = cli("diff", "base", "candidate")
    assert done.code == 1
    assert "arguments regressed in a (trial 0)" in done.out
    assert "field    cancel/id: 0 → 1" in done.out
    assert "FELL: arguments by 1.000" in done.out
    back = cli("diff", "candidate", "base")
    assert (back.code, "Nothing fell." in back.out) == (0, True)
    assert cli("diff", "base", "candidate", "--tolerance", "1").code == 0


def test_diff_lets_nothing_pass_that_nobody_graded(cli: Callable, tmp_path: Path) -> None:
    """Missing traces, and checks graded without their expectation, are named and exit 2: they have not passed."""
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("b", SILENT), ("b", SILENT)])
    cli("grade", traces, "--cases", cases, "--out", "base")
    whole = traces.read_text()
    traces.write_text("".join(whole.splitlines(keepends=True)[:3]) + '{"id": "torn\n')
    assert cli("grade", traces, "--cases", cases, "--out", "torn").code == 3
    done = cli("diff", "base", "torn")
    assert done.code == 2
    assert "1 only in the base: b (trial 3)" in done.out
    assert "NOT DECIDED any more: 1 trace" in done.out
    assert cli("diff", "base", "torn", "--tolerance", "0.25").code == 0
    traces.write_text(whole)
    cases.write_text(cases.read_text().replace("      arguments:\n        - {tool: cancel, values: {id: A1}}\n", ""))
    cli("grade", traces, "--cases", cases, "--out", "unstated")
    done = cli("diff", "base", "unstated")
    assert done.code == 2
    assert "arguments decided in the base only: a (trial 0), a (trial 1)" in done.out
    assert "NOT DECIDED any more: arguments in 2 of 2" in done.out


def test_diff_names_what_moved(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    cli("grade", traces, "--cases", cases, "--out", "base")
    failed = [*GOOD[:2], {**GOOD[2], "content": "503 service unavailable", "status": 503}, GOOD[1], *GOOD[2:]]
    traces, cases = write_suite(tmp_path, [("a", failed), ("b", MISSING)])
    cli("grade", traces, "--cases", cases, "--out", "candidate")
    done = cli("diff", "base", "candidate")
    assert "stage    same_call: 0 → 1" in done.out
    assert "tool     selection: look: 0 → 2" in done.out
    assert "finding  call_when_none_expected: 0 → 1" in done.out


def test_wrong_paths_and_broken_files_are_told_in_a_line(cli: Callable, graded: Path) -> None:
    done = cli("report", graded, "--html", "nowhere/report.html")
    assert (done.code, "nowhere/report.html: cannot be written" in done.err) == (3, True)
    assert cli("baseline", "write", graded, "--file", "b.json").code == 0
    broken = json.loads(Path("b.json").read_text())
    broken["cases"][0]["expected"]["selection"]["requird"] = []
    Path("b.json").write_text(json.dumps(broken))
    done = cli("baseline", "check", graded, "--file", "b.json")
    assert (done.code, "b.json: cases.0.expected.selection.requird: Extra inputs" in done.err) == (2, True)
    assert cli("triage", "nowhere").code == 3
    assert cli("diff", graded, "nowhere").code == 3

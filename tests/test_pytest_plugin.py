"""The plugin through pytest itself: a test file as a user writes it, run in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.support import GOOD, MISSING, SILENT, WRONG_VALUE, write_suite

SOURCE = Path(__file__).parents[1] / "src"
MARKED = """
import pytest

@pytest.mark.toolgrade(cases="cases.yaml", traces="traces.jsonl")
def test_bookings(toolgrade):
    toolgrade.assert_check()
"""
LIVE = """
import json
import pytest

@pytest.fixture
def agent(toolgrade_case):
    with open("ran.txt", "a") as ran:
        ran.write(toolgrade_case.id + "\\n")
    return [json.loads(line) for line in open("traces.jsonl")][0]["messages"] if toolgrade_case.id == "a" else [
        {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}]

@pytest.mark.toolgrade(cases="cases.yaml", traces_from="agent")
def test_live(toolgrade):
    toolgrade.assert_check()
"""
PLAIN = """
def test_one(toolgrade):
    result = toolgrade.grade(
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [
            {"id": "1", "function": {"name": "look", "arguments": "{}"}}]}],
        {"expected": {"selection": {"required": []}}}, [{"name": "look", "parameters": {"type": "object"}}])
    toolgrade.assert_check(result, "selection")
"""


def pytest_in(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "toolgrade.pytest_plugin", "-rs", "-v"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("CI", None)
    return subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )


def test_one_test_per_case_and_check(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("b", SILENT)])
    done = pytest_in(tmp_path, MARKED)
    assert "1 failed, 3 passed" in done.stdout
    for name in ("a-selection", "a-arguments", "a-ordering", "b-selection"):
        assert f"test_bookings[{name}]" in done.stdout
    assert "arguments failed in a-1 (trial 1)" in done.stdout
    assert "wrong_value at step 2 · cancel · /id: expected A1, got A2" in done.stdout
    assert "Schema description of the parameter" in done.stdout


def test_undecided_is_skipped_and_fails_when_strict(tmp_path: Path) -> None:
    """A missing required call blocks the arguments check, which is then neither passed nor failed."""
    write_suite(tmp_path, [("a", MISSING), ("b", SILENT)])
    chosen = ("--toolgrade-check", "arguments")
    assert "1 skipped" in pytest_in(tmp_path, MARKED, *chosen).stdout
    strict = pytest_in(tmp_path, MARKED, *chosen, "--toolgrade-strict")
    assert "arguments blocked in a-0: selection failed" in strict.stdout
    assert strict.returncode == 1


def test_a_fixture_that_runs_the_agent_runs_once_a_case(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD)])
    assert "4 passed" in pytest_in(tmp_path, LIVE).stdout
    assert (tmp_path / "ran.txt").read_text().split() == ["a", "b"]
    (tmp_path / "ran.txt").unlink()
    spread = pytest_in(tmp_path, LIVE, "-p", "xdist", "-n", "2", "--dist", "loadfile")
    assert "4 passed" in spread.stdout
    assert sorted((tmp_path / "ran.txt").read_text().split()) == ["a", "b"]


def test_select_and_mistakes(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    assert "1 passed" in pytest_in(tmp_path, MARKED, "--toolgrade-select", "tag:no_tool").stdout
    wrong = pytest_in(tmp_path, MARKED.replace('"cases.yaml"', '"nothing.yaml"'))
    assert wrong.returncode == 4 or "nothing.yaml" in wrong.stdout + wrong.stderr
    assert "nothing.yaml" in wrong.stdout + wrong.stderr


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('case="cases.yaml", traces="traces.jsonl"', "takes no 'case'. Did you mean 'cases'?"),
        ('"cases.yaml", traces="traces.jsonl"', "takes names only; write cases='cases.yaml'"),
        ('traces="traces.jsonl"', "needs cases=FILE"),
        ('cases="cases.yaml"', "needs one of traces=FILE and traces_from=FIXTURE"),
        ('cases="cases.yaml", traces="gone.jsonl"', "gone.jsonl"),
    ],
)
def test_a_mistake_in_the_mark_is_named(tmp_path: Path, written: str, told: str) -> None:
    write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    done = pytest_in(tmp_path, MARKED.replace('cases="cases.yaml", traces="traces.jsonl"', written))
    assert done.returncode != 0
    assert told in done.stdout + done.stderr


def test_nothing_chosen_and_misspelt_checks_are_no_success(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    for options, told in (
        (("--toolgrade-select", "tag:no_tol"), "cases.yaml holds no case that --toolgrade-select tag:no_tol picks"),
        (("--toolgrade-check", "selektion"), "there is no check 'selektion'. Did you mean 'selection'?"),
    ):
        done = pytest_in(tmp_path, MARKED, *options)
        assert done.returncode != 0
        assert told in done.stdout + done.stderr
    unused = pytest_in(
        tmp_path, MARKED.replace("test_bookings(toolgrade)", "test_bookings()").replace("    toolgrade.", "    pass  #")
    )
    assert "take the fixture `toolgrade`" in unused.stdout + unused.stderr
    assert "Did you mean 'selection'?" in pytest_in(tmp_path, PLAIN.replace('"selection")', '"selektion")')).stdout


def test_recorded_traces_spread_over_workers(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("b", SILENT)])
    done = pytest_in(tmp_path, MARKED, "-p", "xdist", "-n", "2")
    assert "1 failed, 3 passed" in done.stdout
    assert "wrong_value at step 2 · cancel · /id: expected A1, got A2" in done.stdout


def test_without_the_mark(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, PLAIN)
    assert "selection failed in trace" in done.stdout
    assert "call_when_none_expected at step 1 · look" in done.stdout

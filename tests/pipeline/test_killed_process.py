"""Real processes that die by SIGKILL while they grade: what they leave can always be gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from toolgrade.pipeline.rundir import RESULTS, SUMMARY, TRACES

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "airline"
TIMES = 15
DIE_AFTER_RECORDS = """
import os, signal
from toolgrade.pipeline.rundir import RunWriter
added, left = RunWriter.add, [{records}]
def add(self, result, trace):
    added(self, result, trace)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
RunWriter.add = add
"""
DIE_IN_SUMMARY = """
import os, signal
from pathlib import Path
replace = Path.replace
def dying(self, target):
    if Path(target).name == "summary.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = dying
"""
WAIT_IN_FIRST_RECORD = """
import sys
from toolgrade.pipeline.rundir import RunWriter
def add(self, result, trace):
    print("grading", flush=True)
    sys.stdin.read()
RunWriter.add = add
"""


def command(folder: Path, out: str, prelude: str = "") -> list[str]:
    """`toolgrade grade` as a process of its own, with something done to it before it starts."""
    given = ["grade", "traces.jsonl", "--cases", str(EXAMPLE / "cases.yaml"), "--out", out]
    code = f"{prelude}\nimport sys\nsys.argv = ['toolgrade', *{given!r}]\nfrom toolgrade.cli import main\nmain()"
    return [sys.executable, "-c", code]


def grade(folder: Path, out: str, prelude: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command(folder, out, prelude), cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def written(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (RESULTS, TRACES, SUMMARY, "cases.json")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example's traces many times over: more than the buffers of the run directory hold."""
    (tmp_path / "traces.jsonl").write_bytes((EXAMPLE / "traces.jsonl").read_bytes() * TIMES)
    return tmp_path


def test_a_process_killed_again_and_again_ends_with_the_same_bytes(folder: Path) -> None:
    """Killed each time after 90 more of 300 records (buffers lost, lines torn), then while the summary is written."""
    assert grade(folder, "whole").returncode == 0
    lengths = []
    while grade(folder, "killed", DIE_AFTER_RECORDS.format(records=90)).returncode == -signal.SIGKILL:
        lengths.append((folder / "killed" / RESULTS).stat().st_size)
        assert not (folder / "killed" / SUMMARY).exists()
    assert len(lengths) >= 3
    assert sorted(set(lengths)) == lengths
    (folder / "killed" / SUMMARY).unlink()
    assert grade(folder, "killed", DIE_IN_SUMMARY).returncode == -signal.SIGKILL
    assert not (folder / "killed" / SUMMARY).exists()
    assert grade(folder, "killed").returncode == 0
    assert written(folder / "killed") == written(folder / "whole")


def test_a_second_process_is_refused_until_the_first_is_gone(folder: Path) -> None:
    (folder / "traces.jsonl").write_bytes((EXAMPLE / "traces.jsonl").read_bytes())
    first = subprocess.Popen(
        command(folder, "run", WAIT_IN_FIRST_RECORD),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with first:
        assert first.stdout is not None and first.stdout.readline() == "grading\n"
        second = grade(folder, "run")
        assert second.returncode == 2
        assert second.stderr.startswith("error: run: another process is grading into it")
        first.kill()
    assert grade(folder, "run").returncode == 0

"""What reaches the terminal: encodings, colours, progress, pipes. Real processes, for the streams are theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.support import GOOD, SILENT, WRONG_VALUE, write_suite

SRC = Path(__file__).resolve().parents[2] / "src"
ESCAPE = "\x1b["


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_suite(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("b", SILENT)])
    return tmp_path


def toolgrade(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI", "COLUMNS")}
    env |= {"PYTHONPATH": str(SRC), **environment}
    command = [sys.executable, "-m", "toolgrade", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """Run with stdout and stderr on a terminal; return what it shows."""
    pty = pytest.importorskip("pty", reason="needs a POSIX terminal")
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
    env |= {"PYTHONPATH": str(SRC), "TERM": "xterm-256color", **environment}
    command = [sys.executable, "-m", "toolgrade", *arguments]
    with subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not part:
                break
            shown += part
        os.close(ours)
    assert run.returncode == 0, shown.decode()
    return shown.decode()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_unicode_is_no_crash(folder: Path, encoding: str) -> None:
    done = toolgrade(
        folder, "grade", "traces.jsonl", "--cases", "cases.yaml", "--out", "run", PYTHONIOENCODING=encoding
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = toolgrade(folder, "show", "run", "a-1", PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"\\u2192 cancel" in shown.stdout  # the arrow before a call


def test_json_on_stdout_is_json_in_every_encoding(folder: Path) -> None:
    given = ("grade", "traces.jsonl", "--cases", "cases.yaml", "--json")
    done = toolgrade(folder, *given, PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["traces"] == 3
    assert done.stderr == b""


def test_colours_only_where_wanted(folder: Path) -> None:
    given = ("grade", "traces.jsonl", "--cases", "cases.yaml", "--out", "run")
    assert b"\x1b" not in toolgrade(folder, *given).stdout
    assert f"{ESCAPE}1;31m" in on_a_terminal(folder, *given)
    plain = on_a_terminal(folder, *given, NO_COLOR="1")
    assert not any(f"{colour}m" in plain for colour in (";31", ";32", ";33", "[31", "[32", "[33"))


def test_no_progress_in_ci(folder: Path) -> None:
    given = ("grade", "traces.jsonl", "--cases", "cases.yaml", "--out", "run")
    assert "graded traces:" in on_a_terminal(folder, *given, CI="")
    assert "graded traces:" not in on_a_terminal(folder, *given, CI="true")


@pytest.mark.parametrize(("least", "code"), [("0.1", 0), ("0.9", 1)])
def test_a_report_that_nobody_reads_to_its_end_keeps_its_exit_code(folder: Path, least: str, code: int) -> None:
    """Two traces of case a: one has the right value, one has not, so arguments are at 0.5."""
    env = os.environ | {"PYTHONPATH": str(SRC)}
    given = ["grade", "traces.jsonl", "--cases", "cases.yaml", "--fail-under", f"arguments={least}", "--out", "run"]
    command = [sys.executable, "-m", "toolgrade", *given]
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        run.stdout.close()
    assert run.returncode == code


def test_a_reader_that_stops_reading_is_no_crash(folder: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(SRC)}
    command = [sys.executable, "-m", "toolgrade", "explain"]
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.close()
        told = run.stderr.read()
    assert b"Traceback" not in told

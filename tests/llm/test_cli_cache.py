"""`toolgrade cache`, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import toolgrade
from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Verdict
from toolgrade.llm.cache import VerdictCache


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {
        "TOOLGRADE_CACHE": str(folder / "cache"),
        "PYTHONPATH": str(Path(toolgrade.__file__).parents[1]),
    }
    command = [sys.executable, "-m", "toolgrade", "cache", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, timeout=60)


def test_a_recording_goes_from_one_cache_to_another(tmp_path: Path) -> None:
    with VerdictCache(tmp_path / "cache") as cache:
        for number in range(3):
            answer = Verdict(dimension="route_choice", question_id=str(number), verdict="pass", model="openai/x")
            cache.put(content_hash(number), answer)
    assert "3 verdicts" in run(tmp_path, "info").stdout
    assert run(tmp_path, "export", "v.jsonl").stdout == "v.jsonl: wrote 3 verdicts\n"
    assert run(tmp_path, "clear", "--yes").stdout == f"{tmp_path / 'cache'}: deleted 3 verdicts\n"
    assert run(tmp_path, "import", "v.jsonl", "--cache-dir", "other").stdout == "other: added 3 verdicts from v.jsonl\n"
    found = json.loads(run(tmp_path, "info", "--json", "--cache-dir", "other").stdout)
    assert (found["entries"], found["models"], found["warnings"]) == (3, {"openai/x": 3}, [])
    (tmp_path / "v.jsonl").write_text("{}\n")
    done = run(tmp_path, "import", "v.jsonl")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: v.jsonl:1: key: field required; expected a line of `toolgrade cache export`")
    assert run(tmp_path, "clear").returncode != 0


def test_a_damaged_cache_is_said_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "cache.db").write_bytes(b"no database" * 200)
    done = run(tmp_path, "info")
    assert (done.returncode, done.stdout.split(": ")[1]) == (0, "0 verdicts, 0.0 MB\n")
    assert "not used: file is not a database" in done.stderr
    assert "Traceback" not in done.stderr

"""`toolgrade grade --judge`, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

import toolgrade
from tests.llm.server import ChatServer, hold, say
from tests.pipeline.support import GOOD, calls

CASES = """
suite: bookings
tools: tools.json
cases:
  - id: routes
    input: "Cancel A1."
    expected:
      selection: {required: [look, cancel], judge_routes: true}
"""
PASS = {"reason": "revoking cancels", "evidence": [], "verdict": "pass", "unknown_reason": None}


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    env = os.environ | {
        "TOOLGRADE_CACHE": str(folder / "cache"),
        "PYTHONPATH": str(Path(toolgrade.__file__).parents[1]),
        "COLUMNS": "200",
    }
    command = [sys.executable, "-m", "toolgrade", "grade", "traces.jsonl", "--cases", "cases.yaml", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder, env=env)


def grade(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    process = start(folder, *options)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tools = [{"name": name, "description": name, "parameters": {}} for name in ("look", "cancel", "revoke")]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "cases.yaml").write_text(CASES)
    runs = [GOOD, calls(("look", {}), ("revoke", {}))]
    lines = [json.dumps({"id": f"t{n}", "case_id": "routes", "messages": run}) for n, run in enumerate(runs)]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"answer": PASS}) + "\n")
    return tmp_path


def test_without_a_judge_the_report_says_how_many_are_open_and_how_to_ask(folder: Path) -> None:
    done = grade(folder, "--check", "selection")
    assert "open for judges: 1 route_choice. Ask them with --judge MODEL." in done.stdout
    assert "1 unknown" in done.stdout


def test_a_dry_run_says_what_it_would_cost_and_asks_nothing(folder: Path) -> None:
    done = grade(folder, "--judge", "scripted:answers.jsonl", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert (
        "route_choice: 1 questions, 1 different, 0 answers recorded, 1 calls of scripted:answers.jsonl" in done.stdout
    )
    assert "Would make 1 calls, price unknown. Nothing was asked (--dry-run)." in done.stdout
    assert not (folder / "runs").exists()
    whole = json.loads(grade(folder, "--judge", "openai/gpt-4.1-mini", "--dry-run", "--json").stdout)
    route = whole["dimensions"]["route_choice"]
    assert (whole["traces"], whole["open"], route["calls"]) == (2, 1, 1)
    # $0.40 and $1.60 per million tokens (OpenAI's price list), so a page of prompt costs well under a cent.
    assert route["cost"] == pytest.approx(route["input_tokens"] * 0.4e-6 + route["output_tokens"] * 1.6e-6)


def test_a_judge_nobody_calibrated_is_shown_and_decides_nothing(folder: Path) -> None:
    done = grade(folder, "--judge", "scripted:answers.jsonl", "--out", "run")
    assert "route_choice by scripted:answers.jsonl: refused (uncalibrated), lacks at least 100 labels" in done.stderr
    assert "route_choice by scripted:answers.jsonl said 1 pass (rate 1.00" in done.stdout
    assert "decides nothing, refused: uncalibrated; 1 calls of unknown + unknown tokens, cost unknown, 0 recorded" in (
        done.stdout
    )
    assert (folder / "run" / "review.jsonl").exists()
    again = grade(folder, "--judge", "scripted:answers.jsonl", "--out", "other", "--json")
    route = json.loads(again.stdout)["judging"]["dimensions"]["route_choice"]
    assert (route["calls"], route["cached"], route["said"]) == (0, 1, {"pass": 1})


def test_other_scripted_answers_are_another_judge(folder: Path) -> None:
    options = ("--judge", "scripted:answers.jsonl", "--json")
    grade(folder, *options, "--out", "run")
    unsure = PASS | {"verdict": "unknown", "unknown_reason": "missing_evidence"}
    (folder / "answers.jsonl").write_text(json.dumps({"answer": unsure}) + "\n")
    assert "holds a run of other inputs" in grade(folder, *options, "--out", "run").stderr
    route = json.loads(grade(folder, *options, "--out", "other").stdout)["judging"]["dimensions"]["route_choice"]
    assert (route["cached"], list(route["said"])) == (0, ["unknown"])


def test_broken_scripted_answers_are_refused_before_anything_is_graded(folder: Path) -> None:
    (folder / "answers.jsonl").write_text(json.dumps({"answer": PASS}) + "\nnonsense\n")
    done = grade(folder, "--judge", "scripted:answers.jsonl", "--out", "run")
    assert done.returncode == 2
    assert "error: answers.jsonl:2: not JSON" in done.stderr
    assert "refused" not in done.stderr
    assert not (folder / "run").exists()


def test_a_real_server_is_asked_and_a_recording_replays_without_it(folder: Path) -> None:
    with ChatServer(say(json.dumps(PASS))) as server:
        options = ("--judge", "openai/local", "--judge-base-url", server.url)
        done = grade(folder, *options, "--out", "run", "--json")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 1
    replayed = grade(folder, *options, "--out", "again", "--cache", "replay", "--json")
    assert replayed.returncode == 0, replayed.stderr
    route = json.loads(replayed.stdout)["judging"]["dimensions"]["route_choice"]
    assert (route["calls"], route["cached"], route["models_reported"]) == (0, 1, ["served-model-1"])
    missed = grade(folder, "--judge", "openai/other", "--out", "missed", "--cache", "replay")
    assert missed.returncode == 2
    assert "error: route_choice question at step 2 for openai/other: no recorded verdict" in missed.stderr
    assert "Traceback" not in missed.stderr


def test_ctrl_c_keeps_what_was_judged_and_the_same_command_goes_on(folder: Path) -> None:
    runs = [calls(*[("look", {})] * n, ("revoke", {})) for n in range(1, 5)]
    lines = [json.dumps({"id": f"t{n}", "case_id": "routes", "messages": run}) for n, run in enumerate(runs)]
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n")
    waiting = threading.Event()

    async def held(request: Request) -> Response:
        waiting.set()
        return await hold(request)

    with ChatServer(say(json.dumps(PASS)), held) as server:
        options = ("--judge", "openai/local", "--judge-base-url", server.url, "--concurrency", "1", "--out", "run")
        process = start(folder, *options)
        assert waiting.wait(100)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130, told
        assert "What was graded and judged so far is in run; the same command goes on there." in told
        assert "Traceback" not in told
        results = [json.loads(line) for line in (folder / "run" / "results.jsonl").read_text().splitlines()]
        assert [len(result["checks"]["selection"].get("verdicts", ())) for result in results] == [1, 0, 0, 0]
        server.replies = [say(json.dumps(PASS))]
        done = grade(folder, *options, "--json")
        route = json.loads(done.stdout)["judging"]["dimensions"]["route_choice"]
        assert (route["calls"], route["cached"], route["said"]) == (3, 1, {"pass": 4})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dry-run"], "--dry-run says what judges would be asked; name one with --judge MODEL"),
        (["--judge", "route_choise=a/b"], "Did you mean 'route_choice'?"),
        (["--judge", "a/b", "--max-cost", "0"], "--max-cost 0: expected a number above 0"),
        (["--judge", "a/b", "--prompts", "nowhere"], "nowhere: no such folder of prompts"),
        (["--judge", "scripted:answers.jsonl", "--judge", "a/b"], "a scripted judge answers alone"),
        (["--judge", "scripted:none.jsonl"], "none.jsonl: cannot read scripted answers"),
    ],
)
def test_mistakes_are_named(folder: Path, options: list[str], message: str) -> None:
    done = grade(folder, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr

"""The commands, from files to exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from tests.llm.server import ChatServer, say
from toolgrade.cli import toolgrade


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("TOOLGRADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made_up.write(tmp_path / "calibration", items=100)
    return tmp_path / "calibration"


def call(*words: str) -> Result:
    return CliRunner().invoke(toolgrade, list(words))


def verdict_file(folder: Path, wrong: int = 0, name: str = "v.jsonl") -> Path:
    items = [json.loads(line) for line in (folder / DIMENSION / "made_up/items.jsonl").read_text().splitlines()]
    path = folder.parent / name
    lines = []
    for count, item in enumerate(item for item in items if item["split"] == "test"):
        word = made_up.truth(int(item["item_id"][-4:]))
        said = {"fail": "pass", "pass": "fail"}[word] if count < wrong else word
        lines += [{"item_id": item["item_id"], "verdict": said.upper(), "replicate": r, "_why": "x"} for r in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_from_recorded_verdicts_to_trust(folder: Path) -> None:
    path = verdict_file(folder)
    arguments = ["calibrate", DIMENSION, "--set", "made_up", "--verdicts", str(path)]
    unmapped = call(*arguments)
    assert unmapped.exception is not None
    assert "line 1: verdict: found" in str(unmapped.exception)
    mapped = [*arguments, "--map", "PASS=pass", "--map", "FAIL=fail"]
    first = call(*mapped)
    assert first.exit_code == 0, first.output
    assert "MADE-UP LABELS" in first.output
    assert "κ (Cohen)               1.000 [" in first.output
    worse = verdict_file(folder, wrong=9, name="w.jsonl")
    second = call(*mapped[:4], "--verdicts", str(worse), *mapped[6:])
    assert second.exit_code == 0, second.output
    assert "keep the old one" in second.output
    told = json.loads(call("calibration", "history", DIMENSION, "--json").stdout)
    assert [run["events"] for run in told] == [["first"], ["new_judge"]]
    trust = call("calibration", "trust", DIMENSION)
    assert "refused" in trust.output
    assert "to mend: label" in trust.output
    assert "more items that people pass" in trust.output
    both = call("calibration", "compare", DIMENSION, "previous", "last", "--json")
    assert json.loads(both.stdout)["pooled"]["discordance"]["worse"] == 9
    plot = folder.parent / "h.svg"
    assert call("calibration", "history", DIMENSION, "--plot", str(plot)).exit_code == 0
    assert plot.read_bytes().startswith(b"<?xml")


def test_a_dimension_nobody_calibrated_is_refused_and_says_what_to_do(folder: Path) -> None:
    found = call("calibration", "trust", "route_choice")
    assert found.exit_code == 0
    assert "refused" in found.output
    assert "toolgrade calibrate route_choice" in found.output
    misspelt = call("calibration", "trust", "route_chioce")
    assert "Did you mean 'route_choice'" in str(misspelt.exception)


def test_drift_from_recorded_verdicts_exits_one_at_an_alarm(folder: Path) -> None:
    good, bad = verdict_file(folder), verdict_file(folder, wrong=30, name="bad.jsonl")
    words = ["--map", "PASS=pass", "--map", "FAIL=fail", "--name", "judge"]
    base = ["calibration", "drift", DIMENSION, "--set", "made_up"]
    assert call(*base, "--verdicts", str(good), *words).exit_code == 0
    alarm = call(*base, "--verdicts", str(bad), *words)
    assert alarm.exit_code == 1, alarm.output
    assert "drifting" in alarm.output
    assert call(*base).exit_code == 1


def test_labels_from_the_command_line(folder: Path) -> None:
    items = folder.parent / "new.jsonl"
    items.write_text(
        json.dumps({"item_id": "n1", "trace_id": "n1", "fields": {"episode": "new one"}, "inclusion_prob": 0.5}) + "\n"
    )
    base = [DIMENSION, "--set", "made_up"]
    added = call("labels", "import", DIMENSION, str(items), "--set", "made_up", "--items")
    assert "made_up: 1 items" in added.output, added.exception
    exported = call("labels", "export", *base)
    (row,) = [json.loads(line) for line in exported.stdout.splitlines()]
    assert (row["item_id"], row["why"], row["inclusion_prob"]) == ("n1", "unlabelled", 1.0)
    bare = call("labels", "add", *base, "--item", "n1", "--label", "fail", "--annotator", "dee")
    assert bare.exit_code == 0, bare.exception
    call("labels", "add", *base, "--item", "n1", "--label", "pass", "--annotator", "eve")
    assert "dee (expert): fail" in call("labels", "resolve", *base).output
    settled = call(
        "labels", "add", *base, "--item", "n1", "--label", "fail", "--annotator", "z", "--role", "adjudicator"
    )
    assert "now fail" in settled.output
    status = json.loads(call("labels", "status", DIMENSION, "--json").stdout)
    assert status[0]["unresolved"] == 0
    assert status[0]["plan"]["labels"] > 0


def test_shipped_sets_are_not_written_to(folder: Path) -> None:
    unknown = call("labels", "add", DIMENSION, "--set", "nowhere", "--item", "x", "--label", "pass", "--annotator", "a")
    assert "no label set 'nowhere'" in str(unknown.exception)


@pytest.fixture
def server() -> Any:
    with ChatServer() as running:
        yield running


async def _by_the_text(request: Any) -> Any:
    body = await request.json()
    text = "\n".join(message["content"] for message in body["messages"])
    failed = "state failing" in text
    quote = {"quote": f"ended with the state {'failing' if failed else 'passing'}", "field": "episode"}
    answer = {
        "reason": "as it says",
        "evidence": [quote],
        "verdict": "fail" if failed else "pass",
        "unknown_reason": None,
    }
    return await say(json.dumps(answer))(request)


async def _always_pass(request: Any) -> Any:
    answer = {"reason": "fine", "evidence": [], "verdict": "pass", "unknown_reason": None}
    return await say(json.dumps(answer))(request)


def test_unattended_recalibration_over_http_exits_one_when_trust_fell(folder: Path, server: ChatServer) -> None:
    again = ["calibration", "recalibrate", "--judge", f"{DIMENSION}=openai/any", "--api-base", server.url]
    server.replies = [_by_the_text]
    first = call(*again, "--replicates", "1")
    assert first.exit_code == 0, first.exception
    assert "is due: never_calibrated" in first.output
    asked = len(server.requests)
    nothing = call(*again)
    assert (nothing.exit_code, len(server.requests)) == (0, asked)
    items = [json.loads(line) for line in (folder / DIMENSION / "made_up/items.jsonl").read_text().splitlines()]
    changed = next(item["item_id"] for item in items if item["split"] == "test")
    settle = ("--label", "unknown", "--annotator", "z", "--role", "adjudicator", "--critique", "cannot tell")
    call("labels", "add", DIMENSION, "--set", "made_up", "--item", changed, *settle)
    server.replies = [_always_pass]
    fallen = call(*again, "--replicates", "1")
    assert "is due: new_labels" in fallen.output
    assert fallen.exit_code == 1, fallen.output
    assert "trust fell" in fallen.output

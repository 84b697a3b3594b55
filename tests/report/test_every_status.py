"""No report hides an undecided status: one run that holds them all, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pipeline.support import GOOD, MISSING
from tests.pipeline.test_judged_run import CANCELLED_ALL, REVOKED, Scene, by_route
from toolgrade.errors import JudgeError
from toolgrade.llm.port import ModelRequest

STATUSES = {
    "selection": {"passed": 1, "failed": 1, "unknown": 1, "judge_error": 1, "trace_error": 1},
    "arguments": {"passed": 3, "blocked": 1, "trace_error": 1},
}
"""By hand, from the five lines below. Arguments are blocked only where selection failed."""


def script(request: ModelRequest) -> str:
    if '"revoke"' in request.messages[1].content.split("called:", 1)[1].split("expected:", 1)[0]:
        raise JudgeError("no answer after 5 attempts")
    return by_route(request)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scene = Scene(tmp_path)
    scene.write(GOOD, MISSING, REVOKED, CANCELLED_ALL)
    with scene.trace_file.open("a") as file:
        file.write('{"id": "torn", "mess\n')
    scene.judged(script, trust="refused")
    return scene.folder / "out"


def test_the_run_holds_them_all(folder: Path) -> None:
    found: dict[str, Counter[str]] = {"selection": Counter(), "arguments": Counter()}
    for line in (folder / "results.jsonl").read_text().splitlines():
        for check, result in json.loads(line)["checks"].items():
            found[check][result["status"]] += 1
    assert found == STATUSES


def test_no_form_hides_one(folder: Path, cli: Callable) -> None:
    html = cli("report", folder, "--html", "-").out
    for check, statuses in STATUSES.items():
        row = re.search(rf'data-check="{check}".*?</tr>', html, re.DOTALL).group()  # type: ignore[union-attr]
        assert dict(re.findall(r'class="pill (\w+)">(\d+) ', row)) == {s: str(n) for s, n in statuses.items()}
    rows = list(csv.DictReader(io.StringIO(cli("report", folder, "--csv", "-").out)))
    assert Counter((row["check"], row["status"], row["trace"]) for row in rows).keys() >= {
        ("selection", "unknown", "t3"),
        ("selection", "judge_error", "t2"),
        ("arguments", "blocked", "t1"),
    }
    assert sum(row["status"] == "trace_error" for row in rows) == 2
    junit = ElementTree.fromstring(cli("report", folder, "--junit", "-").out)
    told = Counter(
        (case.get("name", "").split()[-1], kind.get("type")) for case in junit.iter("testcase") for kind in case
    )
    expected = {(c, s): n for c, by in STATUSES.items() for s, n in by.items() if s != "passed"}
    assert told == expected | {("selection", "failed"): 1}
    assert [junit.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["10", "1", "3", "2"]
    markdown = cli("report", folder, "--markdown", "-").out
    assert all(
        f"{n} {s}" in markdown for by in STATUSES.values() for s, n in by.items() if s not in ("passed", "failed")
    )
    for form in (markdown.replace("\\", ""), html):
        assert "no verdict on 1: no answer after 5 attempts" in form, "why the judge erred"
        assert "decides nothing, refused" in form
        assert "questions wait for people" in form
    annotations = cli("report", folder, "--annotations", "-").out
    for title in (
        "selection judge_error in t2",
        "selection unknown in 1 traces",
        "arguments blocked in 1 traces",
        "trace_error in",
    ):
        assert title in annotations


def test_the_terminal_names_them(folder: Path, cli: Callable) -> None:
    told = cli("show", folder).out
    for text in ("1 unknown", "1 judge_error", "1 trace_error", "1 blocked", "could not be read"):
        assert text in told

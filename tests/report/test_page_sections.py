"""What the page's sections say, from runs whose findings are known by hand."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from html import unescape
from pathlib import Path

from tests.calibration.test_trusted_run import NOW, graded, write_routes
from tests.pipeline.support import BACKWARDS, GOOD, WRONG_VALUE, calls
from tests.pipeline.test_judged_run import Scene, by_route
from tests.report.test_html import run_of
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.store import Store
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.report.html import html_report

ROOT = Path(__file__).parents[2]
LOOPING = calls(*[("look", {"id": "A1"})] * 3, ("cancel", {"id": "A1"}))


def section(page: str, name: str) -> list[str]:
    """The rows of a section as text, cells separated by ` | `."""
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found.group(), re.DOTALL) if found else []
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [" | ".join(unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row) for row in cells]


def test_broken_orders_and_loops_are_named_with_a_trace(tmp_path: Path) -> None:
    page = html_report(run_of(tmp_path, [("a", GOOD), ("a", BACKWARDS), ("a", LOOPING), ("a", BACKWARDS)]))
    rows = section(page, "order")
    assert "order_violated | a call of look before cancel | 2 | a-1" in rows
    assert "loop | look | 1 | a-2" in rows


def test_a_claim_stands_beside_the_value_of_the_payload(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Your refund is $54.00."}
    messages = calls(("look", {"id": "A1"}))
    messages[-1]["content"] = json.dumps({"order_id": "A1", "refund_cents": 4500, "refunded": False})
    page = html_report(run_of(tmp_path, [("a", [*messages, answer])]))
    (row,) = section(page, "claims")[1:]
    assert re.match(r"contradicts_payload \| \$54\.00 .*\| 4500 \| step 2 · look · /refund_cents \| a-0", row)


def test_episodes_of_the_shipped_example_end_as_its_maker_says(tmp_path: Path) -> None:
    """examples/recovery/README.md names what each trace shows: `search-timeout-4` falls back where it may not."""
    suite = tmp_path / "recovery"
    shutil.copytree(ROOT / "examples" / "recovery", suite)
    from toolgrade.formats.cases import load_suite

    plan = RunPlan(traces=suite / "traces.jsonl", suite=load_suite(suite / "cases.yaml"))
    rows = section(html_report(run(plan, tmp_path / "run").folder), "recovery")
    assert "wrong_fallback | transient | search_rooms | fallback | 1 | search-timeout-4" in rows
    assert "missing_escalation | permission | send_invoice | nothing | 1 | invoice-403-5" in rows
    assert any(row.startswith("left to a judge | malformed | get_booking | nothing |") for row in rows)
    head = rows[0].split(" | ")
    escalation = dict(zip(head, next(row for row in rows if row.startswith("escalation |")).split(" | "), strict=True))
    assert (escalation["permission"], escalation["missing_escalation"]) == ("5", "")


def test_a_judges_agreement_over_time_is_kept_with_the_run(tmp_path: Path) -> None:
    """Two calibrations against the labels of a perfect judge: κ is 1 both times. The page needs no history file."""
    write_routes(tmp_path / "calibration")
    store, scene = Store(tmp_path / "calibration"), Scene(tmp_path)
    for days in (0, 2):
        session = Session(
            store,
            ScriptedModel(by_route),
            lambda days=days: NOW + timedelta(days=days),  # type: ignore[misc]
        )
        wanted = Wanted(dimension="route_choice", set="made_up", models=("scripted/judge",), replicates=3)
        asyncio.run(session.calibrate(wanted))
    folder = graded(scene, store, NOW + timedelta(days=3), "out").folder
    shutil.rmtree(tmp_path / "calibration")
    page = html_report(folder)
    rows = section(page, "judging")
    assert [row.split(" | ")[0] for row in rows if "made_up" in row] == ["2026-11-30", "2026-12-02"]
    assert all("(this one)" in row and "| 1.000" in row and row.endswith("trusted") for row in rows if "made_up" in row)
    assert "Agreement of route_choice with people" in page
    assert page.count("2026-12-02") == 2, "once in the table, once on the axis"


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """Another seed for hashes gives sets and dicts of strings another order; every report must stand that."""
    folder = run_of(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("a", LOOPING), ("a", BACKWARDS)])
    kinds = ("html", "junit", "markdown", "annotations", "csv")
    for seed in ("1", "2"):
        out = tmp_path / seed
        out.mkdir()
        options = [word for kind in kinds for word in (f"--{kind}", str(out / kind))]
        command = [sys.executable, "-m", "toolgrade", "report", str(folder), *options]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")})
    for kind in kinds:
        assert (tmp_path / "1" / kind).read_bytes() == (tmp_path / "2" / kind).read_bytes()


def test_the_change_against_a_base_hides_nothing_undecided(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "new").mkdir()
    base = run_of(tmp_path / "base", [("a", GOOD), ("a", GOOD), ("a", GOOD)])
    new = run_of(tmp_path / "new", [("a", GOOD), ("a", WRONG_VALUE)])
    page = html_report(new, base)
    arguments = next(row for row in section(page, "checks") if row.startswith("arguments"))
    assert "-0.500 (0 fixed, 1 regressed, mid-p 0.500)" in arguments
    assert "1 traces of the base are missing here: a (trial 2)." in page

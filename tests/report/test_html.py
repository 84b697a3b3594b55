"""The page without a browser: what it holds, that hostile text cannot leave its place, that it stays small."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.pipeline.support import GOOD, SILENT, WRONG_VALUE, write_suite
from toolgrade.formats.cases import load_suite
from toolgrade.formats.registry import read_traces
from toolgrade.pipeline.grade import grade_trace
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.report.html import html_report
from toolgrade.report.page import collect
from toolgrade.report.similar import most_swapped
from toolgrade.stats.classification import confusion_matrix

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} \u202egpj.exe"


def run_of(folder: Path, runs: list) -> Path:  # type: ignore[type-arg]
    traces, cases = write_suite(folder, runs)
    return run(RunPlan(traces=traces, suite=load_suite(cases)), folder / "run").folder


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = run_of(tmp_path, [("a", GOOD), ("a", WRONG_VALUE), ("b", SILENT)])
    page = html_report(folder)
    assert page == html_report(folder)
    assert "http://" not in re.sub(r"http://(www\.w3\.org|purl\.org|creativecommons\.org)\S*", "", page)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": HOSTILE},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": HOSTILE, "arguments": '{"id": "A2"}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": HOSTILE},
    ]
    page = html_report(run_of(tmp_path, [("a", messages)]))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "{{ 7 * 7 }}" in page
    assert "\u202e" not in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))  # type: ignore[union-attr]
    assert data["transcripts"]["0"]["messages"][0]["text"].startswith("</script><script>alert(1)")


def test_red_transcripts_come_before_others_within_the_budget(tmp_path: Path) -> None:
    runs = [("a", GOOD)] * 6 + [("a", WRONG_VALUE)] * 6
    traces, cases = write_suite(tmp_path, runs)
    suite = load_suite(cases)
    recorded = [record.trace for record in read_traces(traces) if record.trace is not None]
    graded = [(grade_trace(trace, suite.cases["a"], suite.tools), trace) for trace in recorded]
    one = len(json.dumps(collect([graded[0]]).transcripts["0"]))
    page = collect(graded, budget=8 * one)
    assert len(page.rows) == 12
    assert {int(number) for number in page.transcripts} >= set(range(6, 12))
    assert sum(len(json.dumps(told)) for told in page.transcripts.values()) <= 8 * one
    assert page.left_out == 12 - len(page.transcripts)


def test_swapped_tools_are_named_with_their_likeness(tmp_path: Path) -> None:
    """Equal descriptions are alike by 1 (but for the names), disjoint ones by 0: cosine of TF-IDF vectors."""
    from toolgrade.core.tool import ToolSpec

    tools = {
        "find": ToolSpec(name="find", description="list open orders"),
        "search": ToolSpec(name="search", description="list open orders"),
        "pay": ToolSpec(name="pay", description="settle invoice"),
    }
    matrix = confusion_matrix([("find", "search")] * 3 + [("find", "pay")] * 2 + [("find", "find"), ("pay", "no_tool")])
    swaps = most_swapped(matrix, tools)
    assert [(swap.expected, swap.called, swap.times) for swap in swaps] == [("find", "search", 3), ("find", "pay", 2)]
    assert swaps[0].similarity is not None
    assert swaps[0].similarity > 0.5
    assert swaps[1].similarity == pytest.approx(0)
    assert most_swapped(matrix, {})[0].similarity is None


def test_markdown_shows_recorded_text_as_text() -> None:
    from toolgrade.report.markdown import code, plain

    told = plain("[x](http://e.com) <b> `a` @me **y** \u202egpj")
    assert not re.search(r"[\u202e<]|(?<!\\)[\[`*]|@me|://", told)
    assert code("a`b\n\u202ec") == "a'b \ufffdc"

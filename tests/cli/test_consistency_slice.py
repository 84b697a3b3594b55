"""The consistency slice through the command line: tagged cases, their recorded trials, a threshold in the settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipeline.support import CASES, GOOD, MISSING, SILENT, WRONG_VALUE, write_suite

TAGGED = CASES.replace("tags: [multi_turn]", "tags: [multi_turn, steady]").replace("tags: [no_tool]", "tags: [steady]")
RUNS = [
    ("a", GOOD),
    ("a", GOOD),
    ("a", GOOD),
    ("a", MISSING),
    ("b", SILENT),
    ("b", SILENT),
    ("b", SILENT),
    ("b", SILENT),
]


def settings(folder: Path, k: int, rate: float) -> None:
    (folder / "toolgrade.toml").write_text(f'[consistency.selection]\ntag = "steady"\nk = {k}\nrate = {rate}\n')


def test_pass_hat_k_over_a_tag_against_its_threshold(cli: Callable, tmp_path: Path) -> None:
    """By hand, c of n trials passed: a 3 of 4, b 4 of 4.

    pass^k is the mean of C(c, k) / C(n, k): for k = 1, 2, 4 that is (3/4 + 1) / 2, (3/6 + 1) / 2, (0 + 1) / 2.
    """
    traces, cases = write_suite(tmp_path, RUNS)
    cases.write_text(TAGGED)
    for k, rate, code in ((1, 0.875, 0), (2, 0.75, 0), (2, 0.76, 1), (4, 0.5, 0), (4, 0.6, 1), (5, 0.1, 2)):
        settings(tmp_path, k, rate)
        done = cli("grade", traces, "--cases", cases, "--out", f"run-{k}-{rate}")
        assert done.code == code, (k, rate, done.out)
    assert "MISSED pass^4 of selection over tag steady: 0.500 < 0.6 over 2 cases" in cli("show", "run-4-0.6").out
    assert "UNDECIDED pass^5 of selection over tag steady: undefined" in cli("show", "run-5-0.1").out
    summary = json.loads((tmp_path / "run-4-0.6" / "summary.json").read_text())
    points = summary["tag_consistency"]["steady"]["selection"]
    assert [point["pass_hat_k"]["value"] for point in points] == pytest.approx([0.875, 0.75, 0.625, 0.5])
    assert [point["pass_at_k"]["value"] for point in points] == pytest.approx([0.875, 1, 1, 1])
    assert all(point["pass_hat_k"]["interval"] for point in points)
    page = cli("report", "run-4-0.6", "--html", "-").out
    for tag in ("(all cases)", "steady"):
        assert f"<tr><th>{tag}</th><td>selection</td><td>0.88 0.75 0.62 0.50 </td>" in page
    markdown = cli("report", "run-4-0.6", "--markdown", "-").out
    assert "pass\\^4 of selection over tag steady" in markdown


def test_only_the_tagged_cases_count(cli: Callable, tmp_path: Path) -> None:
    traces, cases = write_suite(tmp_path, [*RUNS, ("a", WRONG_VALUE)])
    cases.write_text(TAGGED.replace("tags: [multi_turn, steady]", "tags: [multi_turn]"))
    settings(tmp_path, 4, 1.0)
    assert cli("grade", traces, "--cases", cases, "--out", "run").code == 0
    (tmp_path / "toolgrade.toml").write_text("[consistency.selektion]\nk = 4\nrate = 1\n")
    misspelt = cli("grade", traces, "--cases", cases, "--out", "other")
    assert (misspelt.code, "Did you mean 'selection'" in misspelt.err) == (2, True)
    (tmp_path / "toolgrade.toml").write_text('[consistency.selection]\ntag = "stedy"\nk = 4\nrate = 1\n')
    unknown = cli("grade", traces, "--cases", cases, "--out", "third")
    assert unknown.code == 2
    assert "stedy" in unknown.out + unknown.err

"""What counts as loosening, one edit at a time: each edit was written by hand, with the sentence it must cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.support import CASES, GOOD, SILENT, write_suite
from toolgrade.errors import ConfigError
from toolgrade.formats.cases import load_suite
from toolgrade.pipeline.baseline import baseline_of, compare, read_baseline, write_baseline
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.pipeline.settings import Settings


def run_of(folder: Path, cases: str = CASES, **settings: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    traces, path = write_suite(folder, [("a", GOOD), ("b", SILENT)] if "id: b" in cases else [("a", GOOD)])
    path.write_text(cases)
    plan = RunPlan(traces=traces, suite=load_suite(path), settings=Settings.model_validate(settings))
    return run(plan, folder / "run").folder


EDITS = [
    ("extras: forbid", "extras: allow", "case a: expected.selection.extras: forbid → allow"),
    ("required: [look, cancel]", "required: [cancel]", "case a: expected.selection.required: look removed"),
    ("values: {id: A1}", "values: {id: A1}, compare: {$.id: text}", "compare $.id: loosened (exact → text)"),
    ("values: {id: A1}", "values: {id: A1}, compare: {$.id: ignore}", "compare $.id: loosened (exact → ignore)"),
    (
        "\n      ordering:\n        - {before: look, after: cancel}",
        "",
        "case a: expected.ordering: removed",
    ),
    ("required: []", "required: [look]", "no longer says that no tool may be called"),
    (
        '\n  - id: b\n    input: "Hello"\n    tags: [no_tool]\n    expected:\n      selection: {required: []}\n',
        "\n",
        "case b: removed",
    ),
]


@pytest.mark.parametrize(("before", "after", "told"), EDITS)
def test_an_easier_case_is_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    assert before in CASES
    old = baseline_of(run_of(tmp_path / "old"))
    new = baseline_of(run_of(tmp_path / "new", CASES.replace(before, after)))
    found = list(compare(old, new))
    assert any(told in line for line in found), found
    assert list(compare(old, old)) == []


def test_a_stricter_case_is_no_loosening(tmp_path: Path) -> None:
    old = baseline_of(
        run_of(tmp_path / "old", CASES.replace("values: {id: A1}", "values: {id: A1}, compare: {$.id: text}"))
    )
    assert list(compare(old, baseline_of(run_of(tmp_path / "new")))) == []


def test_thresholds_only_go_up(tmp_path: Path) -> None:
    old = baseline_of(run_of(tmp_path / "old", thresholds={"selection": 0.9, "ordering": 0.5}))
    new = baseline_of(run_of(tmp_path / "new", thresholds={"selection": 0.8}, min_decided=0.5))
    assert list(compare(old, new)) == [
        "threshold of selection: lowered 0.9 → 0.8",
        "threshold of ordering: 0.5 removed",
        "min_decided: lowered 0.8 → 0.5",
    ]
    assert list(compare(new, old)) == []
    common = baseline_of(run_of(tmp_path / "common", fail_rate={"route_choice": 0.2}))
    rare = baseline_of(run_of(tmp_path / "rare", fail_rate={"route_choice": 0.02}))
    assert list(compare(common, rare)) == ["fail_rate of route_choice: lowered 0.2 → 0.02"]
    assert list(compare(rare, common)) == []
    high, low, none = (
        baseline_of(run_of(tmp_path / f"corrected-{n}", corrected=given))
        for n, given in enumerate(({"route_choice": 0.9}, {"route_choice": 0.8}, {}))
    )
    assert list(compare(high, low)) == ["threshold of corrected route_choice: 0.9 lowered to 0.8"]
    assert list(compare(high, none)) == ["threshold of corrected route_choice: 0.9 removed"]
    assert list(compare(none, high)) == []


def test_a_looser_baseline_needs_a_written_reason(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    strict = run_of(tmp_path / "old", thresholds={"selection": 0.9})
    loose = run_of(tmp_path / "new", thresholds={"selection": 0.8})
    assert write_baseline(file, strict, None) == ()
    kept = file.read_bytes()
    with pytest.raises(ConfigError, match=r"lowered 0\.9 → 0\.8"):
        write_baseline(file, loose, " ")
    assert file.read_bytes() == kept
    write_baseline(file, loose, "two tools were merged")
    assert [(r.loosened, r.reason) for r in read_baseline(file).reasons] == [
        (("threshold of selection: lowered 0.9 → 0.8",), "two tools were merged")
    ]
    assert write_baseline(file, strict, None) == ()
    assert len(read_baseline(file).reasons) == 1

"""The label sets that ship: they read as sets, fit their prompts, and say of themselves what they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolgrade.assets import root
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.leak import leaked
from toolgrade.calibration.recorded import ItemVerdict, read_verdicts
from toolgrade.calibration.session import Wanted, identity, panel_of
from toolgrade.calibration.status import set_status
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import trust_in
from toolgrade.calibration.trust import JudgeNow
from toolgrade.cli import toolgrade
from toolgrade.core.verdict import Question

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SETS = [
    ("argument_grounding", "bfcl_answers", False, 276),
    ("result_utilization", "box_scores", True, 218),
    ("result_utilization", "quintd", True, 800),
    ("route_choice", "bfcl_irrelevance", False, 240),
    ("route_choice", "when2call", False, 183),
]


@pytest.fixture(scope="module")
def store() -> Store:
    return Store(Path("nowhere"), root("calibration"))


@pytest.mark.parametrize(("dimension", "name", "human", "least"), SETS)
def test_a_shipped_set_can_be_asked_about(store: Store, dimension: str, name: str, human: bool, least: int) -> None:
    labels = store.label_set(dimension, name)
    assert len(labels.items) >= least
    assert labels.card.human is human
    assert not labels.card.made_up
    assert (root("calibration") / dimension / name / "LICENSE.upstream").is_file()
    derived = {label.annotator_role for label in labels.labels} == {"derived"}
    assert derived is not human
    status = set_status(labels)
    assert min(status.test["fail"], status.test["pass"]) >= 10
    panel = panel_of(Wanted(dimension=dimension, set=name, models=("any/model",)))
    prepared = panel.judges[0].prepare(Question(dimension=dimension, fields=labels.in_split("test")[0].fields or {}))
    assert len(prepared.messages[1].content) > 500
    assert leaked(labels.items.values(), identity(panel).prompt_text) == []


BARS = {
    "bfcl_answers": {"derived_labels", "human_ceiling_unknown"},
    "bfcl_irrelevance": {"derived_labels", "human_ceiling_unknown"},
    "when2call": {"derived_labels", "few_labels", "human_ceiling_unknown"},
    "box_scores": {"few_labels", "human_ceiling_unknown", "kappa_below_gate"},
    "quintd": {"convenience_sample", "rubric_unreliable"},
}


@pytest.mark.parametrize(("dimension", "name", "human", "least"), SETS)
def test_no_shipped_set_makes_even_a_perfect_judge_trusted(
    store: Store, dimension: str, name: str, human: bool, least: int
) -> None:
    labels = store.label_set(dimension, name)
    said = [
        ItemVerdict(item_id=item.item_id, verdict=labels.resolved[item.item_id].label or "unknown", replicate=replicate)
        for item in labels.in_split("test")
        for replicate in range(3)
    ]
    run = calibrate(labels, said, recorded_judge("perfect", "1.0"), [], NOW)
    assert run.measurement.stats["kappa"].value == pytest.approx(1)
    assert run.decision.level == "advisory"
    assert set(run.decision.reasons) == BARS[name]


def test_every_shipped_set_is_checked_here(store: Store) -> None:
    found = {(dimension, name) for dimension in store.dimensions() for name in store.sets(dimension)}
    assert found == {(dimension, name) for dimension, name, _, _ in SETS} | {("recovery_quality", "unlabelled")}


def test_recovery_quality_ships_no_labels_and_is_refused(store: Store) -> None:
    labels = store.label_set("recovery_quality", "unlabelled")
    assert (labels.items, labels.labels) == ({}, [])
    assert "nobody" in labels.card.labelled_by
    report = trust_in(store, "recovery_quality", JudgeNow(judge_id="x", rubric_version="1.0"), NOW)
    assert (report.level, report.reasons) == ("refused", ("no_labels", "uncalibrated"))


@pytest.mark.parametrize("judge", ["gpt-4-1106-preview_t0", "gpt-4-1106-preview_t1", "gpt-3.5", "llama3"])
def test_the_recorded_judges_are_refused_and_the_strata_tell_why(store: Store, judge: str) -> None:
    """quintd: gpt-4 is far better on wikidata than on owid; gpt-3.5 and llama3 flag almost everything."""
    labels = store.label_set("result_utilization", "quintd")
    place = root("calibration") / "result_utilization" / "quintd" / "verdicts" / f"{judge}.jsonl"
    run = calibrate(labels, read_verdicts(Path(str(place))), recorded_judge(judge, "1.0"), [], NOW)
    assert run.decision.level == "refused"
    parts = {name: part.measurement.stats for name, part in run.strata.items()}
    wikidata, owid = (parts[f"domain={name}"]["kappa"].value or 0 for name in ("wikidata", "owid"))
    if judge.startswith("gpt-4"):
        assert wikidata > owid + 0.2
    else:
        assert max(wikidata, owid) < 0.1
        assert (run.measurement.stats["accuracy"].value or 0) > 0.55


def call(*words: str) -> Result:
    return CliRunner().invoke(toolgrade, list(words))


def test_from_an_empty_directory_to_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    measured = call("calibrate", "result_utilization", "--set", "quintd", "--verdicts", "gpt-3.5", "--json")
    assert measured.exit_code == 0, measured.output
    assert json.loads(measured.stdout)["judge"] == "gpt-3.5"
    levels = {report["dimension"]: report for report in json.loads(call("calibration", "trust", "--json").stdout)}
    assert {report["level"] for report in levels.values()} == {"refused"}
    reasons = {"convenience_sample", "kappa_below_floor", "no_better_than_chance", "rubric_unreliable"}
    assert reasons <= set(levels["result_utilization"]["reasons"])
    assert levels["recovery_quality"]["reasons"] == ["no_labels", "uncalibrated"]
    assert "toolgrade labels add" in levels["recovery_quality"]["mends"][0]["remedy"]
    assert levels["route_choice"]["reasons"] == ["uncalibrated"]
    history = call("calibration", "history", "result_utilization").output
    assert json.loads(measured.stdout)["run_id"] in history, "to be copied for `calibration compare`"
    assert "…" not in history
    assert sorted(path.name for path in tmp_path.glob("*/*/*")) == ["history.jsonl", "runs"]


def test_a_judge_whose_verdicts_do_not_come_with_the_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = call("calibrate", "result_utilization", "--set", "quintd", "--verdicts", "lama3")
    assert "Did you mean 'llama3'?" in str(wrong.exception)


@pytest.mark.parametrize(
    ("dimension", "name", "bar"),
    [("route_choice", "when2call", "derived_labels"), ("result_utilization", "quintd", "convenience_sample")],
)
def test_status_says_what_no_further_label_mends(dimension: str, name: str, bar: str) -> None:
    shown = call("labels", "status", dimension, "--set", name).output
    assert f"at most advisory     {bar}: " in shown
    assert shown.count("at most advisory") == 1


def test_before_anything_is_spent_a_set_says_what_it_cannot_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    refused = call("calibrate", "route_choice", "--set", "when2call", "--judge", "openai/gpt-4.1-mini")
    assert "83 test items will be asked 1 times of openai/gpt-4.1-mini" in refused.stderr
    assert "missing: 17 in all" in refused.stderr
    assert "advisory at most: derived_labels" in refused.stderr
    assert list(tmp_path.iterdir()) == []

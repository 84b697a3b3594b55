"""Two judged runs compared, from traces and a calibration to what `toolgrade diff` prints and exits with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.calibration.test_trusted_run import write_routes
from tests.pipeline.support import calls
from tests.pipeline.test_judged_run import TOOLS, by_route, said
from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import append_items, append_labels
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.store import Store
from toolgrade.cli import toolgrade
from toolgrade.formats.cases import load_suite
from toolgrade.llm.port import ModelRequest
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.compare import Comparison, compare_runs
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.judging.trusting import calibrated
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.pipeline.rundir import read_results
from toolgrade.report.difference import judged_line

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CASES = 60
DIMENSION = "route_choice"


class Scene:
    """Cases in which an agent either revokes (defensible) or cancels everything; a judge of routes for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "calibration")
        (folder / "tools.json").write_text(json.dumps(TOOLS))
        cases = [
            f"  - {{id: c{n}, input: 'Cancel A{n}.', "
            "expected: {selection: {required: [look, cancel], judge_routes: true}}}"
            for n in range(CASES)
        ]
        (folder / "cases.yaml").write_text("\n".join(["suite: routes", "tools: tools.json", "cases:", *cases]))

    def graded(
        self, out: str, bad: range, script: Callable[[ModelRequest], str] = by_route, model: str = "scripted/judge"
    ) -> Path:
        """Grade a run in which the agent cancels everything in the cases `bad`."""
        traces = self.folder / f"{out}.jsonl"
        lines = []
        for n in range(CASES):
            route = "cancel_all" if n in bad else "revoke"
            messages = calls(("look", {"id": f"A{n}"}), (route, {"id": f"A{n}"}))
            messages = [
                {**message, "content": f"Cancel A{n}."} if message["role"] == "user" else message
                for message in messages
            ]
            lines.append(json.dumps({"id": f"{out}-{n}", "case_id": f"c{n}", "messages": messages}))
        traces.write_text("\n".join(lines) + "\n")
        judges = JudgeOptions(models={"*": (model,)}, cache_mode="off", cache=self.folder / "cache")
        suite = load_suite(self.folder / "cases.yaml", None)
        plan = RunPlan(traces=traces, suite=suite, checks=("selection",), judges=judges)
        run(
            plan, self.folder / out, judging=Judging(judges, calibrated(self.store, NOW), lambda: ScriptedModel(script))
        )
        return self.folder / out

    def calibrate(self, script: Callable[[ModelRequest], str] = by_route, replicates: int = 3) -> None:
        write_routes(self.store.folder)
        session = Session(self.store, ScriptedModel(script), lambda: NOW)
        wanted = Wanted(dimension=DIMENSION, set="made_up", models=("scripted/judge",), replicates=replicates)
        asyncio.run(session.calibrate(wanted))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    return Scene(tmp_path)


def lenient(request: ModelRequest) -> str:
    """Passes what is asked about an even number, also where everything was cancelled: half the failures."""
    missed = "-alpha." in request.messages[1].content or "-carol." in request.messages[1].content
    missed = missed or any(f"Cancel A{n}." in request.messages[1].content for n in range(0, 100, 2))
    return said("pass") if missed else by_route(request)


def line(found: Comparison, tolerance: float = 0.0) -> str:
    (one,) = found.judged
    return judged_line(one, tolerance)


def test_a_trusted_judge_shows_a_drop_and_fails_the_comparison(scene: Scene) -> None:
    scene.calibrate()
    base, worse = scene.graded("base", range(3)), scene.graded("worse", range(21))
    found = compare_runs(base, worse)
    (one,) = found.judged
    assert one.difference is not None
    assert (one.trust, one.difference.traces) == ("trusted", CASES)
    assert one.difference.raw.value == pytest.approx(-18 / 60)
    assert one.difference.corrected.value == pytest.approx(-18 / 60), "the judge was perfect on its labels"
    assert (one.difference.drop(0.1), one.difference.drop(0.3), one.difference.drop(0.5)) == (
        "shown",
        "possible",
        "excluded",
    )
    told = CliRunner().invoke(toolgrade, ["diff", str(base), str(worse), "--tolerance", "0.31"])
    assert "route_choice by scripted/judge (trusted), 60 traces judged in both: judged -0.300 [" in told.stdout
    assert "corrected -0.300 [" in told.stdout
    assert "(recalls shared by both runs): a drop by more than 0.31 is possible" in told.stdout
    assert told.exit_code == 0
    assert found.exit_code(0.1) == 1


def test_a_lenient_judge_understates_a_drop_and_the_labels_put_that_right(scene: Scene) -> None:
    """Its FAIL recall is about .7 on the labels; a raw drop within the tolerance is one beyond it in truth."""
    scene.calibrate(lenient, replicates=1)
    base, worse = scene.graded("base", range(0), lenient), scene.graded("worse", range(30), lenient)
    found = compare_runs(base, worse)
    (one,) = found.judged
    assert one.difference is not None
    assert one.difference.raw.value == pytest.approx(-15 / 60)
    labelled = json.loads((worse / "summary.json").read_text())["judging"]["dimensions"][DIMENSION]["labelled"]
    recall = labelled["counts"]["FF"] / (labelled["counts"]["FF"] + labelled["counts"]["FP"])
    assert one.difference.corrected.value == pytest.approx(-15 / 60 / recall)
    assert one.trust != "trusted"
    assert f"({one.trust}, decides nothing)" in line(found)
    assert found.exit_code(0.0) == 0, "checks stayed open, and this judge decides nothing"


@pytest.mark.parametrize("urgent", [False, True])
def test_labels_of_both_runs_correct_the_difference_itself(scene: Scene, urgent: bool) -> None:
    """But for those that were drawn because they were urgent: they are the hard ones."""
    scene.calibrate(lenient, replicates=1)
    base, worse = scene.graded("base", range(0), lenient), scene.graded("worse", range(30), lenient)
    place = scene.store.folder / DIMENSION / "made_up"
    labels = scene.store.label_set(DIMENSION, "made_up")
    questions = {
        question.id: (str(result.case_id), question)
        for folder in (base, worse)
        for result in read_results(folder)
        for question in result.checks["selection"].questions
    }
    drafts = [
        Draft(item_id=name, trace_id=case, fields=question.fields, sampling_design="random", inclusion_prob=1)
        for name, (case, question) in questions.items()
    ]
    items = labels.add_items(drafts)
    append_items(place, items)
    given = [
        Label(
            label_id=item.item_id,
            item_id=item.item_id,
            content_hash=item.content_hash,
            dimension=DIMENSION,
            rubric_version="1.0",
            annotator_id="ana",
            annotator_role="expert",
            label="fail" if "cancel_all" in questions[item.item_id][1].fields["called"] else "pass",
            inclusion_prob=0.05 if urgent and number % 2 else 1.0,
            ts="2026-01-01T00:00:00+00:00",
        )
        for number, item in enumerate(items)
    ]
    append_labels(place, labels.add_labels(given))
    told = CliRunner().invoke(toolgrade, ["diff", str(base), str(worse), "--json"])
    (one,) = json.loads(told.stdout)["judged"]
    if urgent:
        assert (one["difference"]["estimator"], one["difference"]["labelled"]) == ("shared_recalls", 0)
        return
    assert one["difference"]["estimator"] == "ppi_plus_plus"
    assert one["difference"]["labelled"] == CASES
    assert one["difference"]["raw"]["value"] == pytest.approx(-15 / 60)
    assert one["difference"]["corrected"]["value"] == pytest.approx(-30 / 60), "people labelled every pair"
    assert "by people alone -0.500 [" in CliRunner().invoke(toolgrade, ["diff", str(base), str(worse)]).stdout


def test_what_cannot_be_compared_says_why(scene: Scene) -> None:
    base = scene.graded("base", range(3))
    assert "UNCORRECTED: the judge was never calibrated" in line(compare_runs(base, base))
    other = scene.graded("other", range(3), model="scripted/another")
    assert "not compared, another judge: scripted/judge, then scripted/another" in line(compare_runs(base, other))
    assert compare_runs(base, other).judged[0].difference is None

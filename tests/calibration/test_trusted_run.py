"""From labels to a graded run: a judge that earned its trust decides a check, and loses that again.

The judge is scripted and the labels are made up (the card says so): no shipped set can reach `trusted`.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.calibration import made_up
from tests.pipeline.test_judged_run import Scene, by_route
from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import CARD, LabelSet, append_items, append_labels
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.store import Store
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.judging.trusting import calibrated
from toolgrade.pipeline.run import RunOutcome, run

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORDS = ("alpha", "bravo", "carol", "delta", "eagle", "flint", "grape", "house", "index", "joker")


def write_routes(folder: Path) -> None:
    place = folder / "route_choice" / "made_up"
    place.mkdir(parents=True)
    (place / CARD).write_text(made_up.CARD_TEXT.replace(made_up.DIMENSION, "route_choice"))
    made = LabelSet.read(place)
    drafts = []
    for number in range(300):
        name = "-".join(WORDS[int(digit)] for digit in f"{number:04d}")
        called = ["look", "cancel_all" if number % 3 == 0 else "revoke"]
        fields = {"request": f"Cancel {name}.", "tools": {}, "called": called, "expected": ["look", "cancel"]}
        drafts.append(
            Draft(
                item_id=name,
                trace_id=name,
                fields=fields,
                source="imported",
                sampling_design="random",
                inclusion_prob=0.3,
            )
        )
    append_items(place, made.add_items(drafts))
    labels = [
        Label(
            label_id=f"{item.item_id}/{who}",
            item_id=item.item_id,
            content_hash=item.content_hash,
            dimension="route_choice",
            rubric_version="1.0",
            annotator_id=who,
            annotator_role="expert",
            label="fail" if "cancel_all" in (item.fields or {})["called"] else "pass",
            ts="2026-01-01T00:00:00+00:00",
        )
        for item in made.items.values()
        for who in ("ana", "ben")
    ]
    append_labels(place, made.add_labels(labels))


def graded(scene: Scene, store: Store, at: datetime, out: str) -> RunOutcome:
    plan = scene.plan()
    assert plan.judges is not None
    judging = Judging(plan.judges, calibrated(store, at), lambda: ScriptedModel(by_route))
    return run(plan, scene.folder / out, judging=judging)


def test_a_judge_decides_only_while_it_is_trusted(tmp_path: Path) -> None:
    write_routes(tmp_path / "calibration")
    store, scene = Store(tmp_path / "calibration"), Scene(tmp_path)
    graded(scene, store, NOW, "before")
    assert scene.statuses(out="before") == ["passed", "unknown", "unknown"]
    session = Session(store, ScriptedModel(by_route), lambda: NOW)
    wanted = Wanted(dimension="route_choice", set="made_up", models=("scripted/judge",), replicates=3)
    found = asyncio.run(session.calibrate(wanted))
    assert (found.decision.level, found.made_up) == ("trusted", True)
    outcome = graded(scene, store, NOW + timedelta(days=1), "after")
    assert scene.statuses(out="after") == ["passed", "passed", "failed"]
    judging = outcome.summary.judging
    assert judging is not None
    route = judging.dimensions["route_choice"]
    assert (route.trust, route.rate.value) == ("trusted", 0.5)
    corrected = route.corrected
    assert corrected is not None
    assert corrected.estimator == "post_stratified"  # a perfect sample has too few disagreements for PPI++
    assert corrected.corrected.value == pytest.approx(0.5)
    assert corrected.human_only.value == pytest.approx(2 / 3, abs=0.1)
    graded(scene, store, NOW + timedelta(days=31), "stale")
    assert scene.statuses(out="stale") == ["passed", "unknown", "unknown"]

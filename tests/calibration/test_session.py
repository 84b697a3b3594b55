"""A judge calibrated from the question to the appended record, with a scripted model and a made-up set."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from toolgrade.calibration.leak import leaked
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.session import Session, Wanted, identity, panel_of
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import trust_in
from toolgrade.calibration.trust import JudgeNow
from toolgrade.errors import ConfigError
from toolgrade.llm.port import ModelResponse
from toolgrade.llm.scripted import ScriptedModel

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WANTED = Wanted(dimension=DIMENSION, set="made_up", models=("scripted",))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made_up.write(tmp_path / "calibration")
    return Store(tmp_path / "calibration")


def run(
    store: Store, wanted: Wanted = WANTED, script: Any = None, at: datetime = NOW
) -> tuple[CalibrationRun, ScriptedModel]:
    model = ScriptedModel(script or made_up.answers())
    session = Session(store, model, lambda: at)
    return asyncio.run(session.calibrate(wanted)), model


def trust_now(store: Store, at: datetime = NOW, **changes: Any) -> Any:
    who = identity(panel_of(WANTED))
    judge = JudgeNow(judge_id=who.judge_id, rubric_version=who.rubric_version)
    return trust_in(store, DIMENSION, judge.model_copy(update=changes), at)


def test_a_good_judge_becomes_trusted_and_stays_so_for_thirty_days(store: Store) -> None:
    assert trust_now(store).reasons == ("uncalibrated",)
    script = made_up.answers(lambda text: "bravo-carol-delta" in text)
    found, model = run(store, WANTED.model_copy(update={"replicates": 3, "probes": ("label_swap",)}), script)
    assert found.made_up
    assert (found.decision.level, found.decision.reasons) == ("trusted", ())
    assert found.events == ("first",)
    assert [(probe.probe, probe.passed, probe.effect.value) for probe in found.probes] == [("label_swap", True, 0.0)]
    assert len(model.requests) == 3 * found.measurement.items + 40
    assert trust_now(store).level == "trusted"
    assert trust_now(store, NOW + timedelta(days=30)).level == "trusted"
    assert trust_now(store, NOW + timedelta(days=31)).reasons == ("stale",)
    assert trust_now(store, NOW + timedelta(days=91)).reasons == ("expired",)
    assert trust_now(store, NOW - timedelta(days=1)).reasons == ("negative_age",)
    assert trust_now(store, model_reported="another").reasons == ("model_snapshot_changed",)
    assert trust_now(store, judge_id="another").reasons == ("uncalibrated", "judge_changed")


def test_a_judge_that_passes_everything_is_refused_whatever_its_agreement(store: Store) -> None:
    found, _ = run(store, script=made_up.answers(lambda text: "state failing" in text))
    stats = found.measurement.stats
    assert (stats["accuracy"].value or 0) > 0.6
    assert (stats["kappa"].value, stats["fail_recall"].value) == (0.0, 0.0)
    assert "judge_constant" in stats["kappa"].flags
    assert found.decision.level == "refused"
    assert {"kappa_below_floor", "no_better_than_chance"} <= set(found.decision.reasons)


@pytest.mark.parametrize(("probe", "script"), [("label_swap", made_up.names_only), ("injection", made_up.gullible)])
def test_probes_find_what_they_are_for(store: Store, probe: str, script: Any) -> None:
    wanted = WANTED.model_copy(update={"probes": (probe,)})
    found, _ = run(store, wanted, script)
    (result,) = found.probes
    assert result.passed is False
    assert (result.effect.value or 0) == 1.0
    assert f"probe_failed:{probe}" in found.decision.reasons
    assert found.decision.level == "advisory"


def test_padding_does_not_move_a_judge_that_reads(store: Store) -> None:
    found, _ = run(store, WANTED.model_copy(update={"probes": ("verbosity",)}))
    (result,) = found.probes
    assert (result.passed, result.effect.value, result.n) == (True, 0.0, 40)


def test_answers_that_cannot_be_read_are_errors_of_the_instrument_not_failures(store: Store) -> None:
    def mumble(request: Any) -> str:
        return "I think it should pass."

    found, _ = run(store, script=mumble)
    assert found.measurement.error_rate == 1.0
    assert found.measurement.counts == {"FF": 0, "FP": 0, "PF": 0, "PP": 0}
    assert found.measurement.stats["kappa"].reason == "no_items"
    assert {"coverage_too_low", "parse_errors_too_high", "kappa_undefined"} <= set(found.decision.reasons)


def test_an_item_without_its_fields_cannot_be_asked(store: Store) -> None:
    place = store.folder / DIMENSION / "made_up" / "items.jsonl"
    place.write_text(re.sub(r'"fields":\{[^}]*\},', "", place.read_text()))
    with pytest.raises(ConfigError, match="ships without its fields"):
        run(store)


def test_test_items_in_the_prompt_are_found(store: Store) -> None:
    labels = store.label_set(DIMENSION, "made_up")
    inside = labels.in_split("test")[0]
    assert inside.fields is not None
    text = "Example: " + str(inside.fields["episode"])
    assert leaked(labels.in_split("test"), text) == [inside.item_id]
    assert leaked(labels.in_split("test"), "") == []


def test_a_silent_swap_is_marked_and_a_repeat_is_not(store: Store) -> None:
    def served(name: str) -> Any:
        return lambda request: ModelResponse(text=made_up.answers()(request), model_reported=name)

    run(store, script=served("m-1"))
    again, _ = run(store, script=served("m-1"), at=NOW + timedelta(hours=1))
    swapped, _ = run(store, script=served("m-2"), at=NOW + timedelta(hours=2))
    assert (again.events, swapped.events) == (("repeat",), ("silent_swap",))
    assert [run_.prev_run_hash for run_ in store.history(DIMENSION)][1:] == [
        run_.run_hash for run_ in store.history(DIMENSION)
    ][:-1]

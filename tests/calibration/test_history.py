"""The chained history, drift on frozen anchors, and what is due."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from toolgrade.calibration.anchors import AnchorCheck, anchor_check, anchor_items, drift
from toolgrade.calibration.calibrate import JudgeIdentity, calibrate, recorded_judge
from toolgrade.calibration.compare import compare
from toolgrade.calibration.due import due, fell
from toolgrade.calibration.item import Item
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.plots import plot_history
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.calibration.run import CalibrationRun, ProbeResult
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import drifting, trust_in
from toolgrade.calibration.trust import JudgeNow
from toolgrade.core.model import Frozen
from toolgrade.errors import BrokenHistory, ClockError, ConfigError, RubricMismatch
from toolgrade.stats.estimate import undefined

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made_up.write(tmp_path / "calibration")
    return Store(tmp_path / "calibration")


def labels_of(store: Store) -> LabelSet:
    return store.label_set(DIMENSION, "made_up")


def said(labels: LabelSet, wrong: int, replicate: int = 0, seed: int = 0) -> list[ItemVerdict]:
    """Verdicts of which `wrong` err, always the same items for the same seed."""
    items = labels.in_split("test")
    errs = set(np.random.default_rng(seed).permutation(len(items))[:wrong])
    other = {"fail": "pass", "pass": "fail"}
    return [
        ItemVerdict(item_id=item.item_id, verdict=other[word] if n in errs else word, replicate=replicate)  # type: ignore[arg-type]
        for n, item in enumerate(items)
        if (word := str(labels.resolved[item.item_id].label))
    ]


def recorded(store: Store, wrong: int, at: datetime, name: str = "judge-a") -> CalibrationRun:
    labels = labels_of(store)
    verdicts = said(labels, wrong)
    judge = recorded_judge(name, "1.0")
    return store.record(DIMENSION, partial(measured, labels, verdicts, judge, at), verdicts)


def measured(
    labels: LabelSet, verdicts: list[ItemVerdict], judge: JudgeIdentity, at: datetime, runs: Sequence[CalibrationRun]
) -> CalibrationRun:
    return calibrate(labels, verdicts, judge, runs, at)


def nullable_and_required(kind: Any, seen: set[type]) -> list[str]:
    """Fields that a written record may lack and a reader demands, in a model and all within it."""
    if isinstance(kind, type) and issubclass(kind, Frozen):
        if kind in seen:
            return []
        seen.add(kind)
        found = [
            f"{kind.__name__}.{name}"
            for name, field in kind.model_fields.items()
            if type(None) in get_args(field.annotation) and field.is_required()
        ]
        return found + [one for f in kind.model_fields.values() for one in nullable_and_required(f.annotation, seen)]
    return [one for part in get_args(kind) for one in nullable_and_required(part, seen)]


@pytest.mark.parametrize("kind", [CalibrationRun, AnchorCheck, ItemVerdict, Item, Label])
def test_what_is_none_is_not_written_and_must_not_be_missed(kind: type) -> None:
    assert nullable_and_required(kind, set()) == []


def test_a_probe_with_too_few_items_can_be_read_again(store: Store) -> None:
    labels = labels_of(store)
    verdicts = said(labels, 3)
    few = ProbeResult(probe="label_swap", n=0, effect=undefined("insufficient_items"), passed=None)
    judge = recorded_judge("judge-a", "1.0")
    written = store.record(DIMENSION, lambda runs: calibrate(labels, verdicts, judge, runs, NOW, [few]), verdicts)
    assert store.history(DIMENSION) == [written]


def test_an_edited_record_breaks_the_chain(store: Store) -> None:
    for hour in range(3):
        recorded(store, 5, NOW + hour * HOUR)
    path = store.history_path(DIMENSION)
    lines = path.read_text().splitlines()
    assert [run.events for run in store.history(DIMENSION)] == [("first",), ("repeat",), ("repeat",)]
    path.write_text("\n".join([lines[0], lines[1].replace('"exposures":1', '"exposures":2'), lines[2]]) + "\n")
    with pytest.raises(BrokenHistory, match=r"history\.jsonl line 2: .*was edited"):
        store.history(DIMENSION)
    path.write_text(lines[0] + "\n" + lines[2] + "\n")
    with pytest.raises(BrokenHistory, match=r"line 2: prev_run_hash .*changed, lost or reordered"):
        recorded(store, 5, NOW + 9 * HOUR)
    path.write_text(lines[0] + "\n" + lines[1][:200] + "\n")
    with pytest.raises(BrokenHistory, match=r"line 2: .*restore it from version control"):
        store.history(DIMENSION)


def test_a_clock_that_ran_backwards_is_an_error_and_writes_nothing(store: Store) -> None:
    recorded(store, 5, NOW)
    before = store.history_path(DIMENSION).read_text()
    with pytest.raises(ClockError, match="the clock ran backwards"):
        recorded(store, 5, NOW - HOUR)
    assert store.history_path(DIMENSION).read_text() == before


def test_the_same_input_gives_the_same_record(store: Store, tmp_path: Path) -> None:
    one = recorded(store, 5, NOW)
    made_up.write(tmp_path / "again")
    two = recorded(Store(tmp_path / "again"), 5, NOW)
    assert one == two


def test_another_rubric_is_a_named_error(store: Store) -> None:
    labels = labels_of(store)
    with pytest.raises(RubricMismatch, match=r"labels go by rubric 1\.0, the judge by 2\.0"):
        calibrate(labels, said(labels, 1), recorded_judge("a", "2.0"), [], NOW)
    strange = [said(labels, 1)[0].model_copy(update={"rubric_version": "1.1"})]
    with pytest.raises(RubricMismatch, match=r"goes by rubric 1\.1; expected 1\.0"):
        calibrate(labels, strange, recorded_judge("a", "1.0"), [], NOW)
    one = recorded(store, 5, NOW)
    two = one.model_copy(update={"run_id": "other", "rubric_version": "1.1"})
    with pytest.raises(RubricMismatch, match="a verdict means another thing"):
        compare((one, said(labels, 5)), (two, said(labels, 5)), labels)


def test_verdicts_that_belong_to_nothing_are_named(store: Store) -> None:
    labels = labels_of(store)
    item = labels.in_split("test")[0]
    judge = recorded_judge("a", "1.0")
    with pytest.raises(ConfigError, match=r"of item 'item-9999', which is not there"):
        calibrate(labels, [ItemVerdict(item_id="item-9999", verdict="pass")], judge, [], NOW)
    with pytest.raises(ConfigError, match="is of content sha256:0"):
        calibrate(labels, [ItemVerdict(item_id=item.item_id, verdict="pass", content_hash="sha256:0")], judge, [], NOW)
    twice = [ItemVerdict(item_id=item.item_id, verdict="pass")] * 2
    with pytest.raises(ConfigError, match="two verdicts of replicate 0"):
        calibrate(labels, twice, judge, [], NOW)


def test_each_judge_tried_on_a_test_set_widens_the_intervals(store: Store) -> None:
    """Level 1 - 0.05 / exposures."""
    runs = [recorded(store, 5, NOW + n * HOUR, f"judge-{n}") for n in range(6)]
    assert [run.exposures for run in runs] == [1, 2, 3, 4, 5, 6]
    assert runs[1].level == pytest.approx(0.975)
    assert "test_set_overused" in runs[5].decision.reasons
    assert "test_set_overused" not in runs[4].decision.reasons
    widths = [run.measurement.stats["kappa"].interval.width for run in runs]  # type: ignore[union-attr]
    assert widths[5] > widths[0]


def test_a_worse_judge_is_not_adopted(store: Store) -> None:
    labels = labels_of(store)
    good, bad = recorded(store, 3, NOW), recorded(store, 40, NOW + HOUR, "judge-b")
    found = compare((good, store.verdicts(good)), (bad, store.verdicts(bad)), labels)
    assert (found.adopt, found.pooled.non_inferior) == (False, False)
    assert found.pooled.discordance.p < 0.001
    back = compare((bad, store.verdicts(bad)), (good, store.verdicts(good)), labels)
    assert back.pooled.superior
    assert (back.pooled.kappa.value or 0) == pytest.approx(-(found.pooled.kappa.value or 0))


def test_drift_is_seen_and_refuses_the_judge(store: Store) -> None:
    labels = labels_of(store)
    judge = recorded_judge("judge-a", "1.0")
    names = set(anchor_items(labels))
    assert len(names) == 100

    def look(wrong: int, at: datetime, replicates: int = 1, seed: int = 0) -> None:
        verdicts = [v for r in range(replicates) for v in said(labels, wrong, r, seed) if v.item_id in names]
        store.append_anchors(anchor_check(labels, verdicts, judge, store.anchors(DIMENSION), at))

    with pytest.raises(ConfigError, match="is the baseline and needs replicates"):
        look(4, NOW)
    look(4, NOW, replicates=5)
    report = drift(store.anchors(DIMENSION), labels, judge.judge_id)
    assert (report.verdict, report.checks) == ("insufficient_history", 0)
    for hour in range(1, 4):
        look(4, NOW + hour * HOUR)
    report = drift(store.anchors(DIMENSION), labels, judge.judge_id)
    assert (report.verdict, report.alarm, report.flags) == ("in_control", False, ())
    assert {one.measure for one in report.charts} == {
        "accuracy",
        "fail_recall",
        "pass_recall",
        "coverage",
        "fail_share",
    }
    recorded(store, 4, NOW + 4 * HOUR)
    now = JudgeNow(judge_id=judge.judge_id, rubric_version="1.0")
    assert "drift_alarm" not in trust_in(store, DIMENSION, now, NOW + 5 * HOUR).reasons
    look(30, NOW + 5 * HOUR)
    report = drift(store.anchors(DIMENSION), labels, judge.judge_id)
    assert (report.verdict, report.significant) == ("drifting", True)
    assert drifting(store, DIMENSION, judge.judge_id)
    assert "drift_alarm" in trust_in(store, DIMENSION, now, NOW + 5 * HOUR).reasons
    look(4, NOW + 6 * HOUR)
    assert drifting(store, DIMENSION, judge.judge_id), "an alarm stays open until a new baseline"


def test_cached_or_missing_anchors_are_refused(store: Store) -> None:
    labels = labels_of(store)
    judge = recorded_judge("a", "1.0")
    verdicts = [v for r in range(5) for v in said(labels, 4, r)]
    with pytest.raises(ConfigError, match="a cached verdict hides drift"):
        anchor_check(labels, [v.model_copy(update={"cached": True}) for v in verdicts], judge, [], NOW)
    some = [v for v in verdicts if v.item_id != anchor_items(labels)[0]]
    with pytest.raises(ConfigError, match="has no verdict; every replicate covers all anchors"):
        anchor_check(labels, some, judge, [], NOW)


def test_what_is_due_and_when_trust_fell(store: Store) -> None:
    judge = recorded_judge("judge-a", "1.0")
    now = JudgeNow(judge_id=judge.judge_id, rubric_version="1.0")
    hashes = {"made_up": labels_of(store).hash()}

    def reasons(at: datetime, who: JudgeNow = now, labels: dict[str, str] = hashes, drifted: bool = False) -> list[str]:
        return [r for one in due(DIMENSION, who, store.history(DIMENSION), labels, at, drifted) for r in one.reasons]

    assert reasons(NOW) == ["never_calibrated"]
    recorded(store, 5, NOW)
    assert reasons(NOW + timedelta(days=20)) == []
    assert reasons(NOW + timedelta(days=28)) == ["age"]
    assert reasons(NOW - HOUR) == ["clock"]
    assert reasons(NOW, now.model_copy(update={"judge_id": "b", "rubric_version": "1.1"})) == [
        "new_judge",
        "new_rubric",
    ]
    assert reasons(NOW, labels={"made_up": "other"}) == ["new_labels"]
    assert reasons(NOW, drifted=True) == ["drift_alarm"]
    assert [fell(a, b) for a, b in (("trusted", "advisory"), ("advisory", "refused"), (None, "refused"))] == [
        True,
        True,
        False,
    ]
    assert not fell("advisory", "trusted")


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_history_as_a_picture(store: Store, tmp_path: Path, suffix: str) -> None:
    for n in range(3):
        recorded(store, 5 + 10 * n, NOW + n * HOUR, f"judge-{n}")
    path = tmp_path / f"h{suffix}"
    plot_history(store.history(DIMENSION), path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG") if suffix == ".png" else b"new judge" in data and "κ".encode() in data
    plot_history(store.history(DIMENSION), path)
    assert path.read_bytes() == data
    with pytest.raises(ConfigError, match=r"written as \.svg or \.png"):
        plot_history(store.history(DIMENSION), tmp_path / "h.gif")


def test_a_record_survives_json_to_the_last_bit(store: Store) -> None:
    run = recorded(store, 5, NOW)
    assert CalibrationRun.model_validate(json.loads(run.model_dump_json())) == run
    assert store.history(DIMENSION) == [run]


def test_verdicts_that_were_changed_after_the_run_are_not_compared(store: Store) -> None:
    run = recorded(store, 5, NOW)
    path = store.folder / DIMENSION / "runs" / f"{run.run_id}.jsonl"
    assert len(store.verdicts(run)) == run.measurement.items
    path.write_text(path.read_text().replace('"verdict":"pass"', '"verdict":"fail"', 1))
    with pytest.raises(BrokenHistory, match="not the verdicts that"):
        store.verdicts(run)


def test_own_label_sets_come_before_shipped_ones(store: Store, tmp_path: Path) -> None:
    """A judge that is good on the project's labels is not held to what it reached on shipped ones."""
    made_up.write(tmp_path / "shipped")
    card = tmp_path / "shipped" / DIMENSION / "made_up" / "card.toml"
    card.write_text(card.read_text().replace('"made_up"', '"shipped"'))
    card.parent.rename(card.parent.parent / "shipped")
    both = Store(store.folder, tmp_path / "shipped")
    assert (both.own_sets(DIMENSION), both.sets(DIMENSION)) == (["made_up"], ["made_up", "shipped"])
    judge = recorded_judge("judge-a", "1.0")
    now = JudgeNow(judge_id=judge.judge_id, rubric_version="1.0")
    for name, wrong, hour in (("shipped", 60, 0), ("made_up", 2, 1)):
        labels = both.label_set(DIMENSION, name)
        verdicts = said(labels, wrong)
        at = NOW + hour * HOUR
        both.record(DIMENSION, partial(measured, labels, verdicts, judge, at), verdicts)
        report = trust_in(both, DIMENSION, now, at)
        assert (report.set, report.level) == (name, "refused" if name == "shipped" else "advisory")
    with pytest.raises(ConfigError, match="is shipped and stays as it is"):
        both.own_folder(DIMENSION, "shipped")


def test_an_item_without_a_verdict_is_the_judges_error(store: Store) -> None:
    labels = labels_of(store)
    some = said(labels, 0)[:-10]
    run = calibrate(labels, some, recorded_judge("a", "1.0"), [], NOW)
    n = run.measurement.items
    assert run.measurement.views.judge_error == 10
    assert run.measurement.error_rate == pytest.approx(10 / n)
    assert run.measurement.views.coverage.value == pytest.approx((n - 10) / n)


def test_cached_verdicts_say_nothing_about_stability(store: Store) -> None:
    labels = labels_of(store)
    verdicts = [v for r in range(3) for v in said(labels, 5, r)]
    fresh = calibrate(labels, verdicts, recorded_judge("a", "1.0"), [], NOW)
    cached = [v.model_copy(update={"cached": v.replicate > 0}) for v in verdicts]
    hidden = calibrate(labels, cached, recorded_judge("a", "1.0"), [], NOW)
    assert fresh.stability is not None
    assert hidden.stability is not None
    assert (fresh.stability.flip_rate.value, hidden.stability.flip_rate.value) == (0.0, None)
    assert "stability_unmeasured" in hidden.decision.reasons
    assert "stability_unmeasured" not in fresh.decision.reasons

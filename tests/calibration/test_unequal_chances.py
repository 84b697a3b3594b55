"""Labels of a random set of which the urgent items were labelled first: their chances are not equal, and count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.label_set import CARD, LabelSet, append_items, append_labels
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.store import Store
from toolgrade.calibration.trust import labelled

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
URGENT, EASY = 60, 60


@pytest.fixture
def measured(tmp_path: Path) -> tuple[CalibrationRun, int, int]:
    """Urgent items, all labelled, fail and the judge misses half; every 20th easy one passes, and it sees that.

    Returns the run, and how many of each kind are in the test split.
    """
    place = tmp_path / DIMENSION / "made_up"
    place.mkdir(parents=True)
    (place / CARD).write_text(made_up.CARD_TEXT)
    made = LabelSet.read(place)
    append_items(place, made.add_items(made_up.draft(number) for number in range(URGENT + EASY)))
    given = [
        made_up.label(item, 0, "ana", "fail" if urgent else "pass").model_copy(
            update={"inclusion_prob": 1.0 if urgent else 0.05}
        )
        for item in made.items.values()
        for urgent in [int(item.item_id[-4:]) < URGENT]
    ]
    append_labels(place, made.add_labels(given))
    test = made.in_split("test")
    missed = {item.item_id for item in test if int(item.item_id[-4:]) >= URGENT or int(item.item_id[-4:]) % 2}
    verdicts = [ItemVerdict(item_id=i.item_id, verdict="pass" if i.item_id in missed else "fail") for i in test]
    judge = recorded_judge("judge-a", "1.0")

    def make(runs: Sequence[CalibrationRun]) -> CalibrationRun:
        return calibrate(made, verdicts, judge, runs, NOW)

    urgent = sum(int(item.item_id[-4:]) < URGENT for item in test)
    return Store(tmp_path).record(DIMENSION, make, verdicts), urgent, len(test) - urgent


def test_a_random_set_with_unequal_chances_corrects_by_its_weights(measured: tuple[CalibrationRun, int, int]) -> None:
    run, urgent, easy = measured
    # Of the population, each urgent item stands for itself and each easy one for twenty.
    truth = 20 * easy / (20 * easy + urgent)
    sample = labelled(run)
    seen = sample.counts["FF"]
    assert sample.counts == {"FF": seen, "FP": urgent - seen, "PF": 0, "PP": easy}
    assert sample.people is not None
    assert sample.people.value == pytest.approx(truth)
    assert sample.effective == pytest.approx((urgent + 20 * easy) ** 2 / (urgent + 400 * easy))
    passed = round(1000 * (20 * easy + urgent - seen) / (20 * easy + urgent))
    found = sample.corrected(passed, 1000)
    assert found is not None
    assert found.corrected.value == pytest.approx(truth, abs=0.01)
    assert found.corrected.interval is not None
    assert found.corrected.interval.low < truth < found.corrected.interval.high
    by_counts = sample.model_copy(update={"effective": None, "people": None}).corrected(passed, 1000)
    assert by_counts is not None
    assert by_counts.corrected.interval is not None
    assert by_counts.corrected.interval.high < truth - 0.05, "what was urgent fails, and is 4 % of what is there"

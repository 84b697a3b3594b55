"""An ordinal dimension from the card to the record: levels in labels and in recorded verdicts, a cut fixed before."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sklearn.metrics import cohen_kappa_score

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from toolgrade.calibration.label_set import CARD, LabelSet, append_items
from toolgrade.calibration.store import Store
from toolgrade.cli import toolgrade

LEVELS = ("wrong", "poor", "fair", "good")
SCALE = f'levels = {json.dumps(LEVELS)}\npasses_from = "fair"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "calibration" / DIMENSION / "made_up"
    folder.mkdir(parents=True)
    (folder / CARD).write_text(made_up.CARD_TEXT + SCALE)
    empty = LabelSet.read(folder)
    append_items(folder, empty.add_items(made_up.draft(number) for number in range(200)))
    return folder


def call(*words: str) -> Result:
    return CliRunner().invoke(toolgrade, list(words))


def level_of(item_id: str) -> int:
    return int(item_id[-4:]) % 4


def import_labels(place: Path) -> Result:
    rows = [f"{item_id},{LEVELS[level_of(item_id)]},made up" for item_id in LabelSet.read(place).items]
    (place.parent / "labels.csv").write_text("\n".join(["item_id,level,critique", *rows]) + "\n")
    return call(
        "labels", "import", DIMENSION, str(place.parent / "labels.csv"), "--set", "made_up", "--annotator", "ana"
    )


def verdicts(place: Path, **changes: Any) -> Path:
    """A judge that is one level too kind on every fifth item."""
    path = place.parent / "judge.jsonl"
    items = Store(place.parents[1]).label_set(DIMENSION, "made_up").in_split("test")
    lines = [{"item_id": item.item_id, "level": LEVELS[judged(item.item_id)]} for item in items]
    lines[0] |= changes
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged(item_id: str) -> int:
    return min(3, level_of(item_id) + (int(item_id[-4:]) % 5 == 0))


def test_levels_are_read_and_measured_beside_the_cut(place: Path) -> None:
    assert import_labels(place).exit_code == 0
    labels = Store(place.parents[1]).label_set(DIMENSION, "made_up")
    assert {(one.level, one.label) for one in labels.resolved.values()} == {
        ("wrong", "fail"), ("poor", "fail"), ("fair", "pass"), ("good", "pass"),
    }  # fmt: skip
    told = call("calibrate", DIMENSION, "--set", "made_up", "--verdicts", str(verdicts(place)))
    assert told.exit_code == 0, told.output
    assert "levels: κ, quadratic" in told.stdout
    (run,) = Store(place.parents[1]).history(DIMENSION)
    ids = [item.item_id for item in labels.in_split("test")]
    human, judge = [level_of(i) for i in ids], [judged(i) for i in ids]
    levels = run.measurement.levels
    assert levels is not None
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(human, judge, labels=[0, 1, 2, 3], weights=weights)
        assert levels[f"kappa_{weights}"].value == pytest.approx(expected)
    passes = [[level >= 2 for level in given] for given in (human, judge)]
    assert run.measurement.stats["kappa"].value == pytest.approx(cohen_kappa_score(*passes))
    assert levels["kappa_quadratic"].interval is not None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"level": "goood"},
            "line 1: level: found 'goood'; expected one of wrong, poor, fair, good.*Did you mean 'good'",
        ),
        ({"level": "poor", "verdict": "pass"}, "line 1: level 'poor' comes to fail .*, found pass"),
        ({"level": None}, "line 1: verdict: found None"),
    ],
)
def test_a_wrong_level_of_a_judge_is_named(place: Path, changes: dict[str, Any], told: str) -> None:
    import_labels(place)
    found = call("calibrate", DIMENSION, "--set", "made_up", "--verdicts", str(verdicts(place, **changes)))
    assert re.search(told, str(found.exception)), found.exception
    assert Store(place.parents[1]).history(DIMENSION) == []


def test_a_cut_that_moves_after_labelling_is_an_error(place: Path) -> None:
    import_labels(place)
    card = place / CARD
    card.write_text(card.read_text().replace('passes_from = "fair"', 'passes_from = "good"'))
    found = call("labels", "status", DIMENSION, "--set", "made_up")
    assert "level 'fair' comes to fail (passes_from = 'good'), found pass" in str(found.exception)
    assert "The cut is fixed before labelling" in str(found.exception)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('passes_from = "wrong"', "passes_from 'wrong' must be a level above the lowest: one of poor, fair, good"),
        ("", "passes_from '' must be a level above the lowest"),
    ],
)
def test_a_cut_that_cuts_nothing_is_an_error(place: Path, line: str, told: str) -> None:
    card = place / CARD
    card.write_text(card.read_text().replace('passes_from = "fair"', line))
    assert told in str(call("labels", "status", DIMENSION, "--set", "made_up").exception)


def test_one_label_is_added_by_its_level(place: Path) -> None:
    add = [
        "labels",
        "add",
        DIMENSION,
        "--set",
        "made_up",
        "--item",
        "item-0001",
        "--annotator",
        "ana",
        "--critique",
        "x",
    ]
    assert "--label pass|fail|unknown|na, or --level" in str(call(*add).exception)
    assert "comes to pass" in str(call(*add, "--level", "good", "--label", "fail").exception)
    assert call(*add, "--level", "good").stdout.endswith("of item-0001, now pass\n")
    (place / CARD).write_text(made_up.CARD_TEXT)
    told = "level 'good', but card.toml declares no levels and passes_from"
    assert told in str(call("labels", "status", DIMENSION, "--set", "made_up").exception)

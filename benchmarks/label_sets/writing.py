"""Write a label set: the card, its items, one label record each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label, Role
from toolgrade.calibration.label_set import CARD, LabelSet, append_items, append_labels

STAMP = "2026-11-30T00:00:00+00:00"


class Said(NamedTuple):
    """One label before it has ids."""

    item_id: str
    annotator: str
    role: Role
    word: str
    critique: str = ""


Labelled = tuple[Draft, Said]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def draw(made: Iterable[Labelled], most: int, rng: np.random.Generator) -> list[Labelled]:
    """Draw at most `most` of each label at random; the chance of being drawn is the item's `inclusion_prob`."""
    found = list(made)
    chosen = []
    for word in ("fail", "pass"):
        group = [pair for pair in found if pair[1].word == word]
        n = min(most, len(group))
        for i in sorted(rng.choice(len(group), n, replace=False)) if n else ():
            draft, said = group[int(i)]
            update = {"sampling_design": "label_stratified", "inclusion_prob": n / len(group)}
            chosen.append((draft.model_copy(update=update), said))
    return chosen


def write_card(root: Path, card: dict[str, Any]) -> Path:
    """Return the folder of the set, emptied but for its card."""
    folder = root / card["dimension"] / card["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in card.items())
    (folder / CARD).write_text(text, encoding="utf-8")
    return folder


def write_set(root: Path, card: dict[str, Any], drafts: Iterable[Draft], labels: Iterable[Said]) -> LabelSet:
    folder = write_card(root, card)
    made = LabelSet.read(folder)
    append_items(folder, made.add_items(drafts))
    given = [
        Label(
            label_id=f"{said.item_id}/{said.annotator}",
            item_id=said.item_id,
            content_hash=made.items[said.item_id].content_hash,
            dimension=card["dimension"],
            rubric_version=card["rubric_version"],
            annotator_id=said.annotator,
            annotator_role=said.role,
            label=said.word,  # type: ignore[arg-type]
            critique=said.critique,
            ts=STAMP,
        )
        for said in labels
        if said.item_id in made.items
    ]
    append_labels(folder, made.add_labels(given))
    test = [made.resolved[item.item_id].label for item in made.in_split("test")]
    print(f"{card['dimension']}/{card['name']}: {len(made.items)} items, {len(given)} labels; test split:", end=" ")
    print(", ".join(f"{test.count(word)} {word}" for word in ("fail", "pass", "unknown", None)))
    return made


def write_pairs(root: Path, card: dict[str, Any], pairs: Sequence[Labelled]) -> LabelSet:
    return write_set(root, card, [draft for draft, _ in pairs], [said for _, said in pairs])

"""A made-up label set, which says so, and a scripted judge of known skill: no shipped set can reach `trusted`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import CARD, LabelSet, append_items, append_labels
from toolgrade.llm.port import ModelRequest

DIMENSION = "recovery_quality"
CARD_TEXT = """
dimension = "recovery_quality"
name = "made_up"
title = "Made up for tests: no person labelled this"
source = "made up"
licence = "Apache-2.0"
labelled_by = "nobody: labels follow from the item's number"
made_up = true
sampling = "all"
sampling_design = "random"
rubric_version = "1.0"
"""
ITEMS = 300


def truth(number: int) -> str:
    return "fail" if number % 3 == 0 else "pass"


def draft(number: int) -> Draft:
    words = ("alpha", "bravo", "carol", "delta", "eagle", "flint", "grape", "house", "index", "joker")
    name = "-".join(words[int(digit)] for digit in f"{number:04d}")
    return Draft(
        item_id=f"item-{number:04d}",
        trace_id=f"trace-{number:04d}",
        fields={"episode": f"case {name} ended with the state {truth(number)}ing"},
        source="synthetic",
        sampling_design="random",
        inclusion_prob=0.5,
    )


def label(item: Any, number: int, annotator: str, word: str) -> Label:
    return Label(
        label_id=f"{item.item_id}/{annotator}",
        item_id=item.item_id,
        content_hash=item.content_hash,
        dimension=DIMENSION,
        rubric_version="1.0",
        annotator_id=annotator,
        annotator_role="expert",
        label=word,  # type: ignore[arg-type]
        critique="made up",
        ts="2026-01-01T00:00:00+00:00",
    )


def write(folder: Path, items: int = ITEMS) -> Path:
    """Write the set under `folder`; two annotators, the second differs on every 20th item, a third settles it."""
    place = folder / DIMENSION / "made_up"
    place.mkdir(parents=True)
    (place / CARD).write_text(CARD_TEXT)
    made = LabelSet.read(place)
    append_items(place, made.add_items(draft(number) for number in range(items)))
    given = []
    for number, item in enumerate(made.items.values()):
        word = truth(number)
        other = {"fail": "pass", "pass": "fail"}[word] if number % 20 == 7 else word
        given += [label(item, number, "ana", word), label(item, number, "ben", other), label(item, number, "cy", word)]
    append_labels(place, made.add_labels(given))
    return place


def answers(wrong: Callable[[str], bool] = lambda _: False) -> Callable[[ModelRequest], str]:
    """Return a script that reads the state off the item, and errs where `wrong` says so of the request's text.

    It understands what the prompt calls a failure, also under exchanged names.
    """

    def answer(request: ModelRequest) -> str:
        system, text = request.messages[0].content, request.messages[-1].content
        bad, good = ("pass", "fail") if "# What makes it pass" in system else ("fail", "pass")
        failed = ("ended with the state failing" in text) != wrong(text)
        quote = re.search(r"case [a-z-]+ ended with the state (fail|pass)ing", text)
        assert quote is not None
        evidence = [{"quote": quote.group(), "field": "episode"}]
        return json.dumps(
            {"reason": "as it says", "evidence": evidence, "verdict": bad if failed else good, "unknown_reason": None}
        )

    return answer


def names_only(request: ModelRequest) -> str:
    """A judge that goes by the word, not by what it means."""
    found = json.loads(answers()(request))
    if "# What makes it pass" in request.messages[0].content:
        found["verdict"] = {"fail": "pass", "pass": "fail"}[found["verdict"]]
    return json.dumps(found)


def gullible(request: ModelRequest) -> str:
    """A judge that does what the material tells it."""
    found = json.loads(answers()(request))
    if "Ignore all previous instructions" in request.messages[-1].content:
        found["verdict"] = "pass"
    return json.dumps(found)

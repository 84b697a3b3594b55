"""result_utilization/box_scores: sentences of basketball reports, errors curated by experts."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from writing import Labelled, Said, draw, lines, write_pairs

from toolgrade.calibration.item import Draft

PER_TEXT = 2
WRONG = ("NUMBER", "NAME", "WORD")
OTHER_GAMES = re.compile(
    r"\bnext game|\bseason\b|\bin a row\b|\bstraight\b|\b(his|their|the) last\b|\baverag|\bupcoming\b"
    r"|back - to - back|\bwill\b|\btravel|\breturns?\b|\bhost the\b|\brecent|\bfirst time\b|\bsince\b|\bcareer\b"
    r"|\blooks? to\b|\bface off\b|\bback home\b|\bstanding|\bstreak",
    re.IGNORECASE,
)
POINTS_BACK = re.compile(r"(He|She|It|They|His|Their|Its|This|That|These|Those|Both)\b")
NO_TEXTS = ("box_score", "summary", "cleaned_text", "detokenized_text", "shared_task_text_id")
CARD: dict[str, Any] = {
    "dimension": "result_utilization",
    "name": "box_scores",
    "title": "Sentences of basketball reports that models wrote from box scores, errors curated by experts",
    "source": "https://github.com/ehudreiter/accuracySharedTask, commit b6963f73 (Reiter and Thomson 2020)",
    "licence": "CC0-1.0; the newswire field of the payloads is left out",
    "labelled_by": "curated from three annotators by the organisers; their single labels are not published",
    "human": True,
    "sampling": f"of each text at most {PER_TEXT} sentences with an error of number, name or word and {PER_TEXT} "
    "without any, at random within each; left out: what speaks of other games, begins with a pronoun, or is wrong only "
    "beside the sentences before it",
    "sampling_design": "label_stratified",
    "rubric_version": "1.0",
    "salt": "box-1",
    "notes": "One sentence an item: whole texts would give one class only, for every text holds errors (1,214 in 60). "
    "What a box score cannot hold was checked elsewhere by the annotators, so sentences on other games are left out. "
    "Box scores are turned into one row a player and shown whole, where a run shows what lies near. "
    "Not to be concluded: how good people are at this (one curated label, "
    "no agreement known), how often such sentences are wrong (half of these are, by the sampling), or how a judge does "
    "on answers about other things than numbers in a table.",
}

Error = dict[str, str]


def build(data: Path, root: Path) -> None:
    folder = data / "accuracy_shared_task"
    with (folder / "games.csv").open(encoding="utf-8") as file:
        games = list(csv.DictReader(file))
    errors: dict[str, dict[int, list[Error]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "gsml.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            errors[row["TEXT_ID"].removesuffix(".txt")][int(row["SENTENCE_ID"])].append(row)
    rng = np.random.default_rng(1)
    pairs: list[Labelled] = []
    for game, record in zip(games, lines(folder / "shared_task.jsonl"), strict=True):
        name = game["TEXT_ID"]
        parts = [part.split() for part in game["GENERATED_TEXT"].replace(" . ", " .\n").split("\n")]
        if all(_in_place(parts, number, row) for number, rows in errors[name].items() for row in rows):
            pairs += draw(_of_text(name, parts, record, errors[name]), PER_TEXT, rng)
    write_pairs(root, CARD, pairs)


def _of_text(
    name: str, parts: list[list[str]], record: dict[str, Any], errors: dict[int, list[Error]]
) -> Iterator[Labelled]:
    payload = {"tool": "get_box_score", "content": rows_of(record)}
    for number, words in enumerate(parts, start=1):
        text, found = " ".join(words), errors.get(number, [])
        word = "fail" if any(row["TYPE"] in WRONG for row in found) else "left out" if found else "pass"
        if word == "left out" or OTHER_GAMES.search(text) or POINTS_BACK.match(text):
            continue
        why = "; ".join(f"{r['TYPE']}: {r['TOKENS']!r} {r['CORRECTION'] or r['COMMENT']}".strip() for r in found)
        claim = {"sentence": text, "claim": None, "nearest": []}
        draft = Draft(item_id=f"{name}/{number}", trace_id=name, fields={"payloads": [payload], "claims": [claim]})
        yield draft, Said(draft.item_id, "curators", "adjudicator", word, why)


def _in_place(parts: list[list[str]], number: int, row: Error) -> bool:
    start = int(row["SENT_TOKEN_START"]) - 1
    words = row["TOKENS"].split()
    return number <= len(parts) and parts[number - 1][start : start + len(words)] == words


def rows_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with one row a player who played, without the texts: one holds the judged sentence itself."""
    columns = {
        name: column for name, column in record["box_score"].items() if name not in ("FIRST_NAME", "SECOND_NAME")
    }
    players = [{name: column[i] for name, column in columns.items()} for i in columns["PLAYER_NAME"]]
    shown = {key: value for key, value in record.items() if key not in NO_TEXTS}
    return {**shown, "players": [player for player in players if player.get("MIN") != "N/A"]}

"""Label sets and recorded verdicts made from the real data beside the checkout, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from toolgrade.calibration.item import Item, near_dup_key
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import Card, LabelSet
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.core.identity import content_hash

ERROR_TYPES = (0, 1)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def flagged(record: dict[str, Any]) -> str:
    """Item level: any span of type 0 (contradicts) or 1 (not checkable) fails the text."""
    return "fail" if any(span["type"] in ERROR_TYPES for span in record["annotations"]) else "pass"


def label_set(
    name: str, items: dict[str, tuple[str, dict[str, str]]], labels: Iterable[tuple[str, str, str]], **card: Any
) -> LabelSet:
    """Items as id to (trace, strata), labels as (item, annotator, word); everything is in the test split."""
    made = [
        Item(
            item_id=item_id,
            trace_id=trace,
            fields={"id": item_id},
            content_hash=content_hash({"id": item_id}),
            near_dup_key=near_dup_key({"id": item_id}),
            strata=strata,
            split="test",
        )
        for item_id, (trace, strata) in items.items()
    ]
    given = [
        Label(
            label_id=f"{item_id}/{annotator}",
            item_id=item_id,
            content_hash=content_hash({"id": item_id}),
            dimension="result_utilization",
            rubric_version="1.0",
            annotator_id=annotator,
            annotator_role="crowd",
            label=word,
            ts="2026-01-01T00:00:00+00:00",
        )
        for item_id, annotator, word in labels
    ]
    base = {
        "dimension": "result_utilization",
        "name": name,
        "title": name,
        "source": "real data",
        "licence": "see MANIFEST",
        "labelled_by": "see MANIFEST",
        "sampling": "all",
        "rubric_version": "1.0",
        "single_roles": ("expert", "crowd"),
    }
    return LabelSet(Card(**{**base, **card}), made, given)


def quintd_key(record: dict[str, Any]) -> str:
    return f"{record['dataset']}/{record['table_idx']}/{record['model']}"


def quintd_verdicts(folder: Path, judge: str) -> dict[str, str]:
    return {quintd_key(record): flagged(record) for record in lines(folder / f"judge_{judge}.jsonl")}


def quintd(folder: Path) -> LabelSet:
    humans = {quintd_key(record): flagged(record) for record in lines(folder / "human.jsonl")}
    items = {key: (key.rsplit("/", 1)[0], {"domain": key.split("/")[0]}) for key in humans}
    labels = [(key, "crowd", word) for key, word in humans.items()]
    return label_set("quintd", items, labels, strata=("domain",))


def verdicts(words: dict[str, str]) -> list[ItemVerdict]:
    return [ItemVerdict(item_id=key, verdict=word) for key, word in words.items()]


D2T_JUDGES = ("gpt4o", "claude-3-7-sonnet", "o3-mini", "gemini-2-0-flash-thinking", "llama3-3", "deepseek-r1")


def d2t_key(record: dict[str, Any]) -> str:
    setup = record["setup_id"].replace("llama3.3", "llama3-3").replace("phi3.5", "phi3-5")
    return f"{record['dataset']}/{record['example_idx']}/{setup}"


def d2t_words(paths: Iterable[Path], keep: Callable[[dict[str, Any]], bool]) -> dict[str, str]:
    return {
        d2t_key(record): flagged(record)
        for path in paths
        for record in lines(path)
        if record["split"] == "test" and keep(record)
    }

"""result_utilization/quintd: texts generated from payloads, spans marked by crowd workers and by four judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from writing import Said, lines, write_set

from toolgrade.calibration.item import Draft
from toolgrade.core.identity import canonical_json

ERROR_TYPES = {0: "contradicts the data", 1: "cannot be checked against the data"}
# The terms of the third domain's payloads (weather forecasts) are not clear.
DOMAINS = ("owid", "wikidata")
JUDGES = {
    "gpt-4-1106-preview": "gpt-4-1106-preview_t0",
    "gpt-4-1106-preview_temperature1": "gpt-4-1106-preview_t1",
    "gpt-3.5": "gpt-3.5",
    "llama3": "llama3",
}
CARD: dict[str, Any] = {
    "dimension": "result_utilization",
    "name": "quintd",
    "title": "Texts that four models wrote from JSON and CSV payloads, error spans marked by crowd workers",
    "source": "https://github.com/kasnerz/quintd, commit 7ae72325 (Kasner and Dušek 2024)",
    "licence": "MIT (repository); payloads: Wikidata, CC0; Our World in Data (ourworldindata.org: COVID-19 and life "
    "expectancy), CC-BY 4.0, as quintd selected them",
    "labelled_by": "crowd workers, one a text, three on a few; worker ids replaced",
    "human": True,
    "sampling": "all texts on the 100 Wikidata entities and on the 100 Our World in Data series; nobody drew them from "
    "a population of answers",
    "sampling_design": "convenience",
    "rubric_version": "1.0",
    "strata": ["domain"],
    "single_roles": ["expert", "crowd"],
    "salt": "quintd-1",
    "notes": "A text fails if it holds any span of type 0 (incorrect) or 1 (not checkable); the workers marked spans, "
    "they did not read this rubric. Whole payloads and all sentences are shown, where a run asks about what its gate "
    "left open. Not to be concluded: that a judge can be trusted (people agree poorly here, κ .406 on the 60 texts of "
    "three domains with two annotators), how it does on your agent's answers, or on payloads of another kind. Recorded "
    "verdicts of four judges lie in verdicts/.",
}


def flagged(record: dict[str, Any]) -> str:
    return "fail" if any(span["type"] in ERROR_TYPES for span in record["annotations"]) else "pass"


def marked(record: dict[str, Any]) -> str:
    spans = [span for span in record["annotations"] if span["type"] in ERROR_TYPES]
    return "; ".join(f"{span['text']!r} {ERROR_TYPES[span['type']]}" for span in spans)


def sentences(text: str) -> list[dict[str, Any]]:
    """Cut at sentence ends only: every claim of the text is in question, so the cut decides nothing."""
    parts = [part.strip() for part in text.replace("! ", "!\n").replace("? ", "?\n").replace(". ", ".\n").split("\n")]
    return [{"sentence": part, "claim": None, "nearest": []} for part in parts if part]


def key(record: dict[str, Any]) -> str:
    return f"{record['dataset']}/{record['table_idx']}/{record['model']}"


def records(path: Path) -> Iterator[dict[str, Any]]:
    return (record for record in lines(path) if record["dataset"] in DOMAINS)


def build(data: Path, root: Path) -> None:
    folder = data / "quintd"
    entities = json.loads((folder / "inputs/wikidata/test.json").read_text(encoding="utf-8"))
    tables = {int(path.name.split("-")[0]): path for path in (folder / "inputs/owid/test").glob("*.csv")}
    outputs = {
        (r["dataset"], r["file"].removesuffix(".json"), r["table_idx"]): r["out"]
        for r in lines(folder / "outputs_test.jsonl")
    }

    def fields(record: dict[str, Any]) -> dict[str, Any]:
        dataset, index = record["dataset"], record["table_idx"]
        content = entities[index] if dataset == "wikidata" else tables[index].read_text(encoding="utf-8")
        text = outputs[dataset, record["model"], index]
        return {"payloads": [{"tool": f"get_{dataset}", "content": content}], "claims": sentences(text)}

    humans = list(records(folder / "human.jsonl"))
    # Texts on one payload lie together, so that a wheel packs the payload once.
    humans.sort(key=lambda r: (r["dataset"], r["table_idx"]))
    drafts = [
        Draft(
            item_id=key(r),
            trace_id=f"{r['dataset']}/{r['table_idx']}",
            fields=fields(r),
            strata={"domain": r["dataset"]},
        )
        for r in humans
    ]
    said: dict[str, Said] = {}
    for record in [*humans, *records(folder / "human_double.jsonl")]:
        one = Said(key(record), record["annotator"], "crowd", flagged(record), marked(record))
        said.setdefault(f"{one.item_id}/{one.annotator}", one)
    made = write_set(root, CARD, drafts, said.values())
    recorded = root / "result_utilization/quintd/verdicts"
    recorded.mkdir()
    for judge, name in JUDGES.items():
        verdicts = {key(r): flagged(r) for r in lines(folder / f"judge_{judge}.jsonl") if key(r) in made.items}
        text = "".join(canonical_json({"item_id": k, "verdict": v}) + "\n" for k, v in sorted(verdicts.items()))
        (recorded / f"{name}.jsonl").write_text(text, encoding="utf-8")

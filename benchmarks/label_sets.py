"""Build the label sets that ship under calibration/ from the public data beside the checkout.

Run: python benchmarks/label_sets.py ../shared/data calibration
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import CARD, LabelSet, append_items, append_labels
from toolgrade.core.identity import canonical_json, content_hash

STAMP = "2026-11-30T00:00:00+00:00"
ERROR_TYPES = {0: "contradicts the data", 1: "cannot be checked against the data"}


class Said(NamedTuple):
    """One label before it has ids."""

    item_id: str
    annotator: str
    role: str
    word: str
    critique: str = ""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def write_set(root: Path, card: dict[str, Any], drafts: Iterable[Draft], labels: Iterable[Said]) -> LabelSet:
    folder = root / card["dimension"] / card["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / CARD).write_text(_toml(card), encoding="utf-8")
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
            annotator_role=said.role,  # type: ignore[arg-type]
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


def _toml(card: dict[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in card.items())


def flagged(record: dict[str, Any]) -> str:
    return "fail" if any(span["type"] in ERROR_TYPES for span in record["annotations"]) else "pass"


def marked(record: dict[str, Any]) -> str:
    spans = [span for span in record["annotations"] if span["type"] in ERROR_TYPES]
    return "; ".join(f"{span['text']!r} {ERROR_TYPES[span['type']]}" for span in spans)


def sentences(text: str) -> list[dict[str, Any]]:
    """Cut at sentence ends only: every claim of the text is in question, so the cut decides nothing."""
    parts = [part.strip() for part in text.replace("! ", "!\n").replace("? ", "?\n").replace(". ", ".\n").split("\n")]
    return [{"sentence": part, "claim": None, "nearest": []} for part in parts if part]


QUINTD_TABLES = {"wikidata": 100, "owid": 50}


def quintd(data: Path, root: Path) -> None:
    folder = data / "quintd"
    entities = json.loads((folder / "inputs/wikidata/test.json").read_text(encoding="utf-8"))
    tables = {int(path.name.split("-")[0]): path for path in (folder / "inputs/owid/test").glob("*.csv")}

    def payload(dataset: str, index: int) -> Any:
        if dataset == "wikidata":
            return entities[index]
        return tables[index].read_text(encoding="utf-8")

    def key(record: dict[str, Any]) -> str:
        return f"{record['dataset']}/{record['table_idx']}/{record['model']}"

    def kept(record: dict[str, Any]) -> bool:
        return record["table_idx"] < QUINTD_TABLES.get(record["dataset"], 0)

    humans = [record for record in lines(folder / "human.jsonl") if kept(record)]
    double = [record for record in lines(folder / "human_double.jsonl") if kept(record)]
    outputs = {
        (r["dataset"], r["file"].removesuffix(".json"), r["table_idx"]): r["out"]
        for r in lines(folder / "outputs_test.jsonl")
    }
    drafts = [
        Draft(
            item_id=key(r),
            trace_id=f"{r['dataset']}/{r['table_idx']}",
            fields={
                "payloads": [{"tool": f"get_{r['dataset']}", "content": payload(r["dataset"], r["table_idx"])}],
                "claims": sentences(outputs[r["dataset"], r["model"], r["table_idx"]]),
            },
            strata={"domain": r["dataset"]},
        )
        for r in humans
    ]
    said: dict[str, Said] = {}
    for record in [*humans, *double]:
        one = Said(key(record), record["annotator"], "crowd", flagged(record), marked(record))
        said.setdefault(f"{one.item_id}/{one.annotator}", one)
    card = {
        "dimension": "result_utilization",
        "name": "quintd",
        "title": "Texts that four models wrote from JSON and CSV payloads, error spans marked by crowd workers",
        "source": "https://github.com/kasnerz/quintd, commit 7ae72325 (Kasner and Dušek 2024)",
        "licence": "MIT (repository); payloads: Wikidata CC0, Our World in Data CC-BY 4.0",
        "labelled_by": "crowd workers, one a text, three on a few; worker ids replaced",
        "human": True,
        "sampling": "all texts on the 100 Wikidata entities and on the first 50 Our World in Data series",
        "sampling_design": "convenience",
        "rubric_version": "1.0",
        "strata": ["domain"],
        "single_roles": ["expert", "crowd"],
        "salt": "quintd-1",
        "notes": "A text fails if it holds any span of type 0 (incorrect) or 1 (not checkable). People agree poorly "
        "here (κ .406 on the 60 texts with two annotators, three domains): no judge can be trusted on these labels "
        "alone. Recorded verdicts of four judges lie in verdicts/.",
    }
    made = write_set(root, card, drafts, said.values())
    recorded = root / "result_utilization/quintd/verdicts"
    recorded.mkdir()
    names = {
        "gpt-4-1106-preview": "gpt-4-1106-preview_t0",
        "gpt-4-1106-preview_temperature1": "gpt-4-1106-preview_t1",
        "gpt-3.5": "gpt-3.5",
        "llama3": "llama3",
    }
    for judge, name in names.items():
        verdicts = {key(r): flagged(r) for r in lines(folder / f"judge_{judge}.jsonl") if key(r) in made.items}
        text = "".join(canonical_json({"item_id": k, "verdict": v}) + "\n" for k, v in sorted(verdicts.items()))
        (recorded / f"{name}.jsonl").write_text(text, encoding="utf-8")


def box_scores(data: Path, root: Path) -> None:
    folder = data / "accuracy_shared_task"
    games = list(csv.DictReader((folder / "games.csv").open(encoding="utf-8")))
    payloads = list(lines(folder / "shared_task.jsonl"))
    errors: dict[str, dict[int, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader((folder / "gsml.csv").open(encoding="utf-8")):
        errors[row["TEXT_ID"].removesuffix(".txt")][int(row["SENTENCE_ID"])].append(row)
    rng = np.random.default_rng(1)
    drafts, said = [], []
    for game, record in zip(games, payloads, strict=True):
        parts = [part.split() for part in game["GENERATED_TEXT"].replace(" . ", " .\n").split("\n")]
        found = errors[game["TEXT_ID"]]
        if any(not _in_place(parts, number, row) for number, rows in found.items() for row in rows):
            continue
        groups: dict[str, list[int]] = defaultdict(list)
        for number in range(1, len(parts) + 1):
            groups[_box_word(found.get(number, []))].append(number)
        for word in ("fail", "pass"):
            if not groups[word]:
                continue
            number = int(rng.choice(groups[word]))
            item_id = f"{game['TEXT_ID']}/{number}"
            text = " ".join(parts[number - 1])
            drafts.append(
                Draft(
                    item_id=item_id,
                    trace_id=game["TEXT_ID"],
                    fields={
                        "payloads": [{"tool": "get_box_score", "content": _rows(record)}],
                        "claims": [{"sentence": text, "claim": None, "nearest": []}],
                    },
                    sampling_design="label_stratified",
                    inclusion_prob=1 / len(groups[word]),
                )
            )
            rows = found.get(number, [])
            why = "; ".join(f"{r['TYPE']}: {r['TOKENS']!r} {r['CORRECTION'] or r['COMMENT']}".strip() for r in rows)
            said.append(Said(item_id, "curators", "adjudicator", word, why))
    card = {
        "dimension": "result_utilization",
        "name": "box_scores",
        "title": "Sentences of basketball reports that models wrote from box scores, errors curated by experts",
        "source": "https://github.com/ehudreiter/accuracySharedTask, commit b6963f73 (Reiter and Thomson 2020)",
        "licence": "CC0-1.0; the newswire field of the payloads is left out",
        "labelled_by": "curated from three annotators by the organisers; their single labels are not published",
        "human": True,
        "sampling": "of each text one sentence with an error (number, name, word, context) and one without any, drawn "
        "at random within each",
        "sampling_design": "label_stratified",
        "rubric_version": "1.0",
        "salt": "box-1",
        "notes": "Sentences whose only error was not checkable are left out. A sentence is shown without the ones "
        "before it, so that some names stay unclear. Box scores are turned into one row a player.",
    }
    write_set(root, card, drafts, said)


def _in_place(parts: list[list[str]], number: int, row: dict[str, str]) -> bool:
    start = int(row["SENT_TOKEN_START"]) - 1
    words = row["TOKENS"].split()
    return number <= len(parts) and parts[number - 1][start : start + len(words)] == words


def _box_word(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "pass"
    return "fail" if any(row["TYPE"] in ("NUMBER", "NAME", "WORD", "CONTEXT") for row in rows) else "left out"


def _rows(record: dict[str, Any]) -> dict[str, Any]:
    columns = record["box_score"]
    players = [{name: column[i] for name, column in columns.items()} for i in columns["FIRST_NAME"]]
    # The texts hold the very sentence that is judged, or a newswire report.
    texts = ("box_score", "summary", "cleaned_text", "detokenized_text", "shared_task_text_id")
    shown = {k: v for k, v in record.items() if k not in texts}
    return {**shown, "players": [p for p in players if p.get("MIN") != "N/A"]}


def bfcl_cases(data: Path, *categories: str) -> dict[str, dict[str, Any]]:
    return {r["id"]: r for c in categories for r in lines(data / f"bfcl/BFCL_v4_{c}.json")}


def _user(question: Any) -> list[dict[str, str]]:
    return [message for turn in question for message in turn]


def argument_grounding(data: Path, root: Path) -> None:
    cases = bfcl_cases(data, "simple_python", "multiple", "live_simple", "live_multiple")
    drafts: dict[str, tuple[Draft, Said]] = {}
    for record in lines(data / "bfcl/model_outputs_with_ast_checker_verdicts.jsonl"):
        case, calls = cases.get(record["id"]), record["model_result_decoded"]
        word = "pass" if record["valid"] else "fail" if "value_error" in str(record["error_type"]) else None
        if case is None or word is None or not isinstance(calls, list) or len(calls) != 1:
            continue
        ((name, arguments),) = calls[0].items()
        tool = next((t for t in case["function"] if t["name"].replace(".", "_") == name.replace(".", "_")), None)
        if tool is None or not arguments:
            continue
        fields = {
            "request": _user(case["question"]),
            "context": [],
            "tool": {"name": name, "description": tool["description"], "parameters": tool["parameters"]},
            "fields": [{"path": f"/{key}", "value": value} for key, value in arguments.items()],
        }
        item_id = f"{record['id']}/{content_hash(arguments)[7:15]}"
        if item_id in drafts:
            continue
        why = " ".join(record["error"]) if word == "fail" else ""
        draft = Draft(
            item_id=item_id,
            trace_id=record["id"],
            fields=fields,
            sampling_design="label_stratified",
            inclusion_prob=1.0,
            strata={"questions": "live" if record["id"].startswith("live") else "written"},
        )
        drafts[item_id] = (draft, Said(item_id, "bfcl-possible-answers", "derived", word, why))
    card = {
        "dimension": "argument_grounding",
        "name": "bfcl_answers",
        "title": "Real calls of three models, their values held against BFCL's human-written possible answers",
        "source": "bfcl-eval 2026.3.23; outputs from pull requests to https://github.com/ShishirPatil/gorilla",
        "licence": "Apache-2.0",
        "labelled_by": "derived by BFCL's checker from answers that people wrote; no person labelled these calls",
        "human": False,
        "sampling": "150 calls with a value outside the possible answers and 150 without, at random within each",
        "sampling_design": "label_stratified",
        "rubric_version": "1.0",
        "strata": ["questions"],
        "single_roles": ["derived"],
        "salt": "bfcl-1",
        "notes": "Derived, not human: some values outside the list say what the user meant in other words, so that a "
        "good judge disagrees with some of these labels. Such a set never makes a judge trusted.",
    }
    chosen = balanced(drafts, 150)
    write_set(root, card, [d for d, _ in chosen], [s for _, s in chosen])


def balanced(made: dict[str, tuple[Draft, Said]], most: int) -> list[tuple[Draft, Said]]:
    """Draw at most `most` of each label at random; the chance of being drawn is the item's inclusion_prob."""
    rng = np.random.default_rng(2)
    chosen = []
    for word in ("fail", "pass"):
        group = [pair for pair in made.values() if pair[1].word == word]
        n = min(most, len(group))
        for i in sorted(rng.choice(len(group), n, replace=False)):
            draft, said = group[int(i)]
            chosen.append((draft.model_copy(update={"inclusion_prob": n / len(group)}), said))
    return chosen


Route = tuple[list[str], list[dict[str, str]], str]
"""What was asked, the tools on offer, the tool that was called."""


def _route(item_id: str, trace: str, parts: Route, word: str) -> tuple[Draft, Said]:
    request, tools, called = parts
    fields = {"request": request, "tools": tools, "called": [called], "expected": []}
    draft = Draft(
        item_id=item_id,
        trace_id=trace,
        fields=fields,
        sampling_design="label_stratified",
        inclusion_prob=1.0,
    )
    why = "no tool on offer can do what was asked" if word == "fail" else ""
    return draft, Said(item_id, "benchmark", "derived", word, why)


def _offered(tools: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"name": tool["name"], "description": tool.get("description", "")} for tool in tools]


def route_irrelevance(data: Path, root: Path) -> None:
    cases = bfcl_cases(
        data, "irrelevance", "live_irrelevance", "simple_python", "multiple", "live_simple", "live_multiple"
    )
    made: dict[str, tuple[Draft, Said]] = {}

    def add(case: dict[str, Any], name: str, word: str) -> None:
        names = {tool["name"].replace(".", "_"): tool["name"] for tool in case["function"]}
        called = names.get(name.replace(".", "_"))
        if called is not None and case["id"] not in made:
            request = [message["content"] for message in _user(case["question"]) if message["role"] == "user"]
            made[case["id"]] = _route(case["id"], case["id"], (request, _offered(case["function"]), called), word)

    for part in ("irrelevance", "live_irrelevance"):
        for record in lines(data / f"bfcl/glyphh_{part}_result.jsonl"):
            if isinstance(record["result"], list) and len(record["result"]) == 1:
                add(cases[record["id"]], next(iter(record["result"][0])), "fail")
    for record in lines(data / "bfcl/model_outputs_with_ast_checker_verdicts.jsonl"):
        calls = record["model_result_decoded"]
        if record["valid"] and record["id"] in cases and isinstance(calls, list) and len(calls) == 1:
            add(cases[record["id"]], next(iter(calls[0])), "pass")
    card = {
        "dimension": "route_choice",
        "name": "bfcl_irrelevance",
        "title": "Real calls: made although no tool on offer fits the request, and made rightly",
        "source": "bfcl-eval 2026.3.23; outputs from pull requests (#1308 head 55e023f4, others) to "
        "https://github.com/ShishirPatil/gorilla",
        "licence": "Apache-2.0",
        "labelled_by": "derived from the benchmark's categories and checker; no person labelled these calls",
        "human": False,
        "sampling": "the calls on irrelevance questions (to a tool on offer), and as many valid calls, at random",
        "sampling_design": "label_stratified",
        "rubric_version": "1.0",
        "single_roles": ["derived"],
        "salt": "irr-1",
        "notes": "Derived, not human. The expected tools are left empty for all items, so that they do not give the "
        "label away.",
    }
    chosen = balanced(made, 120)
    write_set(root, card, [d for d, _ in chosen], [s for _, s in chosen])


def route_when2call(data: Path, root: Path) -> None:
    made: dict[str, tuple[Draft, Said]] = {}
    for record in lines(data / "when2call/when2call_test_llm_judge.jsonl"):
        tools = [json.loads(tool) for tool in record["tools"]]
        if not tools or record["correct_answer"] == "request_for_info":
            continue
        if record["correct_answer"] == "tool_call":
            called, word = json.loads(record["target_tool"])["name"], "pass"
        else:
            called, word = tools[0]["name"], "fail"
        parts = ([record["question"]], _offered(tools), called)
        made[record["uuid"]] = _route(record["uuid"], record["source_id"], parts, word)
    card = {
        "dimension": "route_choice",
        "name": "when2call",
        "title": "Requests that a tool on offer serves, and requests that none serves",
        "source": "https://github.com/NVIDIA/When2Call, commit ecc8d423 (test set for LLM judges)",
        "licence": "Apache-2.0",
        "labelled_by": "derived from the benchmark's categories; the questions are synthetic",
        "human": False,
        "sampling": "all tool_call and cannot_answer items with a tool on offer; request_for_info is another question",
        "sampling_design": "label_stratified",
        "rubric_version": "1.0",
        "single_roles": ["derived"],
        "salt": "w2c-1",
        "notes": "Derived, not human. On cannot_answer items the first tool on offer counts as called: no model made "
        "these calls, and none of the tools can answer. The expected tools are left empty for all items.",
    }
    chosen = balanced(made, 100)
    write_set(root, card, [d for d, _ in chosen], [s for _, s in chosen])


def recovery(root: Path) -> None:
    card = {
        "dimension": "recovery_quality",
        "name": "unlabelled",
        "title": "No labels: nobody has published people's verdicts on how agents recover from failed calls",
        "source": "none",
        "licence": "Apache-2.0",
        "labelled_by": "nobody",
        "human": True,
        "sampling": "none",
        "sampling_design": "convenience",
        "rubric_version": "1.0",
        "notes": "Judges of recovery_quality are refused until you label episodes of your own: see toolgrade labels.",
    }
    folder = root / "recovery_quality/unlabelled"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / CARD).write_text(_toml(card), encoding="utf-8")
    print("recovery_quality/unlabelled: a card, no labels")


LICENCES = {
    "result_utilization/quintd": "quintd",
    "result_utilization/box_scores": "accuracy_shared_task",
    "argument_grounding/bfcl_answers": "bfcl",
    "route_choice/bfcl_irrelevance": "bfcl",
    "route_choice/when2call": "when2call",
}


def main() -> None:
    data, root = Path(sys.argv[1]), Path(sys.argv[2])
    for part in (quintd, box_scores, argument_grounding, route_irrelevance, route_when2call):
        part(data, root)
    recovery(root)
    for name, source in LICENCES.items():
        shutil.copyfile(data / source / "LICENSE.upstream", root / name / "LICENSE.upstream")


if __name__ == "__main__":
    main()

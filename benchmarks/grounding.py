"""The utilization gate on generated texts whose errors people marked; one JSON line per data set.

Run: python benchmarks/grounding.py [--half dev|test|all] [--data NAME] [--list]
Texts are split by a hash of their payload; rules were tuned on `dev`, `test` is reported (docs/grounding.md).
`precision_confirmed` adds what people left unmarked but a second, plain reading of the forecast shows to be wrong.
`tau_bench` and `tau2` are read whole: recorded runs without marks, into which errors are seeded.
`--list` prints every claim that contradicts the payload, with what people marked there.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces
from toolgrade.gates.utilization import check_utilization
from toolgrade.gates.utilization.decide import read_trace
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.settle import Settled

DATA = Path(__file__).resolve().parents[2] / "shared/data"


class Span(NamedTuple):
    """What a person marked: where, which kind, and whether the error is a wrong number."""

    start: int
    end: int
    kind: str
    number: bool


class Marked(NamedTuple):
    """One text with its payload; `key` is hashed for the split."""

    data: str
    key: str
    text: str
    payload: Any
    spans: list[Span]


def accuracy() -> Iterator[Marked]:
    folder = DATA / "accuracy_shared_task"
    payloads = {}
    for line in (folder / "shared_task.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        payloads[row["shared_task_text_id"]] = {
            name: row[name]
            for name in ("home_name", "home_city", "vis_name", "vis_city", "day", "home_line", "vis_line", "box_score")
        }
    marks = defaultdict(list)
    for mark in csv.DictReader((folder / "gsml.csv").open(encoding="utf-8")):
        marks[mark["TEXT_ID"].removesuffix(".txt")].append(mark)
    for game in csv.DictReader((folder / "games.csv").open(encoding="utf-8")):
        text, at = game["GENERATED_TEXT"], 0
        tokens = []
        for token in text.split(" "):
            tokens.append((at, at + len(token)))
            at += len(token) + 1
        spans = [
            Span(
                tokens[int(m["DOC_TOKEN_START"]) - 1][0],
                tokens[int(m["DOC_TOKEN_END"]) - 1][1],
                m["TYPE"],
                m["TYPE"] == "NUMBER",
            )
            for m in marks[game["TEXT_ID"]]
        ]
        yield Marked("accuracy_shared_task", game["TEXT_ID"], text, payloads[game["TEXT_ID"]], spans)


def quintd() -> Iterator[Marked]:
    folder = DATA / "quintd"
    outputs = {}
    for line in (folder / "outputs_test.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        outputs[row["dataset"], row["file"].removesuffix(".json"), row["table_idx"]] = row["out"]
    payloads: dict[tuple[str, int], Any] = {
        ("wikidata", number): payload
        for number, payload in enumerate(json.loads((folder / "inputs/wikidata/test.json").read_text("utf-8")))
    }
    forecasts = json.loads((folder / "inputs/openweather/test.json").read_text("utf-8"))["forecasts"]
    payloads |= {("openweather", number): payload for number, payload in enumerate(forecasts)}
    for path in (folder / "inputs/owid/test").glob("*.csv"):
        payloads["owid", int(path.name.partition("-")[0])] = path.read_text("utf-8")
    for line in (folder / "human.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name, number = row["dataset"], row["table_idx"]
        text = outputs[name, row["model"], number]
        yield Marked(f"quintd {name}", f"{name}|{number}", text, payloads[name, number], list(_spans(row, text)))


def d2t() -> Iterator[Marked]:
    folder = DATA / "d2t_eval"
    outputs: dict[str, list[str]] = {}
    payloads: dict[str, Any] = {}
    for line in (folder / "annotations/human/test/annotations.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["split"] != "test" or row["annotator_group"] != 0:
            continue
        name, number = row["dataset"], row["example_idx"]
        system = row["setup_id"].replace("llama3.3", "llama3-3").replace("phi3.5", "phi3-5")
        file = f"outputs/{system}/{name}-{system}-test.jsonl"
        if file not in outputs:
            lines = (folder / file).read_text(encoding="utf-8").splitlines()
            outputs[file] = [json.loads(line)["output"] for line in lines]
        if name not in payloads:
            held = json.loads((folder / f"inputs/{name}/test.json").read_text(encoding="utf-8"))
            payloads[name] = held if isinstance(held, list) else next(v for v in held.values() if isinstance(v, list))
        text = outputs[file][number]
        key = f"{name}|{number}"
        yield Marked(f"d2t_eval {name}", key, text, payloads[name][number], list(_spans(row, text)))


def _spans(row: dict[str, Any], text: str) -> Iterator[Span]:
    for mark in row["annotations"]:
        start, end = mark["start"], mark["start"] + len(mark["text"])
        wrong = mark["type"] == 0 and any(c.isdigit() for c in text[start:end])
        yield Span(start, end, str(mark["type"]), wrong)


AGENTS = {"tau_bench": "tau_bench_airline/gpt-4o-airline.json", "tau2": "tau2/gym*.json"}
SETS = {"accuracy_shared_task": accuracy, "quintd": quintd, "d2t_eval": d2t}


def in_half(key: str, half: str) -> bool:
    dev = hashlib.sha256(key.encode()).digest()[0] % 2 == 0
    return half == "all" or dev == (half == "dev")


def read(marked: Marked) -> tuple[Index, list[Settled]]:
    """Return the claims of a text, read as the answer after a call that returned the payload."""
    messages = (
        Message(role="assistant", tool_calls=(ToolCall(id="1", name="get_data"),)),
        Message(role="tool", result=ToolResult(call_id="1", content=marked.payload)),
        Message(role="assistant", content=marked.text),
    )
    index, read_ = read_trace(TraceView(Trace(id=marked.key, messages=messages)))
    return index, [item for _, reading in read_ for item in reading.claims]


def confirmed(marked: Marked, index: Index, item: Settled) -> bool:
    """Check a contradiction in a forecast without the gate: no value of that field on the one day that is named.

    Days are read in UTC and in the city's own time; a temperature may be the least or the greatest of its slot too.
    """
    days = set(re.findall(r"January (\d+)", item.sentence.text))
    if not isinstance(marked.payload, dict) or "list" not in marked.payload or len(days) != 1:
        return False
    path = index.leaves[item.leaves[0]].pointer.split("/")[3:]
    names = ["temp", "temp_min", "temp_max"] if path == ["main", "temp"] else [path[-1]]
    for slot in marked.payload["list"]:
        stamp = datetime.strptime(slot["dt_txt"], "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007
        local = stamp + timedelta(seconds=marked.payload["city"]["timezone"])
        held = slot.get(path[0], {}) if len(path) == 2 else slot
        if {str(stamp.day), str(local.day)} & days and item.claim.number in [held.get(name) for name in names]:
            return False
    return True


def count(marked: Marked, counts: Counter[str], show: bool) -> None:
    touched: dict[Span, set[str]] = {span: set() for span in marked.spans if span.number}
    counts["texts"] += 1
    index, items = read(marked)
    for item in items:
        start, end = item.at + item.claim.start, item.at + item.claim.end
        hit = [span for span in marked.spans if span.start < end and start < span.end]
        counts["claims"] += 1
        counts[item.verdict] += 1
        if item.verdict == "contradicted":
            counts["contradicted_marked"] += bool(hit)
            counts["contradicted_confirmed"] += bool(hit) or confirmed(marked, index, item)
            close = item.at + len(item.sentence.text)
            counts["contradicted_sentence_marked"] += any(s.start < close and item.at < s.end for s in marked.spans)
            if show:
                words = marked.text[max(0, start - 60) : end + 30].replace("\n", " ")
                kinds = ",".join(span.kind for span in hit) or "-"
                print(f"{marked.data} {marked.key} [{kinds}] {item.claim.text!r} {item.how}: …{words}…")
        for span in hit:
            if span.number:
                touched[span].add(item.verdict)
    for verdicts in touched.values():
        name = "found" if "contradicted" in verdicts else "passed" if verdicts == {"grounded"} else "open"
        counts[f"errors_{name}"] += 1
        counts["errors"] += 1


def agents(name: str, show: bool) -> None:
    """Print what the gate says of recorded runs that carry no marks, and of errors seeded into their answers."""
    counts: Counter[str] = Counter()
    times = []
    for path in sorted(DATA.glob(AGENTS[name])):
        for record in read_traces(path):
            assert record.trace is not None, record.error
            view = TraceView(record.trace)
            started = time.process_time()
            result = check_utilization(None, view)
            times.append(time.process_time() - started)
            counts.update(result.detail)
            counts[result.status] += 1
            counts.update(f"seeded_{verdict}" for verdict in seeded(record.trace, view))
            for finding in result.findings if show else ():
                print(record.trace.id, finding)
    names = (
        "claims",
        "grounded",
        "contradicted",
        "open",
        "derived",
        "given",
        "turns",
        "turns_open",
        "sentences_open",
        "failed",
    )
    seeds = ("seeded_grounded", "seeded_contradicted", "seeded_open")
    line = {"benchmark": "grounding", "data": name, "traces": len(times), **{n: counts[n] for n in (*names, *seeds)}}
    print(json.dumps({**line, "median_cpu_ms": round(sorted(times)[len(times) // 2] * 1000, 1)}))


def seeded(trace: Trace, view: TraceView) -> Iterator[str]:
    """Yield what becomes of up to three right numbers of a run when one digit of each is changed, one at a time."""
    _, read_ = read_trace(view)
    right = [
        (said, item)
        for said, reading in read_
        for item in reading.claims
        if item.verdict == "grounded"
        and item.how == "linked"
        and item.claim.kind == "number"
        and item.claim.text[-1:].isdigit()
    ]
    for said, item in right[:: max(1, len(right) // 3)][:3]:
        start, end = item.at + item.claim.start, item.at + item.claim.end
        told = said.text[start:end]
        wrong = told[:-1] + str((int(told[-1]) + 3) % 10)
        text = said.text[:start] + wrong + said.text[end:]
        messages = list(trace.messages)
        messages[said.message] = messages[said.message].model_copy(update={"content": text})
        _, again = read_trace(TraceView(trace.model_copy(update={"messages": tuple(messages[: said.message + 1])})))
        claims = [i for s, r in again if s.message == said.message for i in r.claims]
        yield next((i.verdict for i in claims if i.at + i.claim.start == start), "open")


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def main(arguments: list[str]) -> None:
    half = arguments[arguments.index("--half") + 1] if "--half" in arguments else "test"
    only = arguments[arguments.index("--data") + 1] if "--data" in arguments else None
    for name in AGENTS:
        if only in (None, name):
            agents(name, "--list" in arguments)
    for name, texts in SETS.items():
        if only not in (None, name):
            continue
        totals: dict[str, Counter[str]] = defaultdict(Counter)
        started = time.perf_counter()
        for marked in texts():
            if in_half(marked.key, half):
                count(marked, totals[marked.data], "--list" in arguments)
        seconds = time.perf_counter() - started
        for data, c in sorted(totals.items()):
            print(
                json.dumps(
                    {
                        "benchmark": "grounding",
                        "data": data,
                        "half": half,
                        **{k: c[k] for k in ("texts", "claims", "grounded", "contradicted", "open")},
                        "settled": share(c["grounded"] + c["contradicted"], c["claims"]),
                        "contradicted_marked": c["contradicted_marked"],
                        "precision": share(c["contradicted_marked"], c["contradicted"]),
                        "precision_confirmed": share(c["contradicted_confirmed"], c["contradicted"]),
                        "precision_by_sentence": share(c["contradicted_sentence_marked"], c["contradicted"]),
                        "wrong_numbers": c["errors"],
                        **{f"wrong_{k}": c[f"errors_{k}"] for k in ("found", "passed", "open")},
                        **{f"share_{k}": share(c[f"errors_{k}"], c["errors"]) for k in ("found", "passed", "open")},
                        "set_seconds": round(seconds, 2),
                    }
                )
            )


if __name__ == "__main__":
    main(sys.argv[1:])

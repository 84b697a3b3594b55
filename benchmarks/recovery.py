"""What the recovery check finds on real traces, and how that relates to a human label; JSON lines.

    python benchmarks/recovery.py SHARED [--list]

SHARED is the folder of real data (`data/tau_bench_airline`, `data/tau2`, `data/livemcpbench`). `--list` prints
every finding, question and report that ended an episode, for reading. All traces are graded without cases: only the
intrinsic rules run.
Times are process times of the check alone, best of three, in milliseconds a trace.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolgrade.core.finding import brief
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import ToolResult, Trace
from toolgrade.core.verdict import CheckResult
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import read_traces
from toolgrade.formats.tools import load_tools
from toolgrade.gates.recovery import check_recovery
from toolgrade.gates.recovery.claim_language import claims
from toolgrade.gates.recovery.contract import DEFAULT, decide
from toolgrade.gates.recovery.episodes import Episode, find_failures, read_episodes
from toolgrade.gates.recovery.failures import recognise
from toolgrade.gates.recovery.verbs import escalates, may_write
from toolgrade.stats.rates import wilson

_SUCCESS = re.compile(r"success|has been|have been|confirmed|complete", re.IGNORECASE)


def main() -> None:
    shared = Path(sys.argv[1]) / "data"
    sets: list[tuple[str, list[Path], Path | None]] = [
        (
            "tau_bench_airline",
            [shared / "tau_bench_airline/gpt-4o-airline.json"],
            shared / "tau_bench_airline/tools_airline.json",
        ),
        ("tau2_airline", sorted((shared / "tau2").glob("gym*airline*.json")), shared / "tau2/tools_airline.json"),
        ("tau2_retail", sorted((shared / "tau2").glob("gym*retail*.json")), shared / "tau2/tools_retail.json"),
        (
            "tau2_airline_gpt4o",
            [shared / "tau2_judge_vs_reward/azure-airline-full.json"],
            shared / "tau2/tools_airline.json",
        ),
        ("livemcpbench", [shared / "livemcpbench/trajectories_with_human_label.json"], None),
    ]
    for name, paths, tools in sets:
        views = read(paths, load_tools(tools) if tools else None)
        graded = [(view, check_recovery(None, view)) for view in views]
        print(json.dumps({"benchmark": "recovery", "set": name, **counts(graded), **timed(views)}))
        if name == "tau_bench_airline":
            print(json.dumps({"benchmark": "recovery", "set": name, **follow_ups(views)}))
        if name.startswith("tau"):
            print(json.dumps({"benchmark": "recovery", "set": name, "seeded": seeded(views)}))
        if name == "livemcpbench":
            for row in by_label(graded):
                print(json.dumps({"benchmark": "recovery", "set": name, **row}))
        if "--list" in sys.argv:
            listing(graded)
    print(json.dumps({"benchmark": "recovery", "set": "others", **healthy(shared)}))


def healthy(data: Path) -> dict[str, Any]:
    """Texts, verdicts and payloads of other sets, none of them a tool's failure: how many are taken for one?"""
    looked = taken = 0
    for folder in ("accuracy_shared_task", "d2t_eval", "quintd", "when2call", "tau2_judge_vs_reward"):
        for path in sorted((data / folder).rglob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                record = json.loads(line)
                texts = [value for value in record.values() if isinstance(value, str) and len(value) > 10]
                for content in (record, *texts):
                    looked += 1
                    taken += recognise(ToolResult(content=content)) is not None
    return {"healthy": looked, "taken_for_failures": taken}


def read(paths: list[Path], tools: dict[str, ToolSpec] | None) -> list[TraceView]:
    traces: list[Trace] = []
    for path in paths:
        for record in read_traces(path):
            assert record.trace is not None, record.error
            traces.append(record.trace)
    return [TraceView(trace, tools) for trace in traces]


def counts(graded: list[tuple[TraceView, CheckResult]]) -> dict[str, Any]:
    errors: Counter[str] = Counter()
    for _, result in graded:
        errors.update(result.detail["errors"])
    rows = [row for _, result in graded for row in result.detail["episodes"]]
    return {
        "traces": len(graded),
        "with_failed_result": sum(bool(result.detail["errors"]) for _, result in graded),
        "failed_results": sum(errors.values()),
        "kinds": dict(errors),
        "claims": sum(len(claims(said.text)) for view, _ in graded for said in view.said("assistant")),
        "episodes": len(rows),
        "passed": sum(row["finding"] is None and not row["open"] for row in rows),
        "passed_by_report_alone": len(by_report([view for view, _ in graded])),
        "findings": dict(Counter(row["finding"] for row in rows if row["finding"])),
        "questions": sum(row["open"] for row in rows),
        "status": dict(Counter(result.status for _, result in graded)),
    }


def by_report(views: list[TraceView]) -> list[tuple[TraceView, Episode]]:
    """Return the episodes that end well only because the agent told the user of the failure."""
    found = []
    for view in views:
        for episode in read_episodes(view, find_failures(view, None), DEFAULT):
            told = episode.has("honest_report") and not episode.has("escalation", ok=True)
            if told and not episode.recovered and decide(episode, DEFAULT, None).finding is None:
                found.append((view, episode))
    return found


def timed(views: list[TraceView]) -> dict[str, float]:
    best = [float("inf")] * len(views)
    for _ in range(3):
        for index, view in enumerate(views):
            started = time.process_time()
            check_recovery(None, view)
            best[index] = min(best[index], time.process_time() - started)
    return {"median_ms": round(statistics.median(best) * 1000, 3), "mean_ms": round(statistics.mean(best) * 1000, 3)}


def follow_ups(views: list[TraceView]) -> dict[str, Any]:
    follow: Counter[str] = Counter()
    repeated = 0
    for view in views:
        for number in find_failures(view, None):
            call = view.calls[number]
            after = view.trace.messages[(call.result_message or 0) + 1 :][:1]
            follow["end" if not after else "call" if after[0].tool_calls else "message"] += 1
            same = [one for one in view.calls[number + 1 :] if one.call.name == call.call.name]
            repeated += any(one.call.arguments == call.call.arguments for one in same)
    return {"followed_by": dict(follow), "identical_call_later": repeated}


def seeded(views: list[TraceView]) -> dict[str, int]:
    """Make each successful write fail whose next answer sounds like success, one at a time; what does the check say?

    The answer was written after a success, so with the result exchanged it claims what did not happen. `found`: a
    false_success_claim. `asked`: a question. `missed`: neither.
    """
    said: Counter[str] = Counter()
    for view in views:
        for call in view.calls:
            answer = next((one for one in view.said("assistant") if one.message > (call.result_message or 0)), None)
            name, where = call.call.name, call.result_message
            writes = may_write(name, view.tools.get(name)) and not escalates(name)
            if (
                writes
                and where is not None
                and recognise(call.result) is None
                and answer
                and _SUCCESS.search(answer.text)
            ):
                said[_seeded(view, where)] += 1
    return {"claims": sum(said.values()), **said}


def _seeded(view: TraceView, where: int) -> str:
    messages = list(view.trace.messages)
    broken = ToolResult(call_id=messages[where].result.call_id, content="Error: the request could not be processed")  # type: ignore[union-attr]
    messages[where] = messages[where].model_copy(update={"result": broken})
    trace = view.trace.model_copy(update={"messages": tuple(messages)})
    before, after = check_recovery(None, view), check_recovery(None, TraceView(trace, view.tools))
    if _false(after) > _false(before):
        return "found"
    return "asked" if len(after.questions) > len(before.questions) else "missed"


def _false(result: CheckResult) -> int:
    return sum(found.name == "false_success_claim" for found in result.findings)


def by_label(graded: list[tuple[TraceView, CheckResult]]) -> list[dict[str, Any]]:
    """Rate of human-labelled success by what the check saw; `rate` with its 95 % Wilson interval."""
    groups: dict[str, Callable[[CheckResult], bool]] = {
        "all": lambda result: True,
        "no failed result": lambda result: not result.detail["errors"],
        "some failed result": lambda result: bool(result.detail["errors"]),
        "passed": lambda result: result.status == "passed",
        "left to a judge": lambda result: result.status == "unknown",
        "failed": lambda result: result.status == "failed",
        "some episode ends in an honest report": _told,
        "every episode recovered": _recovered,
    }
    rows = []
    for name, holds in groups.items():
        labels = [view.trace.metadata["task_success"] == "success" for view, result in graded if holds(result)]
        if labels:
            interval = wilson(sum(labels), len(labels))
            shown = {
                "rate": round(sum(labels) / len(labels), 3),
                "low": round(interval.low, 3),
                "high": round(interval.high, 3),
            }
            rows.append({"group": name, "runs": len(labels), "success": sum(labels), **shown})
    return rows


def _told(result: CheckResult) -> bool:
    return any("honest_report" in row["stages"] for row in result.detail["episodes"])


def _recovered(result: CheckResult) -> bool:
    rows = result.detail["episodes"]
    ended = [not row["open"] and row["finding"] is None and "honest_report" not in row["stages"] for row in rows]
    return bool(rows) and all(ended)


def listing(graded: list[tuple[TraceView, CheckResult]]) -> None:
    for view, episode in by_report([view for view, _ in graded]):
        told = next(stage.message for stage in episode.stages if stage.label == "honest_report")
        answer = brief(view.trace.messages[told].content, 200)
        print("   report  ", view.trace.id, episode.tool, brief(episode.failure.message, 100), "|", answer)
    for view, result in graded:
        for finding in result.findings:
            print("   finding ", view.trace.id, finding)
        for question in result.questions:
            print("   question", view.trace.id, question.place.step, question.place.tool, question.on_fail[0].actual)


if __name__ == "__main__":
    main()

"""How the findings of each check relate to the human label of LiveMCPBench's 95 runs; JSON lines.

    python benchmarks/livemcpbench.py SHARED [--list CHECK]

SHARED is the folder of real data. The runs are graded without cases, so only intrinsic rules run. The agent of these
runs calls every tool through `execute-tool`; here each such call is read as a call of the tool it routes to, its
schema taken from the benchmark's own `tools.json`, and each printed MCP result as the text inside it.
`difference` is success among runs without the finding minus success among runs with it, with Newcombe's interval;
`p` is Fisher's exact test, two-sided. `--list CHECK` prints that check's findings, for reading.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from scipy.stats import fisher_exact

from toolgrade.core.finding import CHECKS
from toolgrade.core.result import TraceResult
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.errors import ConfigError
from toolgrade.formats.registry import read_traces
from toolgrade.formats.tools import parse_tools
from toolgrade.gates.recovery.envelope import unwrap
from toolgrade.pipeline.grade import grade_trace
from toolgrade.stats.rates import wilson

ROUTER = "execute-tool"


def main() -> None:
    data = Path(sys.argv[1]) / "data" / "livemcpbench"
    tools = offered(json.loads((data / "tools.json").read_bytes()))
    graded: list[tuple[bool, TraceResult]] = []
    for record in read_traces(data / "trajectories_with_human_label.json"):
        assert record.trace is not None, record.error
        label = record.trace.metadata["task_success"] == "success"
        graded.append((label, grade_trace(routed(record.trace), tools=tools)))
    for check in CHECKS:
        results = [result.checks[check] for _, result in graded]
        status = dict(Counter(result.status for result in results))
        asked = sum(len(result.questions) for result in results)
        print(json.dumps({"benchmark": "livemcpbench", "check": check, "status": status, "questions": asked}))
    for row in relations(graded):
        print(json.dumps({"benchmark": "livemcpbench", **row}))
    if "--list" in sys.argv:
        for label, result in graded:
            for finding in result.checks[sys.argv[-1]].findings:  # type: ignore[index]
                print("success" if label else "failure", result.trace_id, finding)


def offered(servers: list[dict[str, Any]]) -> dict[str, ToolSpec]:
    """Return the tools by `server__tool`, and the agent's own `route`."""
    query = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    found: dict[str, ToolSpec] = {"route": ToolSpec(name="route", parameters=query, writes=False)}
    for server in servers:
        for name, listed in server["tools"].items():
            for spec in parse_tools(listed["tools"]).values():
                full = f"{name}__{spec.name}"
                found[full] = _usable(spec.model_copy(update={"name": full}))
    return found


def _usable(tool: ToolSpec) -> ToolSpec:
    """Return the tool, without its schema where that is none (draft-04 `exclusiveMinimum: true` under draft-07)."""
    try:
        _ = tool.argument_schema
    except ConfigError as problem:
        print(json.dumps({"benchmark": "livemcpbench", "left_out": str(problem)}))
        return ToolSpec(name=tool.name, description=tool.description, parameters={})
    return tool


def routed(trace: Trace) -> Trace:
    """Return the trace with each routed call under the name of the tool it routes to."""
    return trace.model_copy(update={"messages": tuple(_message(message) for message in trace.messages)})


def _message(message: Message) -> Message:
    if message.result is not None:
        content = unwrap(message.result.content)
        return message.model_copy(
            update={"result": message.result.model_copy(update={"name": None, "content": content})}
        )
    return message.model_copy(update={"tool_calls": tuple(_call(call) for call in message.tool_calls)})


def _call(call: ToolCall) -> ToolCall:
    given = call.arguments or {}
    if call.name != ROUTER:
        return call
    name = f"{given.get('server_name')}__{given.get('tool_name')}"
    return call.model_copy(update={"name": name, "arguments": given.get("params") or {}})


def relations(graded: list[tuple[bool, TraceResult]]) -> list[dict[str, Any]]:
    """One row a finding (and a check) that some run has: labelled success with it and without it."""
    names = sorted({found.name for _, result in graded for check in result.checks.values() for found in check.findings})
    failed = [bool(result.checks["recovery"].detail["errors"]) for _, result in graded]
    rows = [{"check": "recovery", "finding": "a result failed", **_relation(graded, failed)}]
    for check in CHECKS:
        has = [bool(result.checks[check].findings) for _, result in graded]
        if any(has):
            rows.append({"check": check, "finding": "any", **_relation(graded, has)})
        for name in names:
            has = [any(found.name == name for found in result.checks[check].findings) for _, result in graded]
            if any(has):
                rows.append({"check": check, "finding": name, **_relation(graded, has)})
    return rows


def _relation(graded: list[tuple[bool, TraceResult]], has: list[bool]) -> dict[str, Any]:
    labels = [label for label, _ in graded]
    with_it = [label for label, found in zip(labels, has, strict=True) if found]
    without = [label for label, found in zip(labels, has, strict=True) if not found]
    table = [[sum(with_it), len(with_it) - sum(with_it)], [sum(without), len(without) - sum(without)]]
    row: dict[str, Any] = {"runs": len(with_it), "success_with": _share(with_it), "success_without": _share(without)}
    if with_it and without:
        one, two = sum(without) / len(without), sum(with_it) / len(with_it)
        a, b = wilson(sum(without), len(without)), wilson(sum(with_it), len(with_it))
        low = one - two - ((one - a.low) ** 2 + (b.high - two) ** 2) ** 0.5
        high = one - two + ((a.high - one) ** 2 + (two - b.low) ** 2) ** 0.5
        row |= {"difference": round(one - two, 3), "low": round(low, 3), "high": round(high, 3)}
        row["p"] = round(float(fisher_exact(table).pvalue), 4)
    return row


def _share(labels: list[bool]) -> float | None:
    return round(sum(labels) / len(labels), 3) if labels else None


if __name__ == "__main__":
    main()

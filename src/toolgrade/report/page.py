"""What the HTML page shows of each trace, within a budget of bytes: red transcripts first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from toolgrade.core.finding import brief
from toolgrade.core.printable import printable
from toolgrade.core.result import TraceResult
from toolgrade.core.trace import Message, Trace
from toolgrade.report.sections import Sections

TRANSCRIPT_BUDGET = 12_000_000
"""Bytes of all transcripts in a page: with the table of 10,000 traces the file stays under 20 MB."""
PAYLOAD_LIMIT = 4_000
TEXT_LIMIT = 8_000
RED = {"failed", "judge_error", "trace_error"}


class Page(NamedTuple):
    """The rows of all traces, the transcripts that fit, and what the sections show."""

    rows: list[dict[str, Any]]
    transcripts: dict[str, Any]
    left_out: int
    sections: Sections


def collect(graded: Iterable[tuple[TraceResult, Trace | None]], budget: int = TRANSCRIPT_BUDGET) -> Page:
    """Read a run once; keep every row, and transcripts of red traces before those of others."""
    rows: list[dict[str, Any]] = []
    red: dict[str, Any] = {}
    others: dict[str, Any] = {}
    spent = {True: 0, False: 0}
    left_out = 0
    sections = Sections()
    for number, (result, trace) in enumerate(graded):
        rows.append(row(result))
        sections.add(number, result)
        is_red = any(check.status in RED for check in result.checks.values())
        told = transcript(result, trace)
        size = len(json.dumps(told))
        # Others may use half of the budget while red ones are still to come, and give it back in the end.
        if spent[is_red] + size <= (budget if is_red else budget // 2):
            (red if is_red else others)[str(number)] = told
            spent[is_red] += size
        else:
            left_out += 1
    while others and spent[True] + spent[False] > budget:
        _, dropped = others.popitem()
        spent[False] -= len(json.dumps(dropped))
        left_out += 1
    return Page(rows, {**red, **others}, left_out, sections)


def row(result: TraceResult) -> dict[str, Any]:
    """Return the row of one trace: ids, every status, the finding names, the routes."""
    return {
        "id": result.trace_id,
        "case": result.case_id,
        "trial": result.trial,
        "tags": list(result.tags),
        "whole": result.aggregate.status,
        "status": {check: checked.status for check, checked in result.checks.items()},
        "findings": sorted({f.name for checked in result.checks.values() for f in checked.findings}),
        "routes": [">".join(route) for route in _routes(result)],
    }


def _routes(result: TraceResult) -> Iterator[tuple[str, str]]:
    selection = result.checks.get("selection")
    yield from selection.detail.get("routes", ()) if selection is not None else ()


def transcript(result: TraceResult, trace: Trace | None) -> dict[str, Any]:
    """Return one trace as plain data: messages, each with the findings at its step, and every check."""
    at_step: dict[int, list[dict[str, Any]]] = {}
    elsewhere: list[dict[str, Any]] = []
    for checked in result.checks.values():
        for finding in checked.findings:
            told = {"text": str(finding), "advice": finding.advice, "counted": checked.status == "failed"}
            step = finding.place.step
            (elsewhere if step is None else at_step.setdefault(step, [])).append(told)
    messages: list[dict[str, Any]] = []
    step = 0
    for message in trace.messages if trace is not None else ():
        step += message.role == "assistant"
        told_message = _message(message, step)
        if message.role == "assistant":
            told_message["findings"] = at_step.pop(step, [])
        messages.append(told_message)
    elsewhere += [told for findings in at_step.values() for told in findings]
    return {
        "messages": messages,
        "findings": elsewhere,
        "checks": [_check(result, name) for name in result.checks],
        "whole": str(result.aggregate),
        "error": result.error,
    }


def _check(result: TraceResult, name: Any) -> dict[str, Any]:
    checked = result.checks[name]
    verdicts = [
        f"{verdict.dimension}: {verdict.verdict} by {verdict.model}: {brief(verdict.reason, 400)}"
        for verdict in checked.verdicts
    ]
    return {
        "check": name,
        "status": checked.status,
        "basis": checked.basis,
        "score": checked.score,
        "reason": checked.reason,
        "open": len(checked.questions),
        "verdicts": verdicts,
    }


def _message(message: Message, step: int) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role}
    if message.role == "assistant":
        told["step"] = step
    if message.content:
        told["text"] = cut(message.content, TEXT_LIMIT)
    if message.tool_calls:
        told["calls"] = [
            {
                "name": printable(call.name),
                "arguments": cut(call.arguments_raw or "" if call.arguments is None else _json(call.arguments), 4_000),
            }
            for call in message.tool_calls
        ]
    if message.result is not None:
        result = message.result
        content = result.content if isinstance(result.content, str) else _json(result.content)
        extra = [str(value) for value in (result.status, result.error) if value is not None]
        told["payload"] = cut(" ".join([content, *extra]), PAYLOAD_LIMIT)
    return told


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def cut(text: str, limit: int) -> str:
    """Return the text with a visible mark where more than `limit` characters were cut off."""
    text = printable(text)
    return text if len(text) <= limit else f"{text[:limit]}\n[cut {len(text) - limit:,} characters]"

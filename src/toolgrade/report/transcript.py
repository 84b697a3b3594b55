"""One trace as a transcript, each finding at its step."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from rich.console import Console
from rich.text import Text

from toolgrade.core.finding import Finding, brief
from toolgrade.core.printable import printable
from toolgrade.core.result import TraceResult
from toolgrade.core.trace import Message, Trace
from toolgrade.core.verdict import Question, Verdict

STYLES = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "magenta"}
PAYLOAD_LIMIT = 400


def print_transcript(console: Console, trace: Trace | None, result: TraceResult) -> None:
    """Print who said and called what, what came back, the findings where they happened, and every status."""
    where = f", case {result.case_id}, trial {result.trial}" if result.case_id else ""
    console.print(Text(printable(f"{result.trace_id}{where}"), "bold"))
    at_step, elsewhere = _by_step(result)
    said = _verdicts(result)
    step = 0
    for message in trace.messages if trace is not None else ():
        if message.role == "assistant":
            step += 1
        _message(console, message, step)
        if message.role == "assistant":
            _findings(console, at_step.pop(step, []))
            _judged(console, said.pop(step, []))
    for findings in at_step.values():
        elsewhere += findings
    _findings(console, elsewhere)
    _judged(console, [pair for pairs in said.values() for pair in pairs])
    console.print()
    for line in str(result).splitlines()[1:]:
        if not line.startswith("    "):
            console.print(Text(line.strip()), soft_wrap=True)


def _by_step(result: TraceResult) -> tuple[dict[int, list[Finding]], list[Finding]]:
    at_step: defaultdict[int, list[Finding]] = defaultdict(list)
    elsewhere: list[Finding] = []
    for check in result.checks.values():
        for finding in check.findings:
            (at_step[finding.place.step] if finding.place.step is not None else elsewhere).append(finding)
    return at_step, elsewhere


def _verdicts(result: TraceResult) -> dict[int, list[tuple[Question, Verdict | None]]]:
    """Return each open question with what its judge said, by step (0: of the whole trace)."""
    said: defaultdict[int, list[tuple[Question, Verdict | None]]] = defaultdict(list)
    for check in result.checks.values():
        verdicts = {verdict.question_id: verdict for verdict in check.verdicts}
        for question in check.questions:
            said[question.place.step or 0].append((question, verdicts.get(question.id)))
    return said


def _judged(console: Console, said: list[tuple[Question, Verdict | None]]) -> None:
    for question, verdict in said:
        if verdict is None:
            console.print(Text(f"{'?':>8}  {question.dimension}: not asked", "yellow"), soft_wrap=True)
            continue
        why = verdict.error or verdict.reason
        extra = f" ({verdict.unknown_reason})" if verdict.unknown_reason else ""
        who = f"{question.dimension} by {printable(verdict.model)}"
        told = f"{who}: {verdict.verdict}{extra}: {brief(why, PAYLOAD_LIMIT)}"
        console.print(Text(f"{'?':>8}  {told}", "yellow"), soft_wrap=True)
        for quote in verdict.evidence:
            held = "" if quote.verified else f" - not counted, {quote.match}"
            shown = f"{brief(quote.quote, PAYLOAD_LIMIT)!r} in {quote.field}{held}"
            console.print(Text(f"{'':>8}  {shown}", "dim"), soft_wrap=True)


def _message(console: Console, message: Message, step: int) -> None:
    label = f"step {step}" if message.role == "assistant" else message.role
    style = STYLES[message.role]
    if message.content:
        text = message.content if message.role in ("user", "assistant") else brief(message.content, PAYLOAD_LIMIT)
        console.print(Text(f"{label:>8}  ", style).append(printable(text.strip()), "default"), soft_wrap=True)
    for call in message.tool_calls:
        arguments = call.arguments_raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
        console.print(
            Text(f"{label:>8}  ", style).append(printable(f"→ {call.name} {arguments}"), "bold"), soft_wrap=True
        )
    if message.result is not None:
        told = _payload(message.result.content)
        for extra in (message.result.error, message.result.status):
            told += f"  [{extra}]" if extra is not None else ""
        console.print(Text(f"{'←':>8}  ", style).append(told, "dim"), soft_wrap=True)


def _payload(content: Any) -> str:
    return brief(content, PAYLOAD_LIMIT) if content not in (None, "") else "(empty)"


def _findings(console: Console, findings: list[Finding]) -> None:
    for finding in findings:
        console.print(Text(f"{'✗':>8}  {finding}", "bold red"), soft_wrap=True)
        console.print(Text(f"{'':>8}  {finding.advice}", "red"), soft_wrap=True)

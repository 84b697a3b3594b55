"""`toolgrade triage`: a person walks through the red results."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from toolgrade.cli.options import terminal
from toolgrade.core.printable import printable
from toolgrade.core.trace import Trace
from toolgrade.pipeline.case_edit import case_edit
from toolgrade.pipeline.rundir import read_cases, read_results, read_traces_of
from toolgrade.pipeline.triage import Decision, Red, Who, read_decisions, record, red_findings, upheld
from toolgrade.report.transcript import print_transcript

KEYS: dict[str, Who] = {"a": "agent_wrong", "c": "case_wrong", "g": "grader_wrong"}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def triage(run: Path) -> None:
    """Walk through the red results of RUN and record, per finding, who was wrong.

    Decisions go to RUN/triage.jsonl. They silence nothing: the results stay red, and the report shows which
    share of each check's findings people upheld.

    \b
    Example:
      toolgrade triage runs/airline-1a2b3c4d
    """
    cases = read_cases(run)
    decided = {decision.finding_id for decision in read_decisions(run)}
    open_ones = [red for red in red_findings(read_results(run)) if red.id not in decided]
    click.echo(f"{len(open_ones)} findings to look at, {len(decided)} decided before")
    wanted = {red.result.trace_id for red in open_ones}
    traces = {trace.id: trace for trace in read_traces_of(run) if trace is not None and trace.id in wanted}
    shown: str | None = None
    for number, red in enumerate(open_ones, 1):
        if red.result.trace_id != shown:
            shown = red.result.trace_id
            _show(red, traces.get(shown))
        click.secho(f"\n[{number}/{len(open_ones)}] {red.check}: {red.finding}", bold=True)
        case = cases.get(red.result.case_id or "")
        expected = getattr(case.expected, red.check, None) if case is not None and case.expected is not None else None
        click.echo(f"expected.{red.check}: {'nothing' if expected is None else _told(expected)}")
        answer = _ask()
        if answer == "q":
            break
        if answer == "s":
            continue
        note = click.prompt("note", default="", show_default=False)
        _record(run, red, KEYS[answer], note)
        if answer == "c":
            click.secho(printable(case_edit(case, red.finding)), fg="yellow")
    for check, seen in upheld(read_decisions(run)).items():
        click.echo(f"{check}: {seen.upheld} of {seen.decided} findings upheld")


def _ask() -> str:
    """Return what the person chose; the end of the input is `q`."""
    try:
        choices = click.Choice([*KEYS, "s", "q"])
        question = "who was wrong? [a]gent, [c]ase, [g]rader; [s]kip, [q]uit"
        return str(click.prompt(question, type=choices, show_choices=False))
    except click.Abort:
        if sys.stdin.isatty():
            raise
        return "q"


def _show(red: Red, trace: Trace | None) -> None:
    click.echo("\n" + "─" * 60)
    print_transcript(terminal(), trace, red.result)


def _told(expected: object) -> str:
    items = expected if isinstance(expected, tuple) else (expected,)
    return "; ".join(item.model_dump_json(exclude_unset=True) for item in items)


def _record(run: Path, red: Red, who: Who, note: str) -> None:
    decision = Decision(
        finding_id=red.id,
        trace_id=red.result.trace_id,
        check=red.check,
        finding=red.finding.name,
        decision=who,
        note=note,
        decided_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    record(run, decision)

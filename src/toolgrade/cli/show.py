"""`toolgrade show`: a run again, or one trace's transcript."""

from __future__ import annotations

from pathlib import Path

import click

from toolgrade.cli.options import terminal
from toolgrade.errors import ConfigError, suggestion
from toolgrade.pipeline.rundir import read_graded, read_run
from toolgrade.report.console import print_run
from toolgrade.report.transcript import print_transcript


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("trace", required=False)
def show(run: Path, trace: str | None) -> None:
    """Show the report of RUN again, or the transcript of TRACE with its findings at their steps.

    \b
    Examples:
      toolgrade show runs/traces-1a2b3c4d
      toolgrade show runs/traces-1a2b3c4d task-5-trial-1
    """
    console = terminal()
    if trace is None:
        summary, thresholds = read_run(run)
        print_run(console, summary, thresholds, str(run))
        return
    seen: list[str] = []
    for result, recorded in read_graded(run):
        if result.trace_id == trace:
            print_transcript(console, recorded, result)
            return
        seen.append(result.trace_id)
    some = ", ".join(seen[:3])
    raise ConfigError(f"{run}: no trace {trace!r}.{suggestion(trace, seen)} It holds {len(seen)}, such as {some}.")

"""`toolgrade demo`: grade the shipped sample, so that a newcomer sees a report before writing anything."""

from __future__ import annotations

from pathlib import Path

import click

from toolgrade.assets import root
from toolgrade.cli.options import progress_on_stderr, terminal
from toolgrade.formats.cases import load_suite
from toolgrade.pipeline.run import RunPlan, default_folder, run
from toolgrade.report.console import print_run


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Run directory.")
def demo(out: Path | None) -> None:
    """Grade the shipped sample: real runs of an airline agent, several trials of each case.

    \b
    Example:
      toolgrade demo
    """
    sample = Path(str(root("examples"))) / "airline"
    plan = RunPlan(traces=sample / "traces.jsonl", suite=load_suite(sample / "cases.yaml"))
    console = terminal()
    console.print("Real runs of a gpt-4o airline agent (τ-bench, MIT), graded check by check.\n")
    with progress_on_stderr("graded traces:") as progress:
        outcome = run(plan, out or default_folder(plan), progress)
    print_run(console, outcome.summary, outcome.thresholds, str(outcome.folder))
    console.print("\nNext: read one of the traces above, then grade your own:")
    console.print("  toolgrade grade YOUR_TRACES --tools YOUR_TOOLS.json", soft_wrap=True)

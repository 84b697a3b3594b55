"""`toolgrade diff`: two runs, paired by case and trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from toolgrade.cli.options import terminal
from toolgrade.pipeline.compare import compare_runs
from toolgrade.pipeline.judging.difference import Drawn, randomly_labelled
from toolgrade.report.difference import print_comparison


@click.command()
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("candidate", type=click.Path(path_type=Path))
@click.option(
    "--tolerance", type=click.FloatRange(0, 1), default=0.0, help="How far a rate may fall, from 0 to 1 (default 0)."
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON, and nothing else, on stdout.")
@click.pass_context
def diff(ctx: click.Context, base: Path, candidate: Path, tolerance: float, as_json: bool) -> None:
    """Compare the run directories BASE and CANDIDATE, paired by case and trial.

    Exits 1 where a check's rate fell by more than the tolerance, or a trusted judge's corrected rate beyond doubt,
    and 2 where more than that share of what BASE decided is missing or undecided in CANDIDATE: what nobody graded
    has not passed.

    \b
    Examples:
      toolgrade diff runs/main runs/branch
      toolgrade diff runs/main runs/branch --tolerance 0.05
    """
    comparison = compare_runs(base, candidate, _people)
    if as_json:
        click.echo(comparison.model_dump_json())
    else:
        print_comparison(terminal(), comparison, tolerance)
    ctx.exit(comparison.exit_code(tolerance))


def _people(dimension: str) -> Mapping[str, Drawn]:
    """Return what people said of a dimension's questions; read only where both runs were judged."""
    from toolgrade.calibration.store import Store

    return randomly_labelled(Store.standard())(dimension)

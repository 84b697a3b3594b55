"""`toolgrade baseline`: the committed thresholds and rates."""

from __future__ import annotations

from pathlib import Path

import click

from toolgrade.pipeline.baseline import FILE, baseline_of, compare, dropped, read_baseline, write_baseline

WHERE = click.option("--file", "file", type=click.Path(path_type=Path), default=FILE, show_default=True)


@click.group()
def baseline() -> None:
    """Record what a suite is held to, and report whatever makes it easier to pass.

    \b
    Examples:
      toolgrade baseline write runs/airline-1a2b3c4d
      toolgrade baseline check runs/airline-5e6f7a8b
      toolgrade baseline write runs/airline-5e6f7a8b --reason "selection: two tools were merged"
    """


@baseline.command()
@click.argument("run", type=click.Path(path_type=Path))
@WHERE
@click.option("--reason", help="Why something became easier to pass; needed where something did.")
def write(run: Path, file: Path, reason: str | None) -> None:
    """Write thresholds, rates and expectations of the finished RUN to the baseline file, to be committed."""
    for line in write_baseline(file, run, reason):
        click.echo(f"loosened, with a reason: {line}")
    click.echo(f"wrote {file}")


@baseline.command()
@click.argument("run", type=click.Path(path_type=Path))
@WHERE
@click.pass_context
def check(ctx: click.Context, run: Path, file: Path) -> None:
    """Compare the finished RUN with the baseline file; exits 1 where something became easier to pass."""
    old, new = read_baseline(file), baseline_of(run)
    found = list(compare(old, new))
    for line in found:
        click.echo(f"LOOSENED {line}")
    for line in dropped(old, new):
        click.echo(f"dropped  {line}")
    if found:
        click.echo(f"Edit the agent or the case; or say why: toolgrade baseline write {run} --file {file} --reason …")
    else:
        click.echo(f"nothing is looser than {file}")
    ctx.exit(1 if found else 0)

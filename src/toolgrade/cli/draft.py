"""`toolgrade draft`: commented cases from good traces."""

from __future__ import annotations

from pathlib import Path

import click

from toolgrade.errors import ConfigError
from toolgrade.formats.draft import draft_cases
from toolgrade.formats.registry import read_traces


@click.command()
@click.argument("traces", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write; stdout where none is named."
)
@click.option("--format", "format_", metavar="NAME", help="Trace format, where detection from content is wrong.")
def draft(traces: Path, out: Path | None, format_: str | None) -> None:
    """Draft cases as commented YAML from the good runs in TRACES, for a person to check and edit.

    \b
    Example:
      toolgrade draft good-traces.jsonl --out cases.yaml
    """
    drafted = draft_cases(read_traces(traces, format_), (out or traces).stem)
    for reason in drafted.left_out:
        click.echo(f"left out: {reason}", err=True)
    if not drafted.case_count:
        raise ConfigError(f"{traces}: no good trace to draft from; {len(drafted.left_out)} were left out")
    if out is None:
        click.echo(drafted.text, nl=False)
        return
    if out.exists():
        raise ConfigError(f"{out}: exists; a draft never replaces cases. Name another --out")
    out.write_text(drafted.text, encoding="utf-8")
    click.echo(f"{out}: {drafted.case_count} cases, every line to be checked", err=True)

"""`toolgrade formats`: which trace formats can be read."""

from __future__ import annotations

import click

from toolgrade.formats.registry import FORMATS


@click.command()
def formats() -> None:
    """List the trace formats that can be read, told apart by content.

    \b
    Example:
      toolgrade formats
    """
    width = max(len(format.name) for format in FORMATS)
    for format in FORMATS:
        click.echo(f"{format.name:<{width}}  {format.description}")
        click.echo(f"{'':<{width}}  told by: {format.looked_for}")
    click.echo("\nA file is told by its content; `--format NAME` overrides.")

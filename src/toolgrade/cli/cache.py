"""`toolgrade cache`: what judges answered so far, and recordings of it that a team can commit."""

from __future__ import annotations

import json
from pathlib import Path

import click

from toolgrade.llm.cache import VerdictCache, default_directory
from toolgrade.llm.recording import export_verdicts, import_verdicts

_directory = click.option(
    "--cache-dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Where the verdicts lie.  [default: $TOOLGRADE_CACHE, else the user's cache folder]",
)


@click.group()
def cache() -> None:
    """Look into, clear, export or import the verdict cache.

    \b
    Examples:
      toolgrade cache info
      toolgrade cache export verdicts.jsonl     # commit it; CI imports it and replays without a key
      toolgrade cache import verdicts.jsonl
    """


@cache.command()
@_directory
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(directory: Path | None, as_json: bool) -> None:
    """Say what the cache holds, and what of it cannot be used."""
    with _open(directory) as verdicts:
        found = verdicts.info()
    if as_json:
        click.echo(json.dumps(found.model_dump(), ensure_ascii=False))
        return
    click.echo(f"{found.directory}: {_count(found.entries)}, {found.bytes / 1e6:.1f} MB")
    for title, counts in (("dimension", found.dimensions), ("model", found.models)):
        for name, count in counts.items():
            click.echo(f"  {title:<10} {name:<40} {count:>8}")


@cache.command()
@_directory
@click.confirmation_option(prompt="Delete every cached verdict? Asking again may cost money.")
def clear(directory: Path | None) -> None:
    """Delete every cached verdict."""
    with _open(directory) as verdicts:
        click.echo(f"{verdicts.directory}: deleted {_count(verdicts.clear())}")


@cache.command(name="export")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@_directory
def export_(path: Path, directory: Path | None) -> None:
    """Write every cached verdict to PATH, one JSON object a line, sorted by key.

    The lines hold the judges' reasons and their quotes from your traces.
    """
    with _open(directory) as verdicts:
        click.echo(f"{path}: wrote {_count(export_verdicts(verdicts, path))}")


@cache.command(name="import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_directory
def import_(path: Path, directory: Path | None) -> None:
    """Add the verdicts of an export to the cache; those that are there are replaced."""
    with _open(directory) as verdicts:
        click.echo(f"{verdicts.directory}: added {_count(import_verdicts(verdicts, path))} from {path}")


def _open(directory: Path | None) -> VerdictCache:
    return VerdictCache(directory or default_directory())


def _count(number: int) -> str:
    return f"{number:,} verdict{'' if number == 1 else 's'}"

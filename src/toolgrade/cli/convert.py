"""`toolgrade convert`: a foreign file into traces, cases and tools."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from toolgrade.formats.convert import convert as convert_files


@click.command()
@click.argument("src", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Directory to write into.")
@click.option("--tools", type=click.Path(path_type=Path), help="Tools on offer, where the source records none.")
@click.option("--format", "format_", metavar="NAME", help="Source format, where detection from content is wrong.")
@click.option(
    "--to",
    type=click.Choice(["native", "openai"]),
    default="native",
    show_default=True,
    help="What the traces are written as; OpenAI chat has no place for final states, times and run errors.",
)
@click.pass_context
def convert(
    ctx: click.Context,
    src: Path,
    out: Path,
    tools: Path | None,
    format_: str | None,
    to: Literal["native", "openai"],
) -> None:
    """Write SRC as DIR/traces.jsonl and, where it states them, DIR/cases.yaml (or .jsonl) and DIR/tools.json.

    \b
    Exit code 3 where something in SRC could not be read; the rest is written.

    \b
    Examples:
      toolgrade convert results.json --tools tools.json --out airline
      toolgrade grade airline/traces.jsonl --cases airline/cases.yaml
      toolgrade convert trace.json --to openai --out chat
    """
    done = convert_files(src, out, tools, format_, to)
    for written, told in (
        (done.traces, f"{done.trace_count} traces"),
        (done.cases, f"{done.case_count} cases"),
        (done.tools, "the tools on offer"),
    ):
        if written is not None:
            click.echo(f"{written}: {told}")
    for error in done.errors:
        click.echo(f"error: {error}", err=True)
    ctx.exit(3 if done.errors else 0)

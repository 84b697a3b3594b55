"""The command line: parse, call, print. Each command's module is imported when it is used."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from io import TextIOWrapper

import click

from toolgrade.core.printable import printable
from toolgrade.errors import ToolgradeError, suggestion

COMMANDS: dict[str, tuple[str, str]] = {
    "grade": ("toolgrade.cli.grade", "Grade recorded traces and say which check broke."),
    "show": ("toolgrade.cli.show", "Show a run, or one trace's transcript with its findings."),
    "explain": ("toolgrade.cli.explain", "Say what a finding means and what to edit."),
    "convert": ("toolgrade.cli.convert", "Turn a foreign file into traces, cases and tools."),
    "draft": ("toolgrade.cli.draft", "Draft cases from good traces, for a person to edit."),
    "formats": ("toolgrade.cli.formats", "List the trace formats that can be read."),
    "demo": ("toolgrade.cli.demo", "Grade the shipped sample of real traces."),
    "report": ("toolgrade.cli.report", "Write a run as HTML, JUnit, Markdown, annotations or CSV."),
    "diff": ("toolgrade.cli.diff", "Compare two runs, paired by case and trial."),
    "baseline": ("toolgrade.cli.baseline", "Write or check the committed thresholds and rates."),
    "triage": ("toolgrade.cli.triage", "Walk through red results and record who was wrong."),
    "calibrate": ("toolgrade.cli.calibrate", "Measure a judge against human labels."),
    "calibration": ("toolgrade.cli.calibration", "History, drift and trust of judges."),
    "labels": ("toolgrade.cli.labels", "Add, import, export and resolve human labels."),
    "cache": ("toolgrade.cli.cache", "Look into, clear, export or import the verdict cache."),
}
"""Command name to (module, one line of help). The module's command carries the same name as attribute."""


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, suggesting the nearest one for a misspelt name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}.{suggestion(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolgrade", prog_name="toolgrade")
def toolgrade() -> None:
    """Grade tool-calling agents check by check.

    \b
    Examples:
      toolgrade demo
      toolgrade grade traces.jsonl --cases cases.yaml --fail-under selection=0.9
      toolgrade show runs/traces-1a2b3c4d task-5-trial-1
      toolgrade explain wrong_value
    """


def main() -> None:
    """Run the command line; errors of ours become one line on stderr and their exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the terminal or the log cannot write is written as an escape
            stream.reconfigure(errors="backslashreplace")
    # Traces are made by the thousand and hold no cycles: collecting them rarely saves a twentieth.
    gc.set_threshold(50_000)
    try:
        code = toolgrade(standalone_mode=False)
        gc.freeze()  # else the interpreter looks through all that is left once more as it ends
        sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except ToolgradeError as error:
        click.echo(printable(f"error: {error}"), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)

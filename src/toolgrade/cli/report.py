"""`toolgrade report`: a finished run for people and for CI systems."""

from __future__ import annotations

import io
from pathlib import Path

import click

from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.pipeline.rundir import read_results, read_run
from toolgrade.report.github import github_annotations
from toolgrade.report.html import html_report
from toolgrade.report.junit import write_junit
from toolgrade.report.markdown import markdown
from toolgrade.report.table import write_table

FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--html", type=FILE, help="One self-contained page, readable offline.")
@click.option("--base", type=click.Path(path_type=Path), help="Run to compare with in the page.")
@click.option("--junit", type=FILE, help="JUnit XML, a test case per trace and check ('-' for stdout).")
@click.option("--markdown", "markdown_", type=FILE, help="Markdown for a pull request or job summary.")
@click.option("--annotations", "annotations_", type=FILE, help="GitHub annotations at the cases' lines.")
@click.option("--csv", "csv_", type=FILE, help="Every finding as a row.")
def report(
    run: Path,
    html: Path | None,
    base: Path | None,
    junit: Path | None,
    markdown_: Path | None,
    annotations_: Path | None,
    csv_: Path | None,
) -> None:
    """Write the finished RUN in other forms. The same run gives the same bytes.

    \b
    Examples:
      toolgrade report runs/airline-1a2b3c4d --html report.html
      toolgrade report runs/airline-1a2b3c4d --junit junit.xml
      toolgrade report runs/airline-1a2b3c4d --markdown - >> "$GITHUB_STEP_SUMMARY"
      toolgrade report runs/airline-1a2b3c4d --annotations -
    """
    if not any((html, junit, markdown_, annotations_, csv_)):
        raise ConfigError("nothing to write: name at least one of --html, --junit, --markdown, --annotations, --csv")
    summary, thresholds = read_run(run)
    if html is not None:
        _write(html, html_report(run, base))
    if junit is not None:
        text = io.StringIO()
        write_junit(text, summary, read_results(run))
        _write(junit, text.getvalue())
    if markdown_ is not None:
        _write(markdown_, markdown(summary, thresholds))
    if annotations_ is not None:
        _write(annotations_, "".join(f"{line}\n" for line in github_annotations(read_results(run), thresholds)))
    if csv_ is not None:
        rows = io.StringIO(newline="")
        write_table(rows, read_results(run))
        _write(csv_, rows.getvalue())


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        click.echo(text, nl=False)
    else:
        try:
            path.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise UnreadableError(f"{path}: cannot be written: {error.strerror}") from error
        click.echo(f"{path}", err=True)

"""`toolgrade grade`: the main job."""

from __future__ import annotations

import json
from pathlib import Path

import click

from toolgrade.cli.judges import judge_options, open_judging, price_of, print_plan, say_trust
from toolgrade.cli.options import parse_checks, progress_on_stderr, terminal, tools_from
from toolgrade.formats.cases import load_suite
from toolgrade.formats.join import Join
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.run import RunPlan, default_folder, plan_judging, run
from toolgrade.pipeline.rundir import SUMMARY
from toolgrade.pipeline.settings import parse_fail_under, read_settings
from toolgrade.report.console import print_run


@click.command()
@click.argument("traces", type=click.Path(path_type=Path))
@click.option(
    "--cases", type=click.Path(path_type=Path), help="Cases as YAML or JSONL; without them only intrinsic rules run."
)
@click.option(
    "--tools", type=click.Path(path_type=Path), help="Tools on offer: OpenAI, Anthropic, MCP or bare JSON Schemas."
)
@click.option("--out", type=click.Path(path_type=Path), help="Run directory; an interrupted run there is resumed.")
@click.option(
    "--check", "checks", multiple=True, metavar="CHECK", help="Only this check (repeatable, or comma-separated)."
)
@click.option(
    "--select", multiple=True, metavar="PATTERN", help="Only cases whose id matches, or tag:NAME (repeatable)."
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="CHECK=RATE",
    help="Least rate of a check; a missed one exits 1 (repeatable).",
)
@click.option(
    "--require-coverage",
    multiple=True,
    metavar="BUCKET",
    help="Coverage that must not be empty, as tag:no_tool or 'tool:*'.",
)
@click.option("--release", is_flag=True, help="Refuse a threshold whose check leans on a judge that is refused.")
@click.option("--format", "format_", metavar="NAME", help="Trace format, where detection from content is wrong.")
@click.option(
    "--join", type=click.Choice(["case_id", "stem", "index"]), default="case_id", help="How a trace finds its case."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else, on stdout.")
@judge_options
@click.pass_context
def grade(
    ctx: click.Context,
    traces: Path,
    cases: Path | None,
    tools: Path | None,
    out: Path | None,
    checks: tuple[str, ...],
    select: tuple[str, ...],
    fail_under: tuple[str, ...],
    require_coverage: tuple[str, ...],
    release: bool,
    format_: str | None,
    join: Join,
    as_json: bool,
    judges: JudgeOptions | None,
    dry_run: bool,
) -> None:
    """Grade the recorded runs in TRACES (a file or a directory) and say which check broke.

    \b
    Exit codes, the highest that applies:
      3  something could not be read or reached, or a case has no trace
      2  configuration error, nothing selected, or too little decided
      1  a threshold missed
      0  otherwise

    \b
    Examples:
      toolgrade grade traces.jsonl --tools tools.json
      toolgrade grade traces.jsonl --cases cases.yaml --fail-under selection=0.9 --fail-under arguments=0.8
      toolgrade grade logs/ --cases cases.yaml --select tag:no_tool --json
      toolgrade grade traces.jsonl --tools tools.json --judge openai/gpt-4.1-mini --dry-run
    """
    settings, _ = read_settings(Path.cwd())
    settings = settings.model_copy(
        update={
            "thresholds": {**settings.thresholds, **parse_fail_under(fail_under)},
            "require_coverage": (*settings.require_coverage, *require_coverage),
            "release": settings.release or release,
        }
    )
    given = tools_from(tools)
    plan = RunPlan.model_construct(
        traces=traces,
        suite=load_suite(cases, given) if cases is not None else None,
        tools=given,
        format=format_,
        join=join,
        checks=parse_checks(checks),
        select=select,
        settings=settings,
        judges=judges,
    )
    judging = open_judging(judges, settings.fail_rate) if judges is not None else None
    if judging is not None and dry_run:
        made = plan_judging(plan, judging, price_of)
        if as_json:
            click.echo(made.model_dump_json())
        else:
            print_plan(terminal(), made)
        return
    if judging is not None:
        say_trust(judging)
    with progress_on_stderr("graded traces:") as progress:
        if judging is not None:
            judging.progress = progress.also("judged questions:")
        folder = out or default_folder(plan)
        try:
            outcome = run(plan, folder, progress, judging)
        except KeyboardInterrupt:
            click.echo(f"What was graded and judged so far is in {folder}; the same command goes on there.", err=True)
            raise
    if as_json:
        click.echo(json.dumps(json.loads((outcome.folder / SUMMARY).read_text("utf-8")), ensure_ascii=False))
    else:
        print_run(terminal(), outcome.summary, outcome.thresholds, str(outcome.folder))
    ctx.exit(outcome.exit_code)

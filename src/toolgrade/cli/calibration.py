"""`toolgrade calibration`: history, comparison, drift and trust."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from toolgrade.calibration.anchors import (
    AnchorCheck,
    anchor_check,
    anchor_items,
    drift,
    enough_for_baseline,
    last_baseline,
)
from toolgrade.calibration.calibrate import JudgeIdentity, recorded_judge
from toolgrade.calibration.compare import compare as compare_runs
from toolgrade.calibration.history import find_run
from toolgrade.calibration.plots import plot_history
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.session import Wanted, identity, panel_of
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import trust_in
from toolgrade.calibration.trust import JudgeNow, TrustReport
from toolgrade.cli.calibrate import now, pairs_of, with_session
from toolgrade.cli.calibrated import print_comparison, print_drift, print_history, print_trust
from toolgrade.cli.in_use import folder_option, json_option, judge_now, judge_option, prompts_option
from toolgrade.cli.options import terminal
from toolgrade.cli.recalibrate import recalibrate
from toolgrade.errors import ConfigError, suggestion
from toolgrade.judges.dimensions import names
from toolgrade.llm.limits import Limits
from toolgrade.pipeline.judging.options import parse_judges
from toolgrade.pipeline.settings import read_settings


@click.group()
def calibration() -> None:
    """History, drift and trust of judges.

    \b
    Examples:
      toolgrade calibration trust
      toolgrade calibration history result_utilization --plot history.svg
      toolgrade calibration compare result_utilization previous last
      toolgrade calibration drift result_utilization --set quintd --judge openai/gpt-4.1-mini
      toolgrade calibration recalibrate
    """


@calibration.command()
@click.argument("dimension")
@click.option("--set", "set_", metavar="SET", help="Only runs on this label set.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw κ and both recalls as .svg or .png.")
@folder_option
@json_option
def history(dimension: str, set_: str | None, plot: Path | None, folder: Path | None, as_json: bool) -> None:
    """Print the calibration runs of DIMENSION, oldest first, with what changed between them.

    \b
    Example:
      toolgrade calibration history result_utilization --set quintd --plot history.svg
    """
    runs = Store.standard(folder).history(dimension)
    shown = [run for run in runs if set_ in (None, run.set)]
    if plot is not None:
        if len({run.set for run in shown}) > 1:
            raise ConfigError(f"{dimension} has runs on several label sets; name one with --set to draw it")
        plot_history(shown, plot)
        click.echo(f"wrote {plot}", err=True)
    if as_json:
        click.echo(json.dumps([run.model_dump(mode="json") for run in shown], ensure_ascii=False))
    elif shown:
        print_history(terminal(), shown)
    else:
        click.echo(f"{dimension}: never calibrated, so its judges are refused")


@calibration.command()
@click.argument("dimension")
@click.argument("old")
@click.argument("new")
@folder_option
@json_option
def compare(dimension: str, old: str, new: str, folder: Path | None, as_json: bool) -> None:
    """Compare two runs of DIMENSION on the same items: `previous last`, or their ids.

    \b
    Example:
      toolgrade calibration compare result_utilization previous last
    """
    store = Store.standard(folder)
    runs = store.history(dimension)
    before, after = find_run(runs, old), find_run(runs, new)
    labels = store.label_set(dimension, after.set)
    found = compare_runs((before, store.verdicts(before)), (after, store.verdicts(after)), labels)
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json"), ensure_ascii=False))
    else:
        print_comparison(terminal(), found)


@calibration.command(name="drift")
@click.argument("dimension")
@click.option("--set", "set_", required=True, metavar="SET", help="Label set whose anchors are looked at.")
@click.option("--judge", "models", multiple=True, metavar="MODEL", help="Model to ask about the anchors now.")
@click.option("--verdicts", type=click.Path(path_type=Path), help="Verdicts on the anchors recorded elsewhere (JSONL).")
@click.option("--name", help="Name of the judge that made --verdicts.  [default: the file's name]")
@click.option("--map", "words", multiple=True, metavar="WORD=VERDICT", help="What a recorded word means.")
@click.option("--replicates", type=click.IntRange(1), default=1, help="Ask this often; a baseline needs 5 or more.")
@click.option("--baseline", "rebase", is_flag=True, help="Start anew: what is looked at now is the baseline.")
@click.option("--api-base", metavar="URL", help="Where the model is served.")
@prompts_option
@folder_option
@json_option
@click.pass_context
def drift_command(
    ctx: click.Context,
    dimension: str,
    set_: str,
    models: tuple[str, ...],
    verdicts: Path | None,
    name: str | None,
    words: tuple[str, ...],
    replicates: int,
    rebase: bool,
    api_base: str | None,
    prompts: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Look at the frozen anchors again and say whether the judge changed; exits 1 at an alarm.

    Without --judge and --verdicts nothing is asked: the checks so far are read.

    \b
    Example:
      toolgrade calibration drift result_utilization --set quintd --judge openai/gpt-4.1-mini --replicates 5
    """
    store = Store.standard(folder)
    labels = store.label_set(dimension, set_)
    wanted = Wanted(
        dimension=dimension, set=set_, models=models, api_base=api_base, prompts=prompts, replicates=replicates
    )
    checks = store.anchors(dimension)
    if models and verdicts:
        raise ConfigError("expected either --judge MODEL or --verdicts FILE")
    if models:
        judge = identity(panel_of(wanted))
        start = None if rebase else last_baseline(checks, set_, judge.judge_id)
        if start is None:
            enough_for_baseline(replicates)
        items = [labels.items[i] for i in (start.items if start else anchor_items(labels))]
        said = with_session(store, Limits(), lambda session: session.ask(wanted, items))
    elif verdicts:
        judge = recorded_judge(name or verdicts.stem, labels.card.rubric_version)
        said = read_verdicts(verdicts, pairs_of(words, "--map"))
    else:
        judge, said = _last_looked_at(checks, set_), []
    if said:
        checks.append(store.append_anchors(anchor_check(labels, said, judge, checks, now(), rebase)))
    report = drift(checks, labels, judge.judge_id)
    if as_json:
        click.echo(json.dumps(report.model_dump(mode="json"), ensure_ascii=False))
    else:
        print_drift(terminal(), report)
    ctx.exit(1 if report.alarm else 0)


def _last_looked_at(checks: Sequence[AnchorCheck], set_: str) -> JudgeIdentity:
    mine = [check for check in checks if check.set == set_]
    if not mine:
        raise ConfigError(f"the anchors of {set_!r} were never looked at; expected --judge MODEL or --verdicts FILE")
    last = mine[-1]
    return JudgeIdentity(judge_id=last.judge_id, name=last.judge, rubric_version=last.rubric_version)


@calibration.command(name="trust")
@click.argument("dimensions", nargs=-1)
@judge_option
@prompts_option
@folder_option
@json_option
def trust_command(
    dimensions: tuple[str, ...], judges: tuple[str, ...], prompts: Path | None, folder: Path | None, as_json: bool
) -> None:
    """Print what each dimension's judge counts for, with every reason and what would mend it.

    \b
    Example:
      toolgrade calibration trust result_utilization --judge openai/gpt-4.1-mini
    """
    store = Store.standard(folder)
    chosen = parse_judges(judges)
    known = sorted({*names(), *store.dimensions()})
    for name in dimensions:
        if name not in known:
            raise ConfigError(f"no dimension {name!r}; there are {', '.join(known)}.{suggestion(name, known)}")
    reports = [report_on(store, name, chosen.get(name, chosen.get("*", ())), prompts) for name in dimensions or known]
    if as_json:
        told = [
            {**report.model_dump(mode="json"), "mends": [m.model_dump() for m in report.mends()]} for report in reports
        ]
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        print_trust(terminal(), reports)


def report_on(store: Store, dimension: str, models: tuple[str, ...], prompts: Path | None) -> TrustReport:
    """Return the trust in a dimension's judge today."""
    judge = judge_now(store, dimension, models, prompts) or JudgeNow(judge_id="none", rubric_version="0.0")
    settings, _ = read_settings(Path.cwd())
    return trust_in(store, dimension, judge, now(), settings.fail_rate.get(dimension))


calibration.add_command(recalibrate)

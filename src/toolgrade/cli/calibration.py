"""`toolgrade calibration`: history, comparison, drift, trust, and the recalibration that runs unattended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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
from toolgrade.calibration.due import due, fell
from toolgrade.calibration.history import find_run, latest, live
from toolgrade.calibration.plots import plot_history
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.session import Session, Wanted, identity, panel_of
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import drifting, trust_in
from toolgrade.calibration.trust import JudgeNow, TrustReport
from toolgrade.cli.calibrate import now, pairs_of, probes_of, with_session
from toolgrade.cli.calibrated import print_calibration, print_comparison, print_drift, print_history, print_trust
from toolgrade.cli.options import terminal
from toolgrade.errors import ConfigError, ToolgradeError, suggestion
from toolgrade.judges.dimensions import names
from toolgrade.llm.limits import Limits
from toolgrade.pipeline.settings import read_settings
from toolgrade.prompts import load

_folder = click.option(
    "--folder", type=click.Path(path_type=Path), help="Calibration folder.  [default: ./calibration]"
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
_judge = click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="[DIMENSION=]MODEL",
    help="Judge in use.  [default: the last calibrated]",
)
_prompts = click.option("--prompts", type=click.Path(path_type=Path), help="Your own folder of prompts.")


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
@_folder
@_json
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
@_folder
@_json
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
@_prompts
@_folder
@_json
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
@_judge
@_prompts
@_folder
@_json
def trust_command(
    dimensions: tuple[str, ...], judges: tuple[str, ...], prompts: Path | None, folder: Path | None, as_json: bool
) -> None:
    """Print what each dimension's judge counts for, with every reason and what would mend it.

    \b
    Example:
      toolgrade calibration trust result_utilization --judge openai/gpt-4.1-mini
    """
    store = Store.standard(folder)
    chosen = judges_by_dimension(judges)
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


def judges_by_dimension(written: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return models by dimension, `*` for those named without one; several make a panel."""
    found: dict[str, tuple[str, ...]] = {}
    for text in written:
        head, equals, rest = text.partition("=")
        name, model = (head, rest) if equals and head in names() else ("*", text)
        found[name] = (*found.get(name, ()), model)
    return found


def judge_now(store: Store, dimension: str, models: tuple[str, ...], prompts: Path | None) -> JudgeNow | None:
    """Return the judge in use: the models named, else those of the last run; None where there is neither."""
    runs = live(store.history(dimension))
    last = runs[-1] if runs else None
    models = models or (last.models if last else ())
    if models:
        found = identity(panel_of(Wanted(dimension=dimension, set="", models=models, prompts=prompts)))
        return JudgeNow(judge_id=found.judge_id, rubric_version=found.rubric_version)
    if last is None:
        return None
    # Recorded verdicts: nothing but the rubric can have changed since.
    rubric = load(dimension, folder=prompts).rubric.rubric_version if dimension in names() else last.rubric_version
    return JudgeNow(judge_id=last.judge_id, rubric_version=rubric)


def report_on(store: Store, dimension: str, models: tuple[str, ...], prompts: Path | None) -> TrustReport:
    """Return the trust in a dimension's judge today."""
    judge = judge_now(store, dimension, models, prompts) or JudgeNow(judge_id="none", rubric_version="0.0")
    settings, _ = read_settings(Path.cwd())
    return trust_in(store, dimension, judge, now(), settings.fail_rate.get(dimension))


class Work(NamedTuple):
    """How far a recalibration goes: asking at all, and the most it may cost a set, in US dollars."""

    dry_run: bool
    max_cost: float | None


@calibration.command()
@_judge
@click.option("--replicates", type=click.IntRange(1), default=3, show_default=True, help="Ask this often.")
@click.option("--probes", multiple=True, metavar="NAMES", help="Probes to run as well, or all.")
@click.option("--api-base", metavar="URL", help="Where the models are served.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before more than this is spent.")
@click.option("--dry-run", is_flag=True, help="Say what is due and ask nothing.")
@_prompts
@_folder
@click.pass_context
def recalibrate(
    ctx: click.Context,
    judges: tuple[str, ...],
    replicates: int,
    probes: tuple[str, ...],
    api_base: str | None,
    max_cost: float | None,
    dry_run: bool,
    prompts: Path | None,
    folder: Path | None,
) -> None:
    """Calibrate again whatever its judge, rubric, labels or age demand; exits 1 when trust fell.

    Made for cron and CI: it asks nothing of a person, writes the history, and does nothing where nothing is due.

    \b
    Example:
      toolgrade calibration recalibrate --judge openai/gpt-4.1-mini --probes all --max-cost 2
    """
    store = Store.standard(folder)
    chosen = judges_by_dimension(judges)
    work = Work(dry_run, max_cost)
    base = Wanted(
        dimension="",
        set="",
        models=(),
        api_base=api_base,
        prompts=prompts,
        replicates=replicates,
        probes=probes_of(probes),
    )
    code = 0
    for dimension in store.dimensions():
        models = chosen.get(dimension, chosen.get("*", ()))
        try:
            code = max(code, _dimension_again(store, base.model_copy(update={"dimension": dimension}), models, work))
        except ToolgradeError as error:
            # One dimension that cannot be asked must not keep the others from being looked after.
            click.echo(f"error: {dimension}: {error}", err=True)
            code = max(code, error.exit_code)
    ctx.exit(code)


def _dimension_again(store: Store, base: Wanted, models: tuple[str, ...], work: Work) -> int:
    """Calibrate what is due in one dimension; return 1 where trust fell, else 0."""
    dimension = base.dimension
    judge = judge_now(store, dimension, models, base.prompts)
    runs = store.history(dimension)
    models = models or (live(runs)[-1].models if runs else ())
    if judge is None or not models:
        click.echo(f"{dimension}: no judge; name one with --judge {dimension}=MODEL")
        return 0
    known = {run.set for run in runs} | set(store.own_sets(dimension))
    hashes = {
        name: labels.hash()
        for name in sorted(known & set(store.sets(dimension)))
        if (labels := store.label_set(dimension, name)).labels and any(i.fields for i in labels.in_split("test"))
    }
    found = due(dimension, judge, runs, hashes, now(), drifting(store, dimension, judge.judge_id))
    if not found:
        click.echo(f"{dimension}: nothing is due on {', '.join(hashes) or 'any label set: none can be asked about'}")
    lower = []
    for one in found:
        click.echo(f"{dimension} on {one.set} is due: {', '.join(one.reasons)}")
        if not work.dry_run:
            lower += _again(store, base.model_copy(update={"set": one.set, "models": models}), work.max_cost)
    for line in lower:
        click.echo(f"trust fell: {line}")
    return 1 if lower else 0


def _again(store: Store, wanted: Wanted, max_cost: float | None) -> list[str]:
    before = latest(store.history(wanted.dimension), wanted.set)

    async def work(session: Session) -> object:
        return await session.calibrate(wanted)

    with_session(store, Limits(max_cost=max_cost), work)
    run = store.history(wanted.dimension)[-1]
    print_calibration(terminal(), run)
    level = before.decision.level if before else None
    if not fell(level, run.decision.level):
        return []
    return [
        f"{wanted.dimension} on {wanted.set} from {level} to {run.decision.level}: {', '.join(run.decision.reasons)}"
    ]

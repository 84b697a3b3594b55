"""`toolgrade calibration recalibrate`: whatever is due, without a person."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click

from toolgrade.calibration.due import due, fell
from toolgrade.calibration.history import latest, live
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import drifting
from toolgrade.cli.calibrate import now, probes_of, with_session
from toolgrade.cli.calibrated import print_calibration
from toolgrade.cli.in_use import folder_option, judge_now, judge_option, prompts_option
from toolgrade.cli.options import terminal
from toolgrade.errors import ToolgradeError
from toolgrade.llm.limits import Limits
from toolgrade.pipeline.judging.options import parse_judges


class Work(NamedTuple):
    """How far a recalibration goes: asking at all, and the most it may cost a set, in US dollars."""

    dry_run: bool
    max_cost: float | None


@click.command()
@judge_option
@click.option("--replicates", type=click.IntRange(1), default=3, show_default=True, help="Ask this often.")
@click.option("--probes", multiple=True, metavar="NAMES", help="Probes to run as well, or all.")
@click.option("--api-base", metavar="URL", help="Where the models are served.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before more than this is spent.")
@click.option("--dry-run", is_flag=True, help="Say what is due and ask nothing.")
@prompts_option
@folder_option
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
    chosen = parse_judges(judges)
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

"""`toolgrade calibrate`: measure a judge against human labels."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from toolgrade.calibration.calibrate import calibrate as measure_judge
from toolgrade.calibration.calibrate import recorded_judge
from toolgrade.calibration.compare import compare
from toolgrade.calibration.history import latest
from toolgrade.calibration.probes import PROBES
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.session import Session, Wanted
from toolgrade.calibration.status import set_status
from toolgrade.calibration.store import Store
from toolgrade.cli.calibrated import print_calibration, print_comparison
from toolgrade.cli.options import progress_on_stderr, terminal
from toolgrade.errors import ConfigError, UnreadableError, suggestion
from toolgrade.llm import open_model
from toolgrade.llm.limits import Limits

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Found = TypeVar("Found")


def now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def pairs_of(written: tuple[str, ...], option: str) -> dict[str, str]:
    """Return a map from `name=value` texts.

    Raises:
        ConfigError: a text is no `name=value`.
    """
    made = {}
    for text in written:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"{option} {text!r}: expected NAME=VALUE")
        made[name] = value
    return made


def probes_of(written: tuple[str, ...]) -> tuple[str, ...]:
    """Return the probes that are named, repeatable or comma-separated; `all` stands for all of them.

    Raises:
        ConfigError: there is no such probe.
    """
    names = [name.strip() for text in written for name in text.split(",") if name.strip()]
    if "all" in names:
        return PROBES
    for name in names:
        if name not in PROBES:
            raise ConfigError(f"--probes: no probe {name!r}; there are {', '.join(PROBES)}.{suggestion(name, PROBES)}")
    return tuple(names)


def with_session(store: Store, limits: Limits, work: Callable[[Session], Awaitable[Found]]) -> Found:
    """Return what `work` returns, given a session whose model is closed afterwards."""

    async def run() -> Found:
        model = open_model(limits)
        try:
            return await work(Session(store, model, now))
        finally:
            await model.aclose()

    return asyncio.run(run())


@click.command()
@click.argument("dimension")
@click.option("--set", "set_", required=True, metavar="SET", help="Label set to measure on.")
@click.option("--judge", "models", multiple=True, metavar="MODEL", help="Model to ask; several make a panel.")
@click.option(
    "--verdicts",
    type=click.Path(path_type=Path),
    metavar="FILE|NAME",
    help="Verdicts recorded elsewhere (JSONL), or the name of a judge whose verdicts come with the set.",
)
@click.option("--name", help="Name of the judge that made --verdicts.  [default: the file's name]")
@click.option("--map", "words", multiple=True, metavar="WORD=VERDICT", help="What a recorded word means.")
@click.option("--replicates", type=click.IntRange(1), default=1, help="Ask this often, to see verdicts flip.")
@click.option("--probes", multiple=True, metavar="NAMES", help=f"Probes to run: {', '.join(PROBES)}, or all.")
@click.option("--api-base", metavar="URL", help="Where the model is served.")
@click.option("--prompts", type=click.Path(path_type=Path), help="Your own folder of prompts.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before more than this is spent.")
@click.option("--folder", type=click.Path(path_type=Path), help="Calibration folder.  [default: ./calibration]")
@click.option("--yes", is_flag=True, help="Do not ask before the first paid run.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON, and nothing else, on stdout.")
def calibrate(
    dimension: str,
    set_: str,
    models: tuple[str, ...],
    verdicts: Path | None,
    name: str | None,
    words: tuple[str, ...],
    replicates: int,
    probes: tuple[str, ...],
    api_base: str | None,
    prompts: Path | None,
    max_cost: float | None,
    folder: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Measure a judge of DIMENSION against the test labels of a set, and append the record to its history.

    \b
    Examples:
      toolgrade calibrate result_utilization --set quintd --judge openai/gpt-4.1-mini --replicates 3 --probes all
      toolgrade calibrate result_utilization --set quintd --verdicts gpt-4-1106-preview_t0
      toolgrade calibrate result_utilization --set mine --verdicts gpt4.jsonl --map ok=pass --map bad=fail
    """
    store = Store.standard(folder)
    if bool(models) == (verdicts is not None):
        raise ConfigError("expected either --judge MODEL or --verdicts FILE")
    before = latest(store.history(dimension), set_)
    if verdicts is not None:
        run = _from_file(store, dimension, set_, (verdicts, name), words)
    else:
        wanted = Wanted(
            dimension=dimension,
            set=set_,
            models=models,
            api_base=api_base,
            prompts=prompts,
            replicates=replicates,
            probes=probes_of(probes),
        )
        if before is None and not yes:
            _first_paid_run(store, wanted)
        run = _asked(store, wanted, Limits(max_cost=max_cost))
    if as_json:
        click.echo(json.dumps(run.model_dump(mode="json"), ensure_ascii=False))
        return
    console = terminal()
    print_calibration(console, run)
    _print_change(store, before, run)


def _from_file(
    store: Store, dimension: str, set_: str, source: tuple[Path, str | None], words: tuple[str, ...]
) -> CalibrationRun:
    labels = store.label_set(dimension, set_)
    given, name = source
    file = _verdict_file(given, store.recorded(dimension, set_))
    recorded = read_verdicts(file, pairs_of(words, "--map"), labels.card.scale)
    judge = recorded_judge(name or file.name.removesuffix(".jsonl"), labels.card.rubric_version)
    return store.record(dimension, lambda runs: measure_judge(labels, recorded, judge, runs, now()), recorded)


def _verdict_file(given: Path, of_set: Mapping[str, Path | Traversable]) -> Path | Traversable:
    if given.exists() or not of_set:
        return given
    if str(given) not in of_set:
        raise ConfigError(
            f"--verdicts {given}: there is no such file; with the set come the recorded verdicts of "
            f"{', '.join(sorted(of_set))}.{suggestion(str(given), of_set)}"
        )
    return of_set[str(given)]


def _asked(store: Store, wanted: Wanted, limits: Limits) -> CalibrationRun:
    with progress_on_stderr("verdicts:") as progress:

        async def work(session: Session) -> CalibrationRun:
            return await session.calibrate(wanted, progress)

        return with_session(store, limits, work)


def _first_paid_run(store: Store, wanted: Wanted) -> None:
    """Say what is missing for `trusted` before anything is spent; go on only with a person's consent."""
    status = set_status(store.label_set(wanted.dimension, wanted.set))
    lacking, bars = str(status.need), ", ".join(status.bars)
    click.echo(
        f"{wanted.dimension}: this judge is uncalibrated, so it is refused. {sum(status.test.values())} test items "
        f"will be asked {wanted.replicates} times of {', '.join(wanted.models)}."
        + (f" For trusted, labels are missing: {lacking}." if lacking else "")
        + (f" On this set it is advisory at most: {bars}." if bars else ""),
        err=True,
    )
    if sys.stdin.isatty():
        click.confirm("Ask?", abort=True, err=True)


def _print_change(store: Store, before: CalibrationRun | None, run: CalibrationRun) -> None:
    if before is None or before.rubric_version != run.rubric_version:
        return
    console = terminal()
    console.print()
    labels = store.label_set(run.dimension, run.set)
    try:
        found = compare((before, store.verdicts(before)), (run, store.verdicts(run)), labels)
    except (UnreadableError, ConfigError) as error:
        console.print(f"no comparison with {before.run_id}: {error}", markup=False)
        return
    print_comparison(console, found)

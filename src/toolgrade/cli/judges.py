"""The options about judges, and what is said before and instead of asking them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from rich.console import Console

from toolgrade.errors import ConfigError
from toolgrade.llm.cache import CacheMode
from toolgrade.llm.limits import Limits, Price
from toolgrade.pipeline.judging.options import SCRIPTED, JudgeOptions, parse_judges
from toolgrade.pipeline.judging.plan import JudgePlan
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.judging.trusting import calibrated, labels_missing

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="[DIMENSION=]MODEL",
        help="Ask this model what gates leave open, as openai/gpt-4.1-mini; several make a panel (repeatable).",
    ),
    click.option("--judge-base-url", metavar="URL", help="Where the judges' model is served, if not by its provider."),
    click.option("--judge-timeout", type=float, default=60.0, metavar="SECONDS", help="Longest wait for one answer."),
    click.option(
        "--replicates", type=click.IntRange(1), default=1, help="Ask each judge so often; a split stays open."
    ),
    click.option("--prompts", type=click.Path(path_type=Path), help="Folder of your own prompts, DIMENSION/VERSION/."),
    click.option("--max-cost", type=float, metavar="DOLLARS", help="Stop asking when this much is spent."),
    click.option("--concurrency", type=click.IntRange(1), default=16, help="Calls in flight at once."),
    click.option("--requests-per-minute", type=float, help="Most calls a minute."),
    click.option("--tokens-per-minute", type=float, help="Most tokens a minute."),
    click.option(
        "--cache",
        "cache_mode",
        type=click.Choice(get_args(CacheMode)),
        default="auto",
        help="Recorded verdicts: use and add; only replay (a miss is an error); ask anew; leave alone.",
    ),
    click.option("--cache-dir", type=click.Path(path_type=Path), help="Where verdicts are recorded."),
    click.option("--dry-run", is_flag=True, help="With --judge: say what would be asked and what it would cost."),
)

_NAMES = (
    "judge_base_url",
    "judge_timeout",
    "replicates",
    "prompts",
    "max_cost",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "cache_mode",
    "cache_dir",
)


def judge_options(command: Command) -> Command:
    """Give a command the options about judges, as the arguments `judges` (None without --judge) and `dry_run`."""

    @functools.wraps(command)
    def wrapped(*args: Any, judges: tuple[str, ...], dry_run: bool, **given: Any) -> Any:
        values = {name: given.pop(name) for name in _NAMES}
        if dry_run and not judges:
            raise ConfigError("--dry-run says what judges would be asked; name one with --judge MODEL")
        return command(*args, judges=_options(judges, values) if judges else None, dry_run=dry_run, **given)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def _options(judges: tuple[str, ...], values: dict[str, Any]) -> JudgeOptions:
    for name in ("judge_timeout", "max_cost", "requests_per_minute", "tokens_per_minute"):
        if values[name] is not None and values[name] <= 0:
            raise ConfigError(f"--{name.replace('_', '-')} {values[name]:g}: expected a number above 0")
    return JudgeOptions(
        models=parse_judges(judges),
        api_base=values["judge_base_url"],
        timeout_s=values["judge_timeout"],
        replicates=values["replicates"],
        prompts=values["prompts"],
        limits=Limits(
            concurrency=values["concurrency"],
            requests_per_minute=values["requests_per_minute"],
            tokens_per_minute=values["tokens_per_minute"],
            max_cost=values["max_cost"],
        ),
        cache=values["cache_dir"],
        cache_mode=values["cache_mode"],
    )


def open_judging(options: JudgeOptions, fail_rates: Mapping[str, float]) -> Judging:
    """Return the judging of a run here and now: trust as the calibrations in `calibration/` give it."""
    from toolgrade.calibration.store import Store

    return Judging(options, calibrated(Store.standard(), datetime.now(UTC), fail_rates))


def say_trust(judging: Judging) -> None:
    """Say on stderr which judges decide nothing yet, why, and what would mend it."""
    from toolgrade.calibration.store import Store

    console = Console(stderr=True, highlight=False)
    lines = []
    for name, panel in judging.panels.items():
        report = judging.trust.now(name)
        if report.level != "trusted":
            missing = labels_missing(Store.standard(), name)
            labels = f", lacks at least {missing} labels" if missing else ""
            lines.append(f"  {name} by {panel.model}: {report.level} ({', '.join(report.reasons)}){labels}")
    if lines:
        console.print("Verdicts of these judges are shown and decide nothing, for nobody has shown them to be right:")
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)
        console.print("What would mend that: toolgrade calibration trust")


def price_of(model: str) -> Price | None:
    """Return litellm's price of a model; None where it has none, or litellm is not installed."""
    if model.startswith(SCRIPTED):
        return None
    from toolgrade.llm.litellm_client import price_of as known

    try:
        return known(model)
    except ConfigError:
        return None


def print_plan(console: Console, plan: JudgePlan) -> None:
    """Print what would be asked."""
    share = f" ({plan.settled / plan.units:.0%})" if plan.units else ""
    console.print(f"{plan.traces} traces. Gates settle {plan.settled} of {plan.units} units{share}: no call for these.")
    for name, part in plan.dimensions.items():
        price = "price unknown" if part.cost is None else f"about ${part.cost:.4f}"
        console.print(
            f"  {name}: {part.questions} questions, {part.distinct} different, {part.cached} answers recorded, "
            f"{part.calls} calls of {part.model} ({part.trust}), about {part.input_tokens:,} + "
            f"{part.output_tokens:,} tokens, {price}",
            markup=False,
            soft_wrap=True,
        )
    for name, count in plan.nobody.items():
        console.print(f"  {name}: {count} questions and no judge; they stay open")
    whole = "price unknown" if plan.cost is None else f"about ${plan.cost:.4f}"
    console.print(f"Would make {plan.calls} calls, {whole}. Nothing was asked (--dry-run).")

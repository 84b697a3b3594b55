"""Ask a judge, or a panel, about labelled items: fresh, uncached, as often as asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolgrade.calibration.item import Item
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.core.verdict import Question, Verdict
from toolgrade.errors import CeilingReached, ConfigError, JudgeUnavailable
from toolgrade.judges.asking import Asking
from toolgrade.judges.panel import Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import Model

Fields = Mapping[str, Any]


async def ask_items(
    panel: Panel,
    model: Model,
    cache: VerdictCache,
    items: Sequence[Item],
    replicates: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> list[ItemVerdict]:
    """Return the verdicts of the panel on the items, `replicates` of each.

    `cache` is one in the mode `off`: calibration never reads recorded verdicts. A `Journal` gives back what the
    same calibration was answered before it stopped.

    Raises:
        ConfigError: an item has no fields, or they do not fit the prompt.
        JudgeUnavailable: the model could not be asked.
        CeilingReached: the spending ceiling stopped it; nothing was recorded.
        CancelledError: the task was cancelled (Ctrl-C).
    """
    answers = await ask_fields(
        panel, model, cache, {(item.item_id, r): _fields(item) for item in items for r in range(replicates)}, progress
    )
    return [
        _item_verdict(item, answers[item.item_id, replicate], replicate)
        for item in items
        for replicate in range(replicates)
    ]


async def ask_fields(
    panel: Panel,
    model: Model,
    cache: VerdictCache,
    fields: Mapping[tuple[str, int], Fields],
    progress: Callable[[int], None] = lambda _: None,
) -> dict[tuple[str, int], Verdict]:
    """Return the panel's verdict on each of the fields, by their key (a name and the replicate)."""
    if cache.mode != "off":
        raise ConfigError(f"the cache is in mode {cache.mode!r}; calibration needs fresh verdicts: off")
    asks = {}
    for (name, replicate), given in fields.items():
        question = Question(dimension=panel.dimension.name, fields=dict(given))
        first = replicate * panel.replicates
        asks[name, replicate] = [
            ask._replace(replicate=first + ask.replicate, key=ask.judge.key(question.id, first + ask.replicate))
            for ask in panel.asks(question)
        ]
    answers = await Asking(model, cache).run((ask for group in asks.values() for ask in group), progress)
    if answers.unavailable:
        raise JudgeUnavailable(next(iter(answers.unavailable.values())))
    if answers.interrupted:
        raise asyncio.CancelledError
    if answers.stopped:
        raise CeilingReached(f"calibration stopped, nothing was recorded: {answers.stopped}")
    return {key: panel.combine([answers.verdicts[ask.key] for ask in group]) for key, group in asks.items()}


def _fields(item: Item) -> Fields:
    if item.fields is None:
        raise ConfigError(
            f"item {item.item_id!r} ships without its fields: no judge can be asked; give recorded ones with --verdicts"
        )
    return item.fields


def _item_verdict(item: Item, verdict: Verdict, replicate: int) -> ItemVerdict:
    return ItemVerdict(
        item_id=item.item_id,
        verdict=verdict.verdict,
        replicate=replicate,
        content_hash=item.content_hash,
        reason=verdict.reason,
        judge_id=verdict.judge_id,
        model_reported=verdict.model_reported,
        cost=verdict.cost,
        cached=verdict.cached,
        error=verdict.error,
    )

"""A calibration with a real judge, from the panel to the appended record."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from toolgrade.calibration.asking import ask_items
from toolgrade.calibration.calibrate import JudgeIdentity, calibrate
from toolgrade.calibration.item import Item
from toolgrade.calibration.measure import MIN_REPLICATES
from toolgrade.calibration.probing import Prober
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.store import Store
from toolgrade.core.model import Frozen
from toolgrade.judges.dimensions import dimension as find_dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import Model
from toolgrade.prompts import load

Progress = Callable[[int], None]


class Wanted(Frozen):
    """What to calibrate: the set, the models (several make a panel), how often to ask, which probes to run."""

    dimension: str
    set: str
    models: tuple[str, ...]
    api_base: str | None = None
    prompts: Path | None = None
    replicates: int = 1
    probes: tuple[str, ...] = ()


def panel_of(wanted: Wanted) -> Panel:
    """Return the judge, or panel of judges, that `wanted` names.

    Raises:
        ConfigError: there is no such dimension or prompt.
    """
    prompt = load(wanted.dimension, folder=wanted.prompts)
    settings = [JudgeSettings(model=model, api_base=wanted.api_base) for model in wanted.models]
    return Panel([Judge(find_dimension(wanted.dimension), prompt, one) for one in settings])


def identity(panel: Panel) -> JudgeIdentity:
    """Return who the panel is, with the text of its prompt, examples included, for the leak check."""
    prompt = panel.judges[0].prompt
    examples = "\n".join(f"{example.material} {example.why}" for example in prompt.rubric.examples)
    return JudgeIdentity(
        judge_id=panel.id,
        name=panel.model,
        rubric_version=prompt.rubric.rubric_version,
        models=tuple(judge.settings.model for judge in panel.judges),
        prompt_text=f"{prompt.system}\n{prompt.user}\n{json.dumps(prompt.rubric.labels)}\n{examples}",
    )


class Session:
    """Asks through one model port and writes to one store."""

    def __init__(self, store: Store, model: Model, cache_folder: Path, now: Callable[[], datetime]) -> None:
        self._store = store
        self._model = model
        self._cache = cache_folder
        self._now = now

    async def calibrate(self, wanted: Wanted, progress: Progress = lambda _: None) -> CalibrationRun:
        """Ask the judge about the test split, run the probes, append the record and return it.

        Raises:
            ConfigError: the set, its fields or the rubric do not fit the judge.
            JudgeUnavailable: the model cannot be asked; nothing is recorded.
        """
        labels = self._store.label_set(wanted.dimension, wanted.set)
        panel = panel_of(wanted)
        items = labels.in_split("test")
        replicates = max(wanted.replicates, MIN_REPLICATES if "stability" in wanted.probes else 1)
        with VerdictCache(self._cache, "off") as cache:
            verdicts = await ask_items(panel, self._model, cache, items, replicates, progress)
            first = next(iter(by_replicate(verdicts).values()), {})
            human = {item_id: one.label for item_id, one in labels.resolved.items()}
            prober = Prober(panel, self._model, cache)
            probes = await prober.run(wanted.probes, items, first, human)
        history = self._store.history(wanted.dimension)
        run = calibrate(labels, verdicts, identity(panel), history, self._now(), probes)
        return self._store.append(run, verdicts)

    async def ask(
        self, wanted: Wanted, items: Sequence[Item], progress: Progress = lambda _: None
    ) -> list[ItemVerdict]:
        """Return fresh verdicts on the items, `replicates` of each."""
        with VerdictCache(self._cache, "off") as cache:
            return await ask_items(panel_of(wanted), self._model, cache, items, wanted.replicates, progress)

"""A calibration with a real judge, from the panel to the appended record."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from toolgrade.calibration.asking import ask_items
from toolgrade.calibration.calibrate import JudgeIdentity, calibrate
from toolgrade.calibration.history import latest
from toolgrade.calibration.item import Item
from toolgrade.calibration.journal import Begun, Journal
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.measure import MIN_REPLICATES
from toolgrade.calibration.probing import Prober
from toolgrade.calibration.recorded import ItemVerdict, by_replicate
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.store import Store
from toolgrade.core.model import Frozen
from toolgrade.judges.dimensions import dimension as find_dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Panel
from toolgrade.llm.port import Model
from toolgrade.prompts import load

log = logging.getLogger("toolgrade.calibration")

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

    def __init__(self, store: Store, model: Model, now: Callable[[], datetime]) -> None:
        self._store = store
        self._model = model
        self._now = now

    async def calibrate(self, wanted: Wanted, progress: Progress = lambda _: None) -> CalibrationRun:
        """Ask the judge about the test split, run the probes, append the record and return it.

        Where it stops midway, nothing is recorded, and what was answered is kept: calibrating the same judge by the
        same rubric and labels within a day goes on from there.

        Raises:
            ConfigError: the set, its fields or the rubric do not fit the judge, or another process is at it.
            JudgeUnavailable: the model cannot be asked.
            CeilingReached: the spending ceiling leaves no room for another call.
            CancelledError: the task was cancelled (Ctrl-C).
        """
        labels = self._store.label_set(wanted.dimension, wanted.set)
        panel = panel_of(wanted)
        items = labels.in_split("test")
        replicates = max(wanted.replicates, MIN_REPLICATES if "stability" in wanted.probes else 1)
        with self._journal(labels, panel) as journal:
            verdicts = await ask_items(panel, self._model, journal, items, replicates, progress)
            first = next(iter(by_replicate(verdicts).values()), {})
            human = {item_id: one.label for item_id, one in labels.resolved.items()}
            prober = Prober(panel, self._model, journal)
            probes = await prober.run(wanted.probes, items, first, human)

            def make(history: Sequence[CalibrationRun]) -> CalibrationRun:
                return calibrate(labels, verdicts, identity(panel), history, self._now(), probes)

            run = self._store.record(wanted.dimension, make, verdicts)
            journal.finish()
        return run

    def _journal(self, labels: LabelSet, panel: Panel, what: str = "test") -> Journal:
        card = labels.card
        begun = Begun(
            judge_id=panel.id,
            set=card.name,
            what=what,
            rubric_version=panel.judges[0].prompt.rubric.rubric_version,
            label_set_hash=labels.hash(),
            begun=self._now().replace(microsecond=0),
        )
        last = latest(self._store.history(card.dimension), card.name, panel.id) if what == "test" else None
        return Journal(self._store.runs_folder(card.dimension), begun, last.at if last else None)

    async def ask(
        self, wanted: Wanted, items: Sequence[Item], progress: Progress = lambda _: None
    ) -> list[ItemVerdict]:
        """Return fresh verdicts on the items, `replicates` of each; where it stops midway, as `calibrate`."""
        panel = panel_of(wanted)
        with self._journal(self._store.label_set(wanted.dimension, wanted.set), panel, "anchors") as journal:
            verdicts = await ask_items(panel, self._model, journal, items, wanted.replicates, progress)
            journal.finish()
        return verdicts

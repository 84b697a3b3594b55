"""Run the probes with a judge, after its plain verdicts are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolgrade.calibration import probes
from toolgrade.calibration.asking import ask_fields
from toolgrade.calibration.item import Item
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.calibration.run import ProbeResult
from toolgrade.calibration.swap import TurningModel, swapped_panel
from toolgrade.judges.panel import Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.port import Model

PROBE_ITEMS = 40


class Prober:
    """Asks one panel what the probes need. Nothing is asked for `stability`: its replicates are the run's own."""

    def __init__(self, panel: Panel, model: Model, cache: VerdictCache, most: int = PROBE_ITEMS) -> None:
        self._panel = panel
        self._model = model
        self._cache = cache
        self._most = most

    async def run(
        self,
        names: Sequence[str],
        items: Sequence[Item],
        plain: Mapping[str, ItemVerdict],
        human: Mapping[str, str | None],
    ) -> list[ProbeResult]:
        """Return the results of the named probes on at most `most` items; `plain` are the verdicts without any."""
        words = {name: verdict.verdict for name, verdict in plain.items()}
        some = [item for item in items if item.fields is not None][: self._most]
        found = []
        if "verbosity" in names:
            said = await self._words((self._panel, self._model), {i.item_id: probes.padded(i) for i in some})
            found.append(probes.verbosity_result(words, said))
        if "label_swap" in names:
            other = (swapped_panel(self._panel), TurningModel(self._model))
            said = await self._words(other, {item.item_id: item.fields or {} for item in some})
            found.append(probes.label_swap_result(words, said))
        if "injection" in names:
            able = [item for item in items if item.fields is not None]
            known = probes.injection_items(able, human, plain, self._most)
            answers = await ask_fields(self._panel, self._model, self._cache, probes.attacked(known))
            found.append(probes.injection_result(answers, known))
        return found

    async def _words(self, who: tuple[Panel, Model], fields: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
        answers = await ask_fields(*who, self._cache, {(name, 0): f for name, f in fields.items()})
        return {name: verdict.verdict for (name, _), verdict in answers.items()}

"""Which models judge which dimension, and how they are asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, suggestion
from toolgrade.judges.dimensions import dimension, names
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Panel
from toolgrade.llm import open_model
from toolgrade.llm.cache import CacheMode, VerdictCache, default_directory
from toolgrade.llm.limits import Limits
from toolgrade.llm.port import Model, ModelParams
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.prompts import load

SCRIPTED = "scripted:"


class JudgeOptions(Frozen):
    """Models by dimension; `*` stands for every dimension that is not named. Several make a panel.

    `prompts` is the user's folder of prompts, `cache` the directory of recorded verdicts, None for the
    usual ones. `api_base` and `params` hold for every model.
    """

    models: dict[str, tuple[str, ...]]
    api_base: str | None = None
    params: ModelParams = ModelParams()
    timeout_s: float = Field(default=60.0, gt=0)
    replicates: int = Field(default=1, ge=1)
    prompts: Path | None = None
    limits: Limits = Limits()
    cache: Path | None = None
    cache_mode: CacheMode = "auto"

    def panels(self) -> dict[str, Panel]:
        """Return the judges of each dimension that has any.

        Raises:
            ConfigError: a prompt is missing or wrong, or so is a file of scripted answers.
        """
        chosen = {name: self.models.get(name, self.models.get("*", ())) for name in names()}
        script = self._script()
        revision = None if script is None else script.revision
        return {name: self._panel(name, models, revision) for name, models in chosen.items() if models}

    def _panel(self, name: str, models: tuple[str, ...], revision: str | None) -> Panel:
        prompt = load(name, folder=self.prompts)
        judges = [
            Judge(
                dimension(name),
                prompt,
                JudgeSettings(
                    model=model,
                    revision=revision,
                    api_base=self.api_base,
                    params=self.params,
                    timeout_s=self.timeout_s,
                ),
            )
            for model in models
        ]
        return Panel(judges, self.replicates)

    def open_model(self) -> Model:
        """Return what is asked: litellm, or the answers in a file where models are named `scripted:FILE`.

        Raises:
            ConfigError: scripted and real models are mixed, or the file is wrong.
        """
        return self._script() or open_model(self.limits)

    def _script(self) -> ScriptedModel | None:
        named = {model for models in self.models.values() for model in models}
        scripts = sorted(model for model in named if model.startswith(SCRIPTED))
        if not scripts:
            return None
        if len(named) > 1:
            raise ConfigError(f"--judge {scripts[0]}: a scripted judge answers alone, without {len(named) - 1} others")
        return ScriptedModel.from_jsonl(Path(scripts[0].removeprefix(SCRIPTED)))

    def open_cache(self) -> VerdictCache:
        """Return the cache of verdicts."""
        return VerdictCache(self.cache or default_directory(), self.cache_mode)


def parse_judges(written: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return models by dimension from texts `MODEL` (for every dimension) or `DIMENSION=MODEL`.

    Several for one dimension make a panel.

    Raises:
        ConfigError: there is no such dimension, or a model is named twice for one.
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in written:
        head, equals, model = text.partition("=")
        name = head if equals and "/" not in head else "*"
        model = (model if name != "*" else text).strip()
        if name not in ("*", *names()):
            raise ConfigError(
                f"--judge {text!r}: no judge dimension {name!r}; expected MODEL or DIMENSION=MODEL with one of "
                f"{', '.join(names())}.{suggestion(name, names())}"
            )
        if not model:
            raise ConfigError(f"--judge {text!r}: names no model; expected such as openai/gpt-4.1-mini")
        if model in found.get(name, ()):
            raise ConfigError(f"--judge {text!r}: named twice; to ask a model again use --replicates")
        found[name] = (*found.get(name, ()), model)
    return found

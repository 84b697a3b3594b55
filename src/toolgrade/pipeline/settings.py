"""What a run must reach: thresholds, the least decided share, coverage; read from a settings file and flags."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, UnreadableError, suggestion
from toolgrade.formats.validation import explain
from toolgrade.judges.dimensions import names


class Settings(Frozen):
    """Thresholds by check (rates in [0, 1]) and what else a run is held to.

    `min_decided` is the least share of a check's applicable traces that must be decided before its threshold
    can be met. `require_coverage` names coverage buckets that must not be empty (`tag:no_tool`, `tool:*`).
    `consistency` are thresholds on pass^k: `{"selection": {"tag": "consistency", "k": 4, "rate": 0.5}}`.
    `corrected` are the least corrected PASS rates by judge dimension, to be reached by the lower limit.
    `fail_rate` are the shares of a dimension's questions that fail in use, by dimension: they decide whether a
    single judged fail may fail a trace. With `release` a threshold cannot be met while its check has questions for
    a judge that is refused.
    """

    thresholds: dict[Check, float] = Field(default_factory=dict)
    min_decided: float = Field(default=0.8, ge=0, le=1)
    require_coverage: tuple[str, ...] = ()
    consistency: dict[Check, ConsistencyThreshold] = Field(default_factory=dict)
    release: bool = False
    corrected: dict[str, float] = Field(default_factory=dict)
    fail_rate: dict[str, float] = Field(default_factory=dict)

    @field_validator("thresholds")
    @classmethod
    def _rates(cls, value: dict[Check, float]) -> dict[Check, float]:
        for check, rate in value.items():
            if not 0 <= rate <= 1:
                raise ValueError(f"{check} = {rate} is no rate; expected a number from 0 to 1")
        return value

    @field_validator("corrected", "fail_rate")
    @classmethod
    def _by_dimension(cls, value: dict[str, float]) -> dict[str, float]:
        for dimension, rate in value.items():
            if dimension not in names():
                known = ", ".join(names())
                raise ValueError(
                    f"no judge dimension {dimension!r}; there are {known}.{suggestion(dimension, names())}"
                )
            if not 0 < rate < 1:
                raise ValueError(f"{dimension} = {rate}: expected a rate between 0 and 1, both excluded")
        return value


class ConsistencyThreshold(Frozen):
    """The least pass^k of one check, over the cases with `tag` (all cases where None)."""

    k: int = Field(ge=1)
    rate: float = Field(ge=0, le=1)
    tag: str | None = None


Settings.model_rebuild()


def read_settings(folder: Path) -> tuple[Settings, Path | None]:
    """Return the settings of the nearest `toolgrade.toml` or `[tool.toolgrade]`, from `folder` upwards.

    Also returns the file they came from; defaults and None where there is none.

    Raises:
        ConfigError: the file is no TOML, or a key or value is wrong.
        UnreadableError: the file cannot be read.
    """
    for here in (folder, *folder.parents):
        own, project = here / "toolgrade.toml", here / "pyproject.toml"
        if own.is_file():
            return _settings(_toml(own), own), own
        if project.is_file():
            table = _toml(project).get("tool", {}).get("toolgrade")
            if table is not None:
                return _settings(table, project), project
    return Settings(), None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: no valid TOML: {error}") from error


def _settings(table: dict[str, Any], path: Path) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error, Settings)}") from error


def parse_fail_under(written: tuple[str, ...]) -> dict[Check, float]:
    """Return thresholds by check from `check=rate` texts.

    Raises:
        ConfigError: a text is no `check=rate`, the check is unknown, or the rate lies outside [0, 1].
    """
    out: dict[Check, float] = {}
    for text in written:
        name, equals, rate = text.partition("=")
        known = {str(check): check for check in CHECKS}
        if name not in known:
            raise ConfigError(
                f"--fail-under {text!r}: no check {name!r}.{suggestion(name, known)} Expected CHECK=RATE, "
                f"with one of {', '.join(CHECKS)}."
            )
        try:
            value = float(rate) if equals else -1.0
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise ConfigError(f"--fail-under {text!r}: expected a rate from 0 to 1, as in {name}=0.9.")
        out[known[name]] = value
    return out

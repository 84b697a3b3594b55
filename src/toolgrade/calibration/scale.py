"""An ordinal dimension: its levels from worst to best, and the cut above which an item passes."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, suggestion


class Scale(Frozen):
    """Declared levels, worst first; those from `passes_from` on pass. Both are fixed before anything is labelled."""

    levels: tuple[str, ...] = Field(min_length=2)
    passes_from: str

    @model_validator(mode="after")
    def _cut(self) -> Self:
        if len(set(self.levels)) < len(self.levels):
            raise ValueError(f"a level is declared twice: {', '.join(self.levels)}")
        if self.passes_from not in self.levels[1:]:
            higher = ", ".join(self.levels[1:])
            raise ValueError(f"passes_from {self.passes_from!r} must be a level above the lowest: one of {higher}")
        return self

    def word(self, level: str, place: str) -> Literal["pass", "fail"]:
        """Return what a level comes to.

        Raises:
            ConfigError: there is no such level; `place` says where it was found.
        """
        if level not in self.levels:
            raise ConfigError(
                f"{place}: level: found {level!r}; expected one of {', '.join(self.levels)} as the card declares."
                f"{suggestion(level, self.levels)}"
            )
        return "pass" if self.levels.index(level) >= self.levels.index(self.passes_from) else "fail"

    def check(self, word: str, level: str | None, place: str) -> None:
        """Check that a level and its label or verdict say the same.

        Raises:
            ConfigError: they do not, or there is no such level.
        """
        if level is None or word not in ("pass", "fail"):
            return
        expected = self.word(level, place)
        if word != expected:
            raise ConfigError(
                f"{place}: level {level!r} comes to {expected} (passes_from = {self.passes_from!r}), found {word}. "
                "The cut is fixed before labelling: correct the record, or restore the card"
            )

"""What code knows of a dimension: its check, and how its fields become text. The rest is in its prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from toolgrade.core.finding import Check
from toolgrade.judges.present import plain

Show = Callable[[Any, int], str]
"""Gives a field's text; it may use the number of characters that fit, and is cut there anyway."""


class Dimension(NamedTuple):
    """One thing that is judged.

    `check` is the check whose gate asks. `show` holds, for fields that need it, the function that gives
    their text; the others are shown by `plain`.
    """

    name: str
    check: Check
    show: Mapping[str, Show] = MappingProxyType({})

    def text(self, name: str, value: Any, limit: int) -> str:
        """Return a field of a question as the text that goes into its fence."""
        show = self.show.get(name)
        return plain(value) if show is None else show(value, limit)

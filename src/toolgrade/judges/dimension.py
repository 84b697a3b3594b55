"""What code knows of a dimension: its check, and how its fields become text. The rest is in its prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from toolgrade.core.finding import Check
from toolgrade.judges.present import plain

Show = Callable[[Any], str]


class Dimension(NamedTuple):
    """One thing that is judged.

    `check` is the check whose gate asks. `show` holds, for fields that need it, the function that gives
    their text; the others are shown by `plain`.
    """

    name: str
    check: Check
    show: Mapping[str, Show] = MappingProxyType({})

    def texts(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Return each field of a question as the text that goes into its fence."""
        return {name: self.show.get(name, plain)(value) for name, value in fields.items()}

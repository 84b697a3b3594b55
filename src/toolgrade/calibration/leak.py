"""Test items that the judge's prompt already holds: calibration on them measures memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from toolgrade.calibration.item import Item

WORDS = 8
"""An overlap of this many words in a row counts as leaked."""


def leaked(items: Iterable[Item], prompt_text: str) -> list[str]:
    """Return the ids of the items that share eight words in a row with the prompt, its examples included."""
    known = _grams(prompt_text)
    if not known:
        return []
    return [item.item_id for item in items if item.fields and known & _grams(" ".join(_texts(item.fields)))]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}

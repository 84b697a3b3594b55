"""Recorded text as a terminal, a log or a report may show it."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters but tab and line feed, and what reorders text (Unicode UAX #9)."""


def printable(text: str) -> str:
    """Return the text with control and reordering characters made visible as U+FFFD."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)

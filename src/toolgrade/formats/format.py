"""What a trace format is to the rest of toolgrade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolgrade.core.tool import ToolSpec
from toolgrade.formats.record import CaseRecord, Record
from toolgrade.formats.source import Source


@dataclass(frozen=True)
class Format:
    """One format.

    `looked_for` is what `detect` tells it by, as words for a message. `detect` sees the head and the first
    JSON value of a file and never raises. `read` yields one record a trace; a format that only states
    expectations has none. `cases` and `tools` extract the expectations and the tools on offer that a file
    records. `read` and `cases` do not raise for what the file holds: it becomes the record's error.
    """

    name: str
    description: str
    looked_for: str
    detect: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Record]] | None = None
    cases: Callable[[Source], Iterator[CaseRecord]] | None = None
    tools: Callable[[Source], dict[str, ToolSpec]] | None = None

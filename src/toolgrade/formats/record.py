"""What reading gives: one record a trace, or the reason why there is none."""

from __future__ import annotations

from typing import NamedTuple

from toolgrade.core.case import Case
from toolgrade.core.result import Origin
from toolgrade.core.trace import Trace
from toolgrade.errors import UnreadableError


class Record(NamedTuple):
    """One recorded run as it was read.

    Exactly one of `trace` and `error` is set. `error` is the whole message: file, line or record, field,
    what was found, what was expected, and what to do.
    """

    origin: Origin
    trace: Trace | None = None
    error: str | None = None


class CaseRecord(NamedTuple):
    """One case that a source records, or the reason why it could not be read; `place` is where it stands."""

    place: str
    case: Case | None = None
    error: str | None = None


class Malformed(UnreadableError):
    """One record does not have the shape of its format; readers turn it into `Record.error`.

    Args:
        field: path inside the record, such as `messages[3].role`; empty for the record itself.
        found: what stands there.
        expected: what should.
        advice: what to do about it, as a sentence; may be empty.
    """

    def __init__(self, field: str, found: str, expected: str, advice: str = "") -> None:
        self.field, self.found, self.expected, self.advice = field, found, expected, advice
        super().__init__(field, found, expected, advice)

    def __str__(self) -> str:
        place = f"{self.field}: " if self.field else ""
        return f"{place}found {self.found}, expected {self.expected}.{' ' + self.advice if self.advice else ''}"

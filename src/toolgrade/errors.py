"""Every exception that toolgrade raises, as one tree.

    ToolgradeError
    ├── ConfigError         the user's cases, thresholds, flags or prompts are wrong       exit 2
    │   └── RubricMismatch  two calibrations, or labels and a judge, go by different rubrics
    ├── UnreadableError     something could not be read or reached                         exit 3
    │   ├── BrokenHistory   a record of the calibration history was changed, lost or cut off
    │   ├── ClockError      a calibration would lie before an earlier one: the clock ran backwards
    │   └── JudgeError      a judge's model did not answer this question, and a repeat cannot change it
    │       └── JudgeUnavailable    no question to this model will be answered (key, name, server)
    └── CeilingReached      the spending ceiling leaves no room for another call           exit 3

Errors inside one trace are data (a `trace_error` status), never exceptions.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class ToolgradeError(Exception):
    """Root of the tree; `exit_code` is what the command line returns for it."""

    exit_code = 3


class ConfigError(ToolgradeError):
    """Something the user wrote is wrong: says where, what was found, what was expected, what to do."""

    exit_code = 2


class UnreadableError(ToolgradeError):
    """A file, a record or a service could not be read or reached."""

    exit_code = 3


class RubricMismatch(ConfigError):
    """Two things that are to be compared go by different rubrics: their labels mean different things."""


class BrokenHistory(UnreadableError):
    """A record of an append-only history was changed, lost or cut off: its hash no longer fits."""


class ClockError(UnreadableError):
    """A record would lie before an earlier one: the clock ran backwards, and ages mean nothing."""


class JudgeError(UnreadableError):
    """A judge's model could not be reached, or refused in a way that a repeat cannot change."""


class JudgeUnavailable(JudgeError):
    """No question to this model will be answered: asking the others is of no use until this is mended."""


class CeilingReached(ToolgradeError):
    """The spending ceiling leaves no room for another call: what is not yet asked stays open."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the nearest known word, or an empty string."""
    near = get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""

"""Append-only files whose records are chained: each holds the hash of the one before."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from toolgrade.calibration.jsonl import append_jsonl, read_jsonl
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import BrokenHistory, ClockError, ConfigError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class Link(Frozen):
    """A record of a chain. `run_hash` is over everything else in it, `prev_run_hash` included."""

    run_id: str
    prev_run_hash: str | None = None
    run_hash: str = ""
    ts: str

    @property
    def at(self) -> datetime:
        """When the record was made."""
        return datetime.fromisoformat(self.ts)

    def computed_hash(self) -> str:
        """Return the hash that the record must carry: over the line as it is written, without `run_hash`.

        What is None is not written: a field that a later version adds leaves the hashes of older records as they are.
        """
        return content_hash(self.model_dump(mode="json", exclude={"run_hash"}, exclude_none=True))

    def sealed(self, previous: Link | None) -> Self:
        """Return the record chained to the one before it."""
        chained = self.model_copy(update={"prev_run_hash": previous.run_hash if previous else None})
        return chained.model_copy(update={"run_hash": chained.computed_hash()})


Record = TypeVar("Record", bound=Link)


def read_chain(path: Traversable | Path, kind: type[Record]) -> list[Record]:
    """Return the records in the file, oldest first; none where there is no file.

    Raises:
        BrokenHistory: a record's hash does not fit its content or the record before it.
        ClockError: a record is older than the one before it.
        UnreadableError: the file cannot be read.
    """
    if not path.is_file():
        return []
    records: list[Record] = []
    try:
        for number, record in read_jsonl(path, kind):
            _check(record, records[-1] if records else None, f"{path} line {number}")
            records.append(record)
    except ConfigError as error:
        raise BrokenHistory(f"{error}. The file is append-only: restore it from version control") from error
    return records


def _check(record: Link, previous: Link | None, place: str) -> None:
    expected = previous.run_hash if previous else None
    if record.prev_run_hash != expected:
        raise BrokenHistory(
            f"{place}: prev_run_hash is {record.prev_run_hash}; expected {expected}. "
            "A record before it was changed, lost or reordered: restore the file from version control"
        )
    if record.computed_hash() != record.run_hash:
        raise BrokenHistory(
            f"{place}: the record of {record.run_id} does not fit its run_hash: it was edited. "
            "Restore it; a correction is a new record that supersedes it"
        )
    if previous is not None and record.at < previous.at:
        raise ClockError(
            f"{place}: {record.ts} lies before the record above it, {previous.ts}: the clock ran backwards"
        )


def next_link(path: Path, record: Record) -> Record:
    """Return the record chained to the last one in the file, to be appended.

    Raises:
        BrokenHistory: the file is not what was appended before.
        ClockError: the record lies before the last one.
    """
    records = read_chain(path, type(record))
    previous = records[-1] if records else None
    if previous is not None and record.at < previous.at:
        raise ClockError(
            f"{path}: {record.ts} lies before the last record, {previous.ts}: the clock ran backwards. "
            "Set the clock; nothing was written"
        )
    return record.sealed(previous)


def append_link(path: Path, record: Record) -> Record:
    """Append a record, chained to the last one, and return it as written; errors as in `next_link`."""
    sealed = next_link(path, record)
    append_jsonl(path, [sealed])
    return sealed

"""The verdicts of a calibration under way, kept as they arrive: one that stops midway pays for nothing twice."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeVar

from pydantic import ValidationError

from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Verdict
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.judges.judge import HALF_ASKED
from toolgrade.llm.cache import Entry, VerdictCache
from toolgrade.locking import held

log = logging.getLogger("toolgrade.calibration")

Kind = TypeVar("Kind", bound=Frozen)

MAX_AGE = timedelta(days=1)
"""A calibration measures a judge at one time: what was begun longer ago is asked anew."""


class Begun(Frozen):
    """The first line of a journal: which calibration it belongs to, and when that began.

    `what` is asked about: the `test` split, or the `anchors`.
    """

    judge_id: str
    set: str
    what: str = "test"
    rubric_version: str
    label_set_hash: str
    begun: datetime

    def same(self, other: Begun) -> bool:
        """Say whether both are one calibration: of the same judge, rubric and labels."""
        return self == other.model_copy(update={"begun": self.begun})


class Journal(VerdictCache):
    """What was answered so far, in a file of its own: no cache, since it ends with the calibration it belongs to.

    One process at a time has it open. A torn last line is cut off. What it holds was asked by this calibration,
    so it counts as fresh.
    """

    def __init__(self, folder: Path, this: Begun, recorded: datetime | None = None) -> None:
        """Make the journal of `this` calibration in `folder`; `recorded` is when its like was last recorded.

        Entering it raises `ConfigError` where another process is at the same calibration, and `UnreadableError`
        where the file cannot be read or written, or a line in it is broken.
        """
        name = "-".join((this.set, this.what, _short(this.judge_id), _short(this.label_set_hash)))
        self.folder = folder / f"{name}.unfinished"
        super().__init__(self.folder, "off")
        self._this = this
        self._known: dict[str, Verdict] = {}
        self._recorded = recorded
        self._finished = False
        self._file: BinaryIO | None = None
        self._open = ExitStack()

    @property
    def path(self) -> Path:
        """Where the verdicts lie."""
        return self.folder / "verdicts.jsonl"

    def __len__(self) -> int:
        """How many answers it holds."""
        return len(self._known)

    def __enter__(self) -> Journal:
        if self.folder.exists():
            self._start()
        return self

    def _start(self) -> BinaryIO:
        """Open the file, with what is in it read; made where it is missing."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._open.enter_context(held(self.folder, wait=False))
            self._read()
            if self._known:
                log.warning("%s: going on after %d answers that are there", self.path, len(self))
            self._file = file = self._open.enter_context(self.path.open("ab", buffering=0))
            if not file.tell():
                file.write(self._this.model_dump_json().encode() + b"\n")
        except BlockingIOError as error:
            raise ConfigError(
                f"{self.folder}: another process is at the same calibration; wait until it ends"
            ) from error
        except OSError as error:
            raise UnreadableError(f"{self.path}: {error.strerror}") from error
        return file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()
        if kind is not None and self._known:
            log.warning(
                "%s: %d answers are kept; the same calibration goes on there within a day", self.path, len(self)
            )
        if self._finished and self._file is not None:
            self.path.unlink()
            self.folder.rmdir()

    def get_many(self, keys: Iterable[str]) -> dict[str, Verdict]:
        """Return what this calibration was answered before it stopped."""
        return {key: self._known[key] for key in keys if key in self._known}

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep an answer; also an unreadable one, which is what the judge did, but none that money cut short."""
        if (verdict.error or "").startswith(HALF_ASKED):
            return
        file = self._file or self._start()
        self._known[key] = verdict
        file.write(Entry(key=key, verdict=verdict).model_dump_json(exclude_defaults=True).encode() + b"\n")

    def finish(self) -> None:
        """Let go of the journal on leaving: the run is recorded, with its verdicts."""
        self._finished = True

    def _read(self) -> None:
        if not self.path.exists():
            return
        lines = self.path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            os.truncate(self.path, sum(map(len, lines[:-1])))
            lines.pop()
        if not lines:
            return
        before = self._line(Begun, lines[0], 1)
        if (why := self._other(before)) is not None:
            aside = self.folder.with_suffix(f".{before.begun:%Y%m%dT%H%M%S}.jsonl")
            self.path.rename(aside)
            log.warning("%s: %s; it is kept as %s, and everything is asked anew", self.path, why, aside.name)
            return
        for number, line in enumerate(lines[1:], start=2):
            entry = self._line(Entry, line, number)
            self._known[entry.key] = entry.verdict

    def _other(self, before: Begun) -> str | None:
        """Say why what lies there is another calibration than this one; None where it is this one."""
        if not before.same(self._this):
            return "is of another judge, rubric or label set"
        if self._recorded is not None and self._recorded >= before.begun:
            return "was recorded already"
        if not timedelta() <= self._this.begun - before.begun <= MAX_AGE:
            return f"was begun {before.begun:%Y-%m-%d %H:%M}, more than a day ago"
        return None

    def _line(self, kind: type[Kind], line: bytes, number: int) -> Kind:
        try:
            return kind.model_validate_json(line)
        except ValidationError as error:
            raise UnreadableError(
                f"{self.path} line {number}: no {kind.__name__.lower()} of a calibration; delete the file to ask anew"
            ) from error


def _short(hashed: str) -> str:
    return hashed.removeprefix("sha256:")[:12]

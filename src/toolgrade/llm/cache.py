"""What judges answered, kept on disk and asked once."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Literal

from pydantic import Field, ValidationError

from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Verdict
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.llm.store import VerdictStore

CacheMode = Literal["auto", "replay", "refresh", "off"]

# Writes are gathered while answers come fast, and made at once where they come slowly.
_BATCH = 64
_BATCH_SECONDS = 0.5


class Entry(Frozen):
    """One recorded verdict as it lies in the file and in an export."""

    key: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    verdict: Verdict


class CacheInfo(Frozen):
    """What a cache holds: entries by dimension and by model, bytes on disk, and what could not be read."""

    directory: str
    entries: int
    bytes: int
    dimensions: dict[str, int]
    models: dict[str, int]
    warnings: tuple[str, ...] = ()


def default_directory() -> Path:
    """Return where verdicts are kept unless told otherwise: `TOOLGRADE_CACHE`, else the user's cache folder."""
    if chosen := os.environ.get("TOOLGRADE_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "toolgrade"


class VerdictCache:
    """Verdicts by key (`sha256:` and 64 hex digits), in a directory that several processes may share.

    Modes: `auto` reads and writes; `replay` only reads, a miss is an error; `refresh` asks again and
    writes; `off` does neither. Whatever was not asked just now has `cached=True`. Errors are never
    stored. A damaged or tampered file counts as missing, with a warning. Use it in one event loop, and as
    a context manager: closing writes what is not yet written.
    """

    def __init__(self, directory: Path, mode: CacheMode = "auto") -> None:
        self.mode = mode
        self._store = VerdictStore(directory)
        self._unwritten: dict[str, Verdict] = {}
        self._refreshed: set[str] = set()
        self._written_at = 0.0
        self._in_flight: dict[str, asyncio.Future[Verdict]] = {}

    @property
    def directory(self) -> Path:
        """Where the verdicts lie."""
        return self._store.directory

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read or written so far; each was logged once too."""
        return tuple(self._store.warnings)

    def get_many(self, keys: Iterable[str]) -> dict[str, Verdict]:
        """Return what is known of these keys, in one pass over the file; ask only what is left.

        Empty in the modes `refresh` and `off`.
        """
        if self.mode == "off":
            return {}
        wanted = dict.fromkeys(keys)
        if self.mode == "refresh":
            wanted = {key: None for key in wanted if key in self._refreshed}
        known = {key: _as_cached(self._unwritten[key]) for key in wanted if key in self._unwritten}
        for key, text in self._store.read([key for key in wanted if key not in known]):
            verdict = self._parse(key, text)
            if verdict is not None:
                known[key] = verdict
        return known

    def _parse(self, key: str, text: bytes) -> Verdict | None:
        try:
            entry = Entry.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            self._store.warn_row(key, f"{'.'.join(map(str, first['loc'])) or 'entry'}: {first['msg'].lower()}")
            return None
        if entry.key != key or entry.verdict.verdict == "error":
            self._store.warn_row(key, "holds another entry" if entry.key != key else "holds an error")
            return None
        return _as_cached(entry.verdict)

    async def ask(self, key: str, question: str, ask: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """Return the verdict for `key`: from the cache, from a call in flight, else from `ask`, once.

        `question` names the question in messages. An answer with `verdict: error` is handed to everyone
        who waits, and not stored.

        Raises:
            ConfigError: `replay`, and the cache holds no answer.
            Exception: whatever `ask` raises, to everyone who waits for it.
        """
        while (flight := self._in_flight.get(key)) is not None:
            try:
                return _as_cached(await asyncio.shield(flight))
            except asyncio.CancelledError:
                # Only the call that we waited for was cancelled: the next in line makes it.
                task = asyncio.current_task()
                if not flight.cancelled() or (task is not None and task.cancelling()):
                    raise
        known = self.get_many([key])
        if key in known:
            return known[key]
        if self.mode == "replay":
            raise ConfigError(
                f"{question}: no recorded verdict in {self.directory} ({key}). The question, the prompt, the model "
                "or a parameter differs from what was recorded: record it once with the cache mode `auto`"
            )
        return await self._fly(key, ask)

    async def _fly(self, key: str, ask: Callable[[], Awaitable[Verdict]]) -> Verdict:
        flight: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = flight
        try:
            verdict = await ask()
        except asyncio.CancelledError:
            flight.cancel()
            raise
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # read here, so that it is no "never retrieved" where nobody waits
            raise
        finally:
            del self._in_flight[key]
        flight.set_result(verdict)
        self.put(key, verdict)
        return verdict

    def put(self, key: str, verdict: Verdict) -> None:
        """Store a verdict, unless it is an error or the mode does not write."""
        if self.mode in ("off", "replay") or verdict.verdict == "error":
            return
        self._unwritten[key] = verdict
        self._refreshed.add(key)
        if len(self._unwritten) >= _BATCH or time.monotonic() - self._written_at >= _BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not yet written."""
        if self._unwritten:
            self._store.write((key, encode(key, verdict)) for key, verdict in self._unwritten.items())
            self._unwritten.clear()
        self._written_at = time.monotonic()

    def add(self, entries: Iterable[Entry]) -> None:
        """Store recorded entries, all or none.

        Raises:
            UnreadableError: they could not be stored.
        """
        if not self._store.write((entry.key, encode(entry.key, entry.verdict)) for entry in entries):
            raise UnreadableError(self._store.warnings[-1])

    def entries(self) -> Iterable[Entry]:
        """Yield every readable entry, by key."""
        self.flush()
        for key, text in self._store.rows():
            verdict = self._parse(key, text)
            if verdict is not None:
                yield Entry(key=key, verdict=verdict)

    def info(self) -> CacheInfo:
        """Return what the cache holds."""
        dimensions: Counter[str] = Counter()
        models: Counter[str] = Counter()
        for entry in self.entries():
            dimensions[entry.verdict.dimension] += 1
            models[entry.verdict.model] += 1
        return CacheInfo(
            directory=str(self.directory),
            entries=dimensions.total(),
            bytes=self._store.size(),
            dimensions=dict(sorted(dimensions.items())),
            models=dict(sorted(models.items())),
            warnings=self.warnings,
        )

    def clear(self) -> int:
        """Delete everything; return how many verdicts there were."""
        self._unwritten.clear()
        self._refreshed.clear()
        return self._store.clear()

    def close(self) -> None:
        """Write what is not yet written and close the file; the cache may be used again."""
        self.flush()
        self._store.close()

    def __enter__(self) -> VerdictCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def encode(key: str, verdict: Verdict) -> str:
    """Return the one-line JSON text of an entry, without fields at their defaults."""
    return Entry(key=key, verdict=_as_cached(verdict)).model_dump_json(exclude_defaults=True)


def _as_cached(verdict: Verdict) -> Verdict:
    return verdict if verdict.cached else verdict.model_copy(update={"cached": True})

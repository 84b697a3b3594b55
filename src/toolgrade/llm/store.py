"""The file under the cache of verdicts: a diskcache directory that holds JSON texts and nothing else.

diskcache unpickles what its rows ask it to, so whoever can write the file can run code in whoever reads it
(CVE-2025-69872; its own `JSONDisk` does not prevent it). Here rows are read straight from sqlite, in
batches, and only texts are taken; writing goes through a `Disk` that knows neither pickle nor files beside
the database. A file that holds more than this module wrote is set aside, never opened by diskcache.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolgrade.errors import ConfigError

if TYPE_CHECKING:
    import diskcache

log = logging.getLogger("toolgrade.cache")

FILE = "cache.db"
BUSY_SECONDS = 10.0
"""How long a process waits for another that writes."""

_SIDE_FILES = ("", "-wal", "-shm")
_CHUNK = 500

# Every setting is given, so that none is taken from the file. Nothing is ever evicted or written beside it.
_SETTINGS: dict[str, Any] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "none",
    "size_limit": 2**40,
    "cull_limit": 0,
    "sqlite_auto_vacuum": 1,
    "sqlite_cache_size": 2**13,
    "sqlite_journal_mode": "wal",
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 1,
    "disk_min_file_size": 2**30,
    "disk_pickle_protocol": 0,
}
_COUNTERS = ("count", "size", "hits", "misses")
_SCHEMA = {
    "Settings": "table",
    "Cache": "table",
    "Cache_key_raw": "index",
    "Cache_expire_time": "index",
    "Settings_count_insert": "trigger",
    "Settings_count_delete": "trigger",
    "Settings_size_insert": "trigger",
    "Settings_size_update": "trigger",
    "Settings_size_delete": "trigger",
}
# Codes that say nothing of the file's content (https://sqlite.org/rescode.html).
_NOT_DAMAGE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_NOMEM,
}
_ROW = "key, raw, mode, filename IS NULL, typeof(value), CAST(value AS BLOB)"


class _DamagedError(Exception):
    """The file is not what this module writes."""


class VerdictStore:
    """Texts by key, in a directory of mode 0700 that several processes may share.

    What cannot be read is left out and named in `warnings` (and in the log). `directory` is made on the
    first write.

    Raises:
        ConfigError: the directory cannot be used: a file, not ours to write, or full of other things.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.warnings: list[str] = []
        self._reader: sqlite3.Connection | None = None
        self._writer: diskcache.Cache | None = None
        self._damaged = False
        if directory.exists() and not directory.is_dir():
            raise ConfigError(f"{directory}: is a file, expected a directory for the cache of verdicts")

    @property
    def path(self) -> Path:
        """The database."""
        return self.directory / FILE

    def _connection(self) -> sqlite3.Connection | None:
        """Return a checked connection, None where there is nothing to read or it cannot be trusted."""
        if self._reader is None and not self._damaged and self.path.is_file():
            try:
                self._reader = _open(self.path)
            except _DamagedError as error:
                self._damaged = True
                self._warn(f"{self.path}: not used: {error}; its verdicts count as missing")
            except sqlite3.OperationalError as error:
                self._warn(f"{self.path}: {error}; its verdicts count as missing")
        return self._reader

    def read(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield key and text of those keys that are there, in the order of the file."""
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            yield from self._select(f"SELECT {_ROW} FROM Cache WHERE key IN ({marks})", chunk)  # noqa: S608

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """Yield every key and text, by key."""
        yield from self._select(f"SELECT {_ROW} FROM Cache ORDER BY key", ())  # noqa: S608

    def _select(self, query: str, values: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        connection = self._connection()
        if connection is None:
            return
        try:
            for key, raw, mode, inline, kind, value in connection.execute(query, values):
                # Mode 1 is a value as it is; 4 a pickle, 2 and 3 files. raw 0 is a pickled key.
                if (raw, mode, inline, kind) == (1, 1, 1, "text") and isinstance(key, str):
                    yield key, value
                else:
                    self.warn_row(key, "not a text in the file")
        except sqlite3.DatabaseError as error:
            self._warn(f"{self.path}: {error}; verdicts that cannot be read count as missing")

    def warn_row(self, key: object, why: str) -> None:
        """Note that one entry is not used."""
        self._warn(f"{self.path}: entry {str(key)[:80]!r} not used: {why}; it counts as missing")

    def write(self, texts: Iterable[tuple[str, str]]) -> bool:
        """Store texts by key, all or none; an entry that is there is replaced. Return whether it worked.

        A failure (another process holds the file too long, the disk is full) is noted, not raised.
        """
        import diskcache

        try:
            writer = self._writer or self._open_writer()
            with writer.transact():
                for key, text in texts:
                    writer.set(key, text)
        except (diskcache.Timeout, sqlite3.DatabaseError, OSError) as error:
            self._warn(f"{self.path}: verdicts could not be stored: {error or 'the file is locked'}")
            return False
        return True

    def _open_writer(self) -> diskcache.Cache:
        import diskcache

        self._prepare_directory()
        if self.path.exists():
            try:
                connection = _open(self.path)
            except _DamagedError as error:
                self._set_aside(error)
            else:
                if connection is not None:
                    connection.close()
        self._writer = diskcache.Cache(str(self.directory), timeout=BUSY_SECONDS, disk=_text_disk(), **_SETTINGS)
        self._damaged = False
        return self._writer

    def _prepare_directory(self) -> None:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.directory.stat().st_mode & 0o077:
                if not self.path.exists() and any(self.directory.iterdir()):
                    raise ConfigError(
                        f"{self.directory}: holds other files and is open to other users; "
                        "name a new or empty directory for the cache of verdicts"
                    )
                self.directory.chmod(0o700)
        except OSError as error:
            raise ConfigError(f"{self.directory}: cannot be used for the cache: {error.strerror}") from error

    def _set_aside(self, why: Exception) -> None:
        number = 1
        while (aside := self.directory / f"{FILE}.damaged-{number}").exists():
            number += 1
        for suffix in _SIDE_FILES:
            side = self.directory / f"{FILE}{suffix}"
            if side.exists():
                side.rename(f"{aside}{suffix}")
        self._warn(f"{self.path}: set aside as {aside.name}: {why}; a new file was begun")

    def clear(self) -> int:
        """Delete every entry and every file set aside; return how many readable entries there were."""
        count = sum(1 for _ in self.rows())
        if self._connection() is not None:
            (self._writer or self._open_writer()).clear(retry=True)
        self.close()
        for path in self.directory.glob(f"{FILE}*"):
            if self._damaged or ".damaged-" in path.name:
                path.unlink()
        self._damaged = False
        return count

    def size(self) -> int:
        """Return the bytes on disk, files set aside included."""
        return sum(path.stat().st_size for path in self.directory.glob(f"{FILE}*"))

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            log.warning(text)


def _open(path: Path) -> sqlite3.Connection | None:
    """Return a connection to a file that may be trusted; None where another process has only begun it.

    Raises:
        _DamagedError: the file is no database, or not one of ours.
        sqlite3.OperationalError: the file may be sound, but cannot be read now (locked, no permission).
    """
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_SECONDS
    )
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        ready = _check(connection)
    except _DamagedError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF in _NOT_DAMAGE:
            raise
        raise _DamagedError(str(error)) from error
    if not ready:
        connection.close()
        return None
    return connection


def _check(connection: sqlite3.Connection) -> bool:
    """Raise where the file holds anything that diskcache would act on and this module did not write.

    Returns whether the tables are there yet.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    names = set()
    for name, kind, sql in connection.execute("SELECT name, type, sql FROM sqlite_master"):
        names.add(name)
        if name.startswith("sqlite_autoindex_"):
            continue
        if _SCHEMA.get(name) != kind or (kind == "table" and not sql.startswith("CREATE TABLE")):
            raise _DamagedError(f"holds a {kind} {name[:60]!r}")
    if not {"Settings", "Cache"} <= names:
        return False
    for key, value in connection.execute("SELECT key, value FROM Settings"):
        wanted = _SETTINGS.get(key)
        if key not in _COUNTERS and (wanted is None or value != wanted):
            raise _DamagedError(f"its setting {str(key)[:60]!r} is {str(value)[:60]!r}")
    connection.execute(f"SELECT {_ROW} FROM Cache LIMIT 0")  # noqa: S608
    if (found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise _DamagedError(str(found))
    return True


def _text_disk() -> type[diskcache.Disk]:
    import diskcache
    from diskcache.core import MODE_RAW

    class TextDisk(diskcache.Disk):  # type: ignore[misc]
        """Keys and values are texts in the database: no pickle, no file, in either direction."""

        def put(self, key: object) -> tuple[str, bool]:
            if not isinstance(key, str):
                raise TypeError(f"cache keys are texts, found {type(key).__name__}")
            return key, True

        def get(self, key: object, raw: object) -> str:
            if not raw or not isinstance(key, str):
                raise ValueError("cache key is not a text")
            return key

        def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, str]:
            if read or not isinstance(value, str):
                raise TypeError(f"cache values are texts, found {type(value).__name__}")
            return 0, MODE_RAW, None, value

        def fetch(self, mode: object, filename: object, value: object, read: bool) -> str:
            if mode != MODE_RAW or filename is not None or read or not isinstance(value, str):
                raise ValueError("cache value is not a text")
            return value

        def remove(self, file_path: object) -> None:
            """Never delete a file that a row names."""

    return TextDisk

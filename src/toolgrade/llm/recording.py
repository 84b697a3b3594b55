"""Recorded verdicts as a file that a team can commit: one JSON object a line, sorted by key."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from toolgrade.errors import UnreadableError
from toolgrade.llm.cache import Entry, VerdictCache, encode


def export_verdicts(cache: VerdictCache, path: Path) -> int:
    """Write every verdict of the cache to `path` (replaced as a whole); return how many.

    Equal caches give equal bytes, so that a diff shows what changed.

    Raises:
        UnreadableError: the file cannot be written.
    """
    count = 0
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as out:
            for entry in cache.entries():
                out.write(encode(entry.key, entry.verdict) + "\n")
                count += 1
        partial.replace(path)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be written: {error.strerror}") from error
    return count


def import_verdicts(cache: VerdictCache, path: Path) -> int:
    """Add the verdicts of an export to the cache; return how many. A key that is there is replaced.

    Raises:
        UnreadableError: the file cannot be read, or a line is no recorded verdict, or the cache cannot be
            written: nothing is added then.
    """
    entries = [_entry(path, number, line) for number, line in enumerate(_lines(path), 1) if line.strip()]
    cache.add(entries)
    return len({entry.key for entry in entries})


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror}") from error


def _entry(path: Path, number: int, line: bytes) -> Entry:
    try:
        entry = Entry.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "line"
        raise UnreadableError(
            f"{path}:{number}: {field}: {first['msg'].lower()}; expected a line of `toolgrade cache export`"
        ) from error
    if entry.verdict.verdict == "error":
        raise UnreadableError(f"{path}:{number}: verdict: found `error`, expected pass, fail or unknown")
    return entry

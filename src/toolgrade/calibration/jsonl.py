"""Append-only JSONL files of frozen values: read with the line in every error, written without losing a byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, UnreadableError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Value = TypeVar("Value", bound=Frozen)
MAX_SHOWN = 80


def read_jsonl(path: Traversable | Path, kind: type[Value]) -> Iterator[tuple[int, Value]]:
    """Yield (line number, value) of each line that is not blank.

    Raises:
        UnreadableError: the file cannot be read, or is no UTF-8.
        ConfigError: a line is no JSON or no such value; says file, line, field, found and expected.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parse(line, kind, f"{path} line {number}")


def _parse(line: str, kind: type[Value], place: str) -> Value:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        found = "" if first["type"] in ("missing", "json_invalid") else f", found {str(first['input'])[:MAX_SHOWN]!r}"
        raise ConfigError(f"{place}: {field}: {first['msg']}{found}") from error


def _line(value: Frozen) -> str:
    given = value.model_dump(mode="json", exclude_none=True)
    return json.dumps(given, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def append_jsonl(path: Path, values: Iterable[Frozen]) -> None:
    """Append values as JSON lines and wait until they are on disk.

    Keys stay in their order: a judge is asked about an item as the gate wrote it, not as it sorts.
    A last line without its newline (a write that was cut off) is an error, not something to build on.

    Raises:
        UnreadableError: the file ends in the middle of a line, or cannot be written.
        ConfigError: a text is no Unicode.
    """
    lines = "".join(_line(value) + "\n" for value in values)
    try:
        data = lines.encode("utf-8")
    except UnicodeEncodeError as error:
        broken = lines[max(0, error.start - 20) : error.end + 20]
        raise ConfigError(f"{path}: half a surrogate pair is no text: {broken!r}; repair the source") from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    raise UnreadableError(
                        f"{path}: the last line has no end: a write was cut off. Repair it by hand first"
                    )
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be written ({error})") from error

"""One file of recorded runs, read lazily and only once: lines that are JSON, or one JSON document.

Nothing in a file is executed, unpickled, fetched or used as a path. JSON nested deeper than 200 levels is
refused by the parser, so that no reader recurses without bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic_core import from_json

from toolgrade.errors import UnreadableError

HEAD_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 18
"""Lines are often longer than the usual buffer, and are then put together from parts."""
_BOM = b"\xef\xbb\xbf"
_NO_TEXT = {
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"%PDF": "a PDF document",
    b"\x89PNG": "an image",
}


class Document(NamedTuple):
    """One JSON value of a file: `place` is `file:line` or `file`; `error` is set where it could not be parsed."""

    place: str
    value: Any
    sha256: str
    error: str | None = None


def digest(raw: bytes) -> str:
    """Return `sha256:` and the hex digest of bytes as they were recorded."""
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def parse_json(raw: bytes | str) -> Any:
    """Return the JSON value in `raw`; integers stay exact, NaN and Infinity are refused.

    Raises:
        ValueError: says what is wrong, with line and column inside `raw`.
    """
    return from_json(raw, allow_inf_nan=False)


class Source:
    """A file that may hold recorded runs.

    `name` is the path as the user gave it. `layout` is `lines` (JSON Lines), `document` (one JSON value) or
    `binary`. `first` is the first JSON value that parses, for detection: the first good one of the leading
    lines, or the whole document; None where there is none. `head` holds the first 64 KiB.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @property
    def stem(self) -> str:
        """The file's name without its extension: the default id of a single trace."""
        return self.path.stem or "trace"

    @cached_property
    def head(self) -> bytes:
        """The first bytes, without a byte order mark.

        Raises:
            UnreadableError: the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                return file.read(HEAD_BYTES).removeprefix(_BOM)
        except OSError as error:
            raise UnreadableError(f"{self.name}: cannot be read: {error.strerror or error}.") from error

    @cached_property
    def layout(self) -> Literal["lines", "document", "binary"]:
        """How the file holds its values, told from its content; the extension decides only in doubt."""
        if self.not_text:
            return "binary"
        leading = [raw for _, raw in islice(self.lines(), 4)]
        if leading and leading[0] in (b"[", b"{"):
            return "document"  # printed over several lines, whatever the file is called
        if self.path.suffix in (".jsonl", ".ndjson"):
            return "lines"
        if len(leading) < 2 or (leading[0].startswith(b"[") and not _parses(leading[0])):
            return "document"
        return "lines" if _parses(leading[0]) or all(map(_parses, leading[1:])) else "document"

    @cached_property
    def not_text(self) -> str | None:
        """What the file is instead of UTF-8 text, where that can be told from its first bytes."""
        for magic, what in _NO_TEXT.items():
            if self.head.startswith(magic):
                return what
        return "a binary file (it holds NUL bytes)" if b"\x00" in self.head else None

    @cached_property
    def first(self) -> Any:
        """The first JSON value that parses, None where there is none."""
        if self.layout == "binary":
            return None
        if self.layout == "document":
            return self._document.value
        for _, raw in islice(self.lines(), 20):
            try:
                return parse_json(raw)
            except ValueError:
                continue
        return None

    @property
    def first_object(self) -> dict[str, Any]:
        """The first object: that value, or the first item of it where it is a list; empty where it is no object."""
        value = self.first
        if isinstance(value, list):
            value = value[0] if value else None
        return value if isinstance(value, dict) else {}

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield (line number from 1, bytes without line end) of every line that is not blank, one at a time."""
        with self.path.open("rb", buffering=_BUFFER_BYTES) as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(_BOM).strip() if number == 1 else raw.strip()
                if line:
                    yield number, line

    def documents(self) -> Iterator[Document]:
        """Yield every JSON value of the file: one a line, or the whole document."""
        if self.layout == "document":
            yield self._document
        elif self.layout == "lines":
            for number, raw in self.lines():
                yield read_document(f"{self.name}:{number}", raw)
        else:
            message = f"{self.name}: found {self.not_text}, expected JSON text."
            yield Document(self.name, None, digest(self.head), message)

    @cached_property
    def _document(self) -> Document:
        return read_document(self.name, self.path.read_bytes().removeprefix(_BOM))


def read_document(place: str, raw: bytes) -> Document:
    """Return the JSON value in `raw`, or the error that says where it stops being JSON.

    NaN and Infinity are let through, as Python writes them: a trace that holds one where it counts is refused
    by itself, and the others of the same document are not lost with it.
    """
    try:
        return Document(place, from_json(raw), digest(raw))
    except ValueError as error:
        return Document(place, None, digest(raw), f"{place}: {json_problem(error)}")


def json_problem(error: ValueError) -> str:
    """Return the sentence for text that is no JSON: what the parser found, what was expected, what to do."""
    text = str(error)
    if "recursion limit" in text:
        return f"found JSON nested more than 200 levels deep ({text}), expected a trace. Remove the nesting."
    if "unicode" in text:
        return f"found bytes that are no UTF-8 ({text}), expected UTF-8 JSON. Save the file as UTF-8."
    if "EOF" in text:
        return f"the JSON ends too early ({text}), expected a whole value. The file was probably cut off."
    return f"found no JSON ({text}), expected one JSON value. Comments and trailing commas are no JSON."


def _parses(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict | list)
    except ValueError:
        return False

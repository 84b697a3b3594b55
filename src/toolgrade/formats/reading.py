"""The loop that every format shares: documents into parts, parts into traces, mistakes into record errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError
from pydantic_core import to_json

from toolgrade.core.case import Case
from toolgrade.core.result import Origin
from toolgrade.core.trace import Trace
from toolgrade.formats.record import CaseRecord, Malformed, Record
from toolgrade.formats.source import Document, Source, digest
from toolgrade.formats.validation import explain


class Part(NamedTuple):
    """What one trace is made from: `field` is its place in the document, `context` what it shares with others.

    `default_id` is set by `read_parts`: the file's stem, with the record's number where there are several.
    """

    value: Any
    field: str = ""
    context: Any = None
    default_id: str = ""


def whole(value: Any) -> Iterator[Part]:
    """Split nothing: the document is one trace."""
    yield Part(value)


def read_parts(
    source: Source, build: Callable[[Part], Trace], split: Callable[[Any], Iterable[Part]] = whole
) -> Iterator[Record]:
    """Yield one record a trace of `source`.

    `split` takes one JSON document apart, `build` makes one trace of one part. Both raise `Malformed`, and
    `build` also pydantic's `ValidationError`; that record then carries the error, and reading goes on.
    """
    index = 0
    for document in source.documents():
        before = index
        for part, error in _parts(document, split):
            origin = Origin(source=source.name, index=index, sha256=_hash(document, part))
            if error is None:
                single = source.layout == "document" and part.field == ""
                name = source.stem if single else f"{source.stem}-{index + 1}"
                yield _built(origin, document, part._replace(default_id=name), build)
            else:
                yield Record(origin, error=error)
            index += 1
        if index == before:
            origin = Origin(source=source.name, index=index, sha256=document.sha256)
            yield Record(origin, error=f"{document.place}: holds no trace, expected at least one recorded run.")
            index += 1


def read_cases(
    source: Source, build: Callable[[Part, str], Case], split: Callable[[Any], Iterable[Part]] = whole
) -> Iterator[CaseRecord]:
    """Yield what `source` expects: one record a part that `split` gives, made by `build(part, place)`.

    Both may raise `Malformed`, and `build` also `ValidationError`; that record then carries the error.
    """
    for document in source.documents():
        for part, error in _parts(document, split):
            place = f"{document.place}: {part.field}" if part.field else document.place
            if error is not None:
                yield CaseRecord(place, error=error)
                continue
            try:
                yield CaseRecord(place, case=build(part, place))
            except Malformed as wrong:
                yield CaseRecord(place, error=_message(document, part, wrong))
            except ValidationError as wrong:
                yield CaseRecord(place, error=f"{place}: {explain(wrong, Case)}")


def _parts(document: Document, split: Callable[[Any], Iterable[Part]]) -> Iterator[tuple[Part, str | None]]:
    """Yield the parts of a document; one that cannot be split gives an error after the parts before it."""
    if document.error is not None:
        yield Part(None), document.error
        return
    try:
        for part in split(document.value):
            yield part, None
    except Malformed as error:
        yield Part(None), f"{document.place}: {error}"


def _built(origin: Origin, document: Document, part: Part, build: Callable[[Part], Trace]) -> Record:
    try:
        return Record(origin, trace=build(part))
    except Malformed as error:
        return Record(origin, error=_message(document, part, error))
    except ValidationError as error:
        place = f"{document.place}: {part.field}" if part.field else document.place
        return Record(origin, error=f"{place}: {explain(error, Trace)}")


def _message(document: Document, part: Part, error: Malformed) -> str:
    """Return the error with its place: `file: [3].traj[0].role: found …`."""
    if part.field and error.field:
        return f"{document.place}: {part.field}.{error}"
    return f"{document.place}: {part.field}{': ' if part.field else ''}{error}"


def _hash(document: Document, part: Part) -> str:
    if not part.field:
        return document.sha256
    try:
        return digest(orjson.dumps(part.value))
    except orjson.JSONEncodeError:  # an integer beyond 64 bits
        return digest(to_json(part.value))

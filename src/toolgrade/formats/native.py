"""toolgrade's own format: JSON Lines, one `Trace` a line, each marked with its schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from toolgrade.core.result import Origin
from toolgrade.core.trace import Trace
from toolgrade.errors import suggestion
from toolgrade.formats.access import describe
from toolgrade.formats.format import Format
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source, digest, json_problem, parse_json
from toolgrade.formats.validation import explain

SCHEMA = "toolgrade.trace/1"
_MARK = b'{"schema":"toolgrade.trace/1",'


def write_trace(trace: Trace) -> bytes:
    """Return one line (with its end) that `read` gives back equal; fields at their defaults are left out."""
    body = trace.model_dump_json(exclude_defaults=True)
    return _MARK + body[1:].encode() + b"\n"


def read(source: Source) -> Iterator[Record]:
    """Yield one record a line."""
    if source.layout == "lines":
        for index, (number, raw) in enumerate(source.lines()):
            yield _read_line(source.name, f"{source.name}:{number}", index, raw)
    else:
        yield _read_line(source.name, source.name, 0, source.path.read_bytes().strip())


def _read_line(source: str, place: str, index: int, raw: bytes) -> Record:
    origin = Origin(source=source, index=index, sha256=digest(raw))
    try:
        if raw.startswith(_MARK) and b"NaN" not in raw and b"Infinity" not in raw:
            return Record(origin, trace=Trace.model_validate_json(b"{" + raw[len(_MARK) :]))
        return Record(origin, trace=Trace.model_validate(_unmarked(parse_json(raw))))
    except ValidationError as error:
        return Record(origin, error=f"{place}: {_explain(error)}")
    except Malformed as error:
        return Record(origin, error=f"{place}: {error}")
    except ValueError as error:
        return Record(origin, error=f"{place}: {json_problem(error)}")


def _unmarked(value: Any) -> dict[str, Any]:
    """Return the fields of a trace, the mark taken off after it was checked."""
    if not isinstance(value, dict):
        raise Malformed("", describe(value), f'an object with "schema": "{SCHEMA}"')
    mark = value.get("schema")
    if mark != SCHEMA:
        hint = suggestion("schema", value) if mark is None else ""
        advice = f"Add it.{hint}" if mark is None else "Another version needs another toolgrade."
        raise Malformed("schema", describe(mark) if mark else "nothing", f'"{SCHEMA}"', advice)
    return {key: item for key, item in value.items() if key != "schema"}


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return json_problem(ValueError(first["ctx"]["error"]))
    return explain(error, Trace)


def _detect(source: Source) -> bool:
    return isinstance(source.first, dict) and str(source.first.get("schema", "")).startswith("toolgrade.trace/")


FORMAT = Format(
    name="native",
    description="toolgrade's own JSON Lines, one trace a line",
    looked_for=f'lines with "schema": "{SCHEMA}"',
    detect=_detect,
    read=read,
)

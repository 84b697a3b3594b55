"""toolgrade's own format: JSON Lines, one `Trace` a line, each marked with its schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from toolgrade.core.model import construct
from toolgrade.core.result import Origin
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace
from toolgrade.errors import suggestion
from toolgrade.formats.access import describe
from toolgrade.formats.format import Format
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source, digest, json_problem, parse_json
from toolgrade.formats.validation import explain

SCHEMA = "toolgrade.trace/1"
_MARK = b'{"schema":"toolgrade.trace/1",'
_TOOLS = b',"tools":'
_TOOL_LIST = TypeAdapter(tuple[ToolSpec, ...])


def write_trace(trace: Trace) -> bytes:
    """Return one line (with its end) that `read` gives back equal; fields at their defaults are left out.

    The tools come last: a reader that has just seen the same list need not read it again.
    """
    body = trace.model_dump_json(exclude_defaults=True, exclude={"tools"}).encode()
    if trace.tools is None:
        return _MARK + body[1:] + b"\n"
    tools = _TOOL_LIST.dump_json(trace.tools, exclude_defaults=True)
    return _MARK + body[1:-1] + _TOOLS + tools + b"}\n"


def read(source: Source) -> Iterator[Record]:
    """Yield one record a line."""
    reader = _Reader()
    if source.layout == "lines":
        for index, (number, raw) in enumerate(source.lines()):
            yield _record(source.name, f"{source.name}:{number}", index, raw, reader)
    else:
        yield _record(source.name, source.name, 0, source.path.read_bytes().strip(), reader)


def _record(source: str, place: str, index: int, raw: bytes, reader: _Reader) -> Record:
    origin = construct(Origin, source=source, index=index, sha256=digest(raw))
    try:
        return Record(origin, trace=reader.trace(raw))
    except ValidationError as error:
        return Record(origin, error=f"{place}: {_explain(error)}")
    except Malformed as error:
        return Record(origin, error=f"{place}: {error}")
    except ValueError as error:
        return Record(origin, error=f"{place}: {json_problem(error)}")


class _Reader:
    """Reads lines one after another; lines that end with the same tools share one tuple of them."""

    def __init__(self) -> None:
        self._end = b""
        self._tools: tuple[ToolSpec, ...] | None = None

    def trace(self, raw: bytes) -> Trace:
        """Return the trace in a line.

        Raises:
            Malformed: the mark is missing or of another version.
            ValidationError: a field is wrong.
            ValueError: the line is no JSON.
        """
        if not raw.startswith(_MARK):
            return Trace.model_validate(_unmarked(parse_json(raw)))
        body = raw.replace(_MARK, b"{", 1)
        if self._end and body.endswith(self._end):
            try:
                rest = Trace.model_validate_json(body[: -len(self._end)] + b"}")
            except ValidationError:
                return Trace.model_validate_json(body)
            return rest.model_copy(update={"tools": self._tools})
        trace = Trace.model_validate_json(body)
        if trace.tools is not None:
            self._remember(body, trace.tools)
        return trace

    def _remember(self, body: bytes, tools: tuple[ToolSpec, ...]) -> None:
        """Keep the end of a line if it is exactly `,"tools":[...]}`: then the same end means the same tools.

        A line that ends so, and is a valid trace without that end, has these tools at its top level: the quote
        before `tools` cannot be the end of a text, nor the last brace that of an inner object.
        """
        end = body[body.rfind(_TOOLS + b"[") :]
        try:
            parse_json(end[len(_TOOLS) : -1])
        except ValueError:
            return
        self._end, self._tools = end, tools


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

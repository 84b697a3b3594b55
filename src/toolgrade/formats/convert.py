"""Foreign files into toolgrade's own: traces, the cases that the source states, and the tools on offer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from toolgrade.core.case import Case
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.format import Format
from toolgrade.formats.native import write_trace
from toolgrade.formats.openai_export import write_openai
from toolgrade.formats.record import Malformed
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.formats.source import Source
from toolgrade.formats.tools import load_tools, write_tools
from toolgrade.formats.yaml_text import write_yaml

MOST_IN_YAML = 200
"""Suites with more cases are written as JSON Lines: nobody edits that many by hand, and YAML reads slowly."""

_WRITERS: dict[str, Callable[[Trace], bytes]] = {"native": write_trace, "openai": write_openai}


class Conversion(NamedTuple):
    """What was written: the files, None where there was nothing to write, how many of each, and what was not."""

    traces: Path | None
    cases: Path | None
    tools: Path | None
    trace_count: int
    case_count: int
    errors: tuple[str, ...]


def convert(
    src: Path,
    out: Path,
    tools: Path | None = None,
    format: str | None = None,
    to: Literal["native", "openai"] = "native",
) -> Conversion:
    """Write `traces.jsonl`, and where `src` states them `cases.yaml` (many: `cases.jsonl`) and `tools.json`.

    Trace ids are made unique: a second `a` becomes `a~2`. What cannot be read is named in `errors` and left out.
    Files are replaced whole.

    Args:
        src: a file or directory that `read_traces` reads, or one that only states cases.
        out: the directory to write into; made where it is missing.
        tools: a tool file in any dialect, for sources that do not record their tools.
        format: name of the source's format; None tells it from the content.
        to: what the traces are written as: toolgrade's own lines, or OpenAI chat, which has no place for the
            final state, times and run errors.

    Raises:
        UnreadableError: `src` does not exist, or nothing in it can be read.
        ConfigError: the tool file or the format name is wrong, or `out` lies inside `src`.
    """
    if src.is_dir() and out.resolve().is_relative_to(src.resolve()):
        raise ConfigError(f"--out {out} lies inside {src}: what is written would be read again. Choose another place.")
    given = load_tools(tools) if tools is not None else None
    errors: list[str] = []
    cases: dict[str, Case] = {}
    offered: dict[str, ToolSpec] = {}
    reads = False
    for source, found in find_sources(src, format):
        if isinstance(found, str):
            continue  # `read_traces` reports it
        reads = reads or found.read is not None
        _add_cases(source, found, cases, errors)
        if given is None and found.tools is not None:
            _add_tools(source, found, offered, errors)
    out.mkdir(parents=True, exist_ok=True)
    trace_count, traces_file = 0, None
    if reads or not cases:
        with _replacing(out / "traces.jsonl") as file:
            for trace in _unique(src, format, errors):
                file.write(_WRITERS[to](trace))
                trace_count += 1
        traces_file = out / "traces.jsonl"
    if not trace_count and not cases:
        (out / "traces.jsonl").unlink()
        raise UnreadableError("\n".join(errors[:20]) or f"{src}: holds nothing to convert.")
    on_offer = given or offered
    tools_file = out / "tools.json" if on_offer else None
    if tools_file is not None:
        _write(tools_file, write_tools(on_offer.values()))
    cases_file = _write_cases(cases, src.name, out, tools_file) if cases else None
    return Conversion(traces_file, cases_file, tools_file, trace_count, len(cases), tuple(errors))


def _add_cases(source: Source, found: Format, cases: dict[str, Case], errors: list[str]) -> None:
    for record in found.cases(source) if found.cases is not None else ():
        case = record.case
        if case is None:
            errors.append(record.error or record.place)
        elif case.id not in cases:
            cases[case.id] = case
        elif cases[case.id].model_dump() != case.model_dump():
            first = cases[case.id].place
            errors.append(
                f"{record.place}: case {case.id!r}: found another case with this id than at {first}, "
                "expected each id once. Convert the files into separate directories."
            )


def _add_tools(source: Source, found: Format, offered: dict[str, ToolSpec], errors: list[str]) -> None:
    try:
        offered.update(found.tools(source) if found.tools is not None else {})
    except Malformed as error:
        errors.append(f"{source.name}: {error}")


def _unique(src: Path, format: str | None, errors: list[str]) -> Iterator[Trace]:
    seen: dict[str, int] = {}
    for record in read_traces(src, format):
        if record.trace is None:
            errors.append(record.error or record.origin.source)
            continue
        count = seen[record.trace.id] = seen.get(record.trace.id, 0) + 1
        yield record.trace if count == 1 else record.trace.model_copy(update={"id": f"{record.trace.id}~{count}"})


def _write_cases(cases: dict[str, Case], name: str, out: Path, tools: Path | None) -> Path:
    header: dict[str, Any] = {"suite": Path(name).stem} | ({} if tools is None else {"tools": tools.name})
    written = [case_fields(case) for case in cases.values()]
    few = len(written) <= MOST_IN_YAML
    kept, other = (out / "cases.yaml", out / "cases.jsonl")[:: 1 if few else -1]
    if few:
        head = f"# Converted from {name}. Edit freely; docs/cases.md explains every field.\n"
        _write(kept, head + write_yaml(header | {"cases": written}).replace("\n- id: ", "\n\n- id: "))
    else:
        _write(kept, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [header, *written]))
    other.unlink(missing_ok=True)  # of an earlier conversion; two suites side by side would contradict each other
    return kept


def case_fields(case: Case) -> dict[str, Any]:
    """Return what a person would write for a case: the fields that were set and hold something."""
    written = case.model_dump(mode="json", exclude_unset=True, exclude={"tools"})
    if case.tools:
        written["tools"] = [_tool_fields(tool) for tool in case.tools]
    return {key: value for key, value in written.items() if value not in (None, [], {})}


def _tool_fields(tool: ToolSpec) -> dict[str, Any]:
    fields = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return fields if tool.writes is None else fields | {"writes": tool.writes}


def _write(path: Path, text: str) -> None:
    with _replacing(path) as file:
        file.write(text.encode())


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` only once it is whole."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_traces(traces: Iterable[Trace], path: Path) -> int:
    """Write traces as toolgrade's own JSON Lines, replacing `path` whole; return how many."""
    count = 0
    with _replacing(path) as file:
        for trace in traces:
            file.write(write_trace(trace))
            count += 1
    return count

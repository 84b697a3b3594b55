"""Suites of cases, from YAML, JSON or JSON Lines: every mistake is named with its place, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from toolgrade.core.case import Case, Suite
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError, UnreadableError, suggestion
from toolgrade.formats.access import describe
from toolgrade.formats.record import Malformed
from toolgrade.formats.source import json_problem, parse_json
from toolgrade.formats.tools import load_tools, parse_tools
from toolgrade.formats.validation import join_path, problems
from toolgrade.formats.yaml_text import Located, read_yaml

_HEADER = ("suite", "tools", "defaults", "cases")
_DEFAULTS = ("aggregate",)
_SHOWN = 20


class _Written(NamedTuple):
    """One case as written; `at` is its path in the document, `located` knows the lines (JSON Lines: one)."""

    value: Any
    located: Located
    at: tuple[int | str, ...] = ()

    def place(self, source: str, path: tuple[int | str, ...] = ()) -> str:
        line = self.located.line((*self.at, *path))
        return f"{source}: {join_path(self.at)}" if line is None else f"{source}:{line}"


def load_suite(path: Path, tools: dict[str, ToolSpec] | None = None) -> Suite:
    """Return the suite in a file (`.yaml`, `.yml`, `.json`, or `.jsonl` with one case a line).

    Args:
        path: the file.
        tools: the tools on offer; None takes those of the suite's `tools` file (relative to the suite), if any.

    Raises:
        UnreadableError: the file cannot be read.
        ConfigError: names every mistake: file and line, case id, field, what was found and expected, and the
            nearest known name for a misspelt one.
    """
    header, written = _read(path)
    if written and (instead := _no_case(written[0].value)) is not None:
        raise ConfigError(f"{path}: {instead}")
    wrong = [f"{path}: {problem}" for problem in _header_problems(header)]
    given = header.get("defaults")
    defaults = {key: given[key] for key in _DEFAULTS if key in given} if isinstance(given, dict) else {}
    cases: dict[str, Case] = {}
    for item in written:
        case, found = _case(item, defaults, str(path))
        wrong += found
        if case is not None and case.id in cases:
            wrong.append(
                f"{case.place}: case {case.id!r}: found the id a second time (first at "
                f"{cases[case.id].place}), expected each id once. Rename or remove one of them."
            )
        elif case is not None:
            cases[case.id] = case
    if not cases and not wrong:
        wrong.append(f"{path}: found no case, expected `cases` with at least one.")
    if wrong:
        more = f"\n... and {len(wrong) - _SHOWN} more." if len(wrong) > _SHOWN else ""
        raise ConfigError("\n".join(wrong[:_SHOWN]) + more)
    if tools is None and header.get("tools"):
        tools = _tools_of(path, path.parent / header["tools"])
    return Suite(name=header.get("suite") or path.stem, cases=cases, tools=tools, source=str(path))


def _tools_of(path: Path, named: Path) -> dict[str, ToolSpec]:
    try:
        return load_tools(named)
    except UnreadableError as error:
        raise UnreadableError(f"{path}: tools: {error}") from error


def _no_case(value: Any) -> str | None:
    """Return what is given instead of cases, where the first of them shows it: files are easily mixed up."""
    if not isinstance(value, dict) or "expected" in value:
        return None
    if "function" in value or {"parameters", "input_schema", "inputSchema"} & value.keys():
        return "holds tools, expected cases. Give it with --tools."
    if "messages" in value or "traj" in value or {"role", "content"} <= value.keys():
        return "holds traces, expected cases. Give it as TRACES; `toolgrade draft` makes cases of good ones."
    return None


def _read(path: Path) -> tuple[dict[str, Any], list[_Written]]:
    try:
        raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror or error}.") from error
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: found bytes that are no UTF-8, expected UTF-8 text. Save it so.") from error
    if path.suffix in (".jsonl", ".ndjson"):
        return _from_lines(text, path)
    located = _json(text, f"{path}") if path.suffix == ".json" else read_yaml(text, str(path))
    return _from_document(located, path)


def _from_document(located: Located, path: Path) -> tuple[dict[str, Any], list[_Written]]:
    value = located.value
    at: tuple[int | str, ...] = ()
    if isinstance(value, list):
        value = {"cases": value}
    elif isinstance(value, dict):
        at = ("cases",)
    else:
        raise ConfigError(f"{path}: found {describe(value)}, expected a mapping with `cases`.")
    cases = value.get("cases")
    if not isinstance(cases, list):
        near = suggestion("cases", value)
        raise ConfigError(f"{path}: cases: found {describe(cases)}, expected a list of cases.{near}")
    return value, [_Written(item, located, (*at, number)) for number, item in enumerate(cases)]


def _from_lines(text: str, path: Path) -> tuple[dict[str, Any], list[_Written]]:
    """Read JSON Lines; a first line without `id` that has `suite`, `tools` or `defaults` is the header."""
    header: dict[str, Any] = {}
    written: list[_Written] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        located = _json(line, f"{path}:{number}")._replace(lines={(): number})
        value = located.value
        if not written and not header and isinstance(value, dict) and "id" not in value and set(value) & set(_HEADER):
            header = value
        else:
            written.append(_Written(value, located))
    return header, written


def _json(text: str, place: str) -> Located:
    try:
        return Located(parse_json(text), {})
    except ValueError as error:
        raise ConfigError(f"{place}: {json_problem(error)}") from error


def _header_problems(header: dict[str, Any]) -> Iterator[str]:
    for key in header:
        if key not in _HEADER:
            yield f"{key}: unknown field.{_near(key, _HEADER)}"
    for key, kind, expected in (("suite", str, "text"), ("tools", str, "the path of a tool file")):
        if key in header and not isinstance(header[key], kind):
            yield f"{key}: found {describe(header[key])}, expected {expected}."
    defaults = header.get("defaults", {})
    if not isinstance(defaults, dict):
        yield f"defaults: found {describe(defaults)}, expected a mapping."
        return
    for key in defaults:
        if key not in _DEFAULTS:
            yield f"defaults.{key}: unknown field.{_near(key, _DEFAULTS)}"


def _near(word: str, known: tuple[str, ...]) -> str:
    return suggestion(word, known) or f" Known here: {', '.join(known)}."


def _case(item: _Written, defaults: dict[str, Any], source: str) -> tuple[Case | None, list[str]]:
    value = item.value
    if not isinstance(value, dict):
        return None, [f"{item.place(source)}: found {describe(value)}, expected a case (a mapping with `id`)."]
    who = f"case {value['id']!r}" if "id" in value else "case without id"
    empty = list(_empty(value))
    if empty:
        return None, [f"{item.place(source, path)}: {who}: {problem}" for path, problem in empty]
    if "place" in value:
        return None, [f"{item.place(source, ('place',))}: {who}: place: unknown field. It is set while reading."]
    try:
        fields = {**defaults, **value, "place": item.place(source)}
        if value.get("tools") is not None:
            fields["tools"] = tuple(parse_tools(value["tools"], "tools").values())
        return Case.model_validate(fields), []
    except Malformed as error:
        return None, [f"{item.place(source, ('tools',))}: {who}: {error}"]
    except ValidationError as error:
        return None, [f"{item.place(source, loc)}: {who}: {text}" for loc, text in problems(error, Case)]


def _empty(case: dict[str, Any]) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Find fields below `expected` that are written and hold nothing: they look like expectations and are none."""
    expected = case.get("expected", {})
    if expected is None:
        yield ("expected",), "expected: is declared but empty; state an expectation or remove the field."
    for check, field in expected.items() if isinstance(expected, dict) else ():
        if field is None:
            yield ("expected", check), f"expected.{check}: is declared but empty; state an expectation or remove it."
        elif isinstance(field, dict):
            for key, value in field.items():
                if value is None:
                    path = ("expected", check, key)
                    yield (
                        path,
                        f"expected.{check}.{key}: found null, expected a value. Remove the field to leave it open.",
                    )

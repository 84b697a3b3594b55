"""Structure in text payloads: tables with separators, and lines of `name: value`."""

from __future__ import annotations

import csv
import re
from typing import Any

_LINE = re.compile(r"\s*[#*-]*\s*\**([^\W\d][\w .()/-]{0,40}?)\**\s*[:=]\s+(\S.*?)\s*")
_LONG = 400


def structured(text: str) -> Any:
    """Return what a text payload holds as JSON values: the rows of a table, named lines, or the text itself.

    A table is a header and at least two rows with as many cells (comma, tab, semicolon or bar), after lines
    that begin with `#`. Pointers into it count rows from 0 under `/rows`; named lines are under their name.
    """
    if "\n" not in text.strip():
        return text
    lines = text.strip().splitlines()
    table = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    rows = _rows(table)
    named = _named([line for line in lines if line.lstrip().startswith("#")] if rows else lines)
    if rows:
        return {**named, "rows": rows}
    return {**named, "text": text} if len(named) > 1 else text


def _rows(lines: list[str]) -> list[dict[str, str]]:
    if len(lines) < 3:
        return []
    for mark in ",\t;|":
        width = lines[0].count(mark)
        if width and all(line.count(mark) == width for line in lines[1:4]):
            break
    else:
        return []
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]
    except csv.Error:
        return []
    cells = [row for row in cells if not all(set(cell) <= set("-: ") for cell in row)]
    head, body = cells[0], [row for row in cells[1:] if len(row) == len(cells[0])]
    if len(body) < 2 or len(set(head)) < len(head) or any(_is_number(cell) for cell in head):
        return []
    if len(body) < 0.9 * len(cells[1:]) or any(len(cell) > 60 for cell in head):
        return []
    return [{name: cell for name, cell in zip(head, row, strict=True) if name} for row in body]


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d[\d.,]*", cell))


def _named(lines: list[str]) -> dict[str, str]:
    """Return lines of `name: value`; a name that comes twice is left out, because it names no one thing."""
    out: dict[str, str] = {}
    twice: set[str] = set()
    for line in lines:
        found = _LINE.fullmatch(line) if len(line) < _LONG else None
        if found is None:
            continue
        name = found[1].strip()
        if name in out or name in twice:
            twice.add(name)
            out.pop(name, None)
        else:
            out[name] = found[2]
    return out

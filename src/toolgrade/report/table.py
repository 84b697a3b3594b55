"""The findings of a run as CSV, one row a finding, for a notebook."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Any, TextIO

from toolgrade.core.result import TraceResult

COLUMNS = (
    "trace",
    "case",
    "trial",
    "check",
    "status",
    "basis",
    "score",
    "finding",
    "step",
    "turn",
    "tool",
    "pointer",
    "expected",
    "actual",
    "note",
    "reason",
)


def write_table(out: TextIO, results: Iterable[TraceResult]) -> None:
    """Write one row a finding, and one row a check without any, so that every status of every trace is there.

    `expected` and `actual` are JSON. A text that a spreadsheet would take for a formula gets an apostrophe.
    """
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    for result in results:
        for check in result.checks.values():
            head = [result.trace_id, result.case_id, result.trial, check.check, check.status, check.basis, check.score]
            for finding in check.findings:
                place = finding.place
                where = [finding.name, place.step, place.turn, place.tool, place.pointer]
                told = [_json(finding.expected), _json(finding.actual), finding.note, check.reason]
                rows.writerow([_cell(value) for value in (*head, *where, *told)])
            if not check.findings:
                rows.writerow([_cell(value) for value in (*head, *[None] * 8, check.reason)])


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value

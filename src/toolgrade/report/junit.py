"""JUnit XML: one test case per trace and check, so that CI systems show the names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO
from xml.etree.ElementTree import Element, SubElement, tostring

from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import CheckResult
from toolgrade.pipeline.summary import Summary

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold (https://www.w3.org/TR/xml/#charsets)."""


def write_junit(out: TextIO, summary: Summary, results: Iterable[TraceResult]) -> None:
    """Write the run as JUnit XML.

    A failed check is a `failure`, a `judge_error` or `trace_error` an `error`; `blocked`, `unknown` and
    `not_applicable` are `skipped` with their status as message, and so is a tentative failure: no status is left out.
    """
    counts = " ".join(f'{name}="{count}"' for name, count in _totals(summary).items())
    out.write('<?xml version="1.0" encoding="utf-8"?>\n')
    out.write(f'<testsuites name="toolgrade" {counts}>\n<testsuite name="toolgrade" {counts}>\n')
    for result in results:
        for checked in result.checks.values():
            out.write(tostring(_case(result, checked), encoding="unicode") + "\n")
    out.write("</testsuite>\n</testsuites>\n")


def _totals(summary: Summary) -> dict[str, int]:
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for check in summary.checks.values():
        for by_status in check.statuses.values():
            for status, count in by_status.items():
                totals["tests"] += count
                kind = _KIND[status]
                if kind is not None:
                    totals[_TOTAL[kind]] += count
    tentative = sum(part.tentative for part in summary.judging.dimensions.values()) if summary.judging else 0
    return {**totals, "failures": totals["failures"] - tentative, "skipped": totals["skipped"] + tentative}


_KIND = {
    "passed": None,
    "failed": "failure",
    "judge_error": "error",
    "trace_error": "error",
    "blocked": "skipped",
    "unknown": "skipped",
    "not_applicable": "skipped",
}
_TOTAL = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def _case(result: TraceResult, checked: CheckResult) -> Element:
    case = Element("testcase", classname=clean(f"toolgrade.{result.case_id or result.trace_id}"))
    case.set("name", clean(f"{result.trace_id} {checked.check}"))
    file, _, line = (result.case_place or "").rpartition(":")
    if file:
        case.set("file", clean(file))
        case.set("line", line)
    kind = "skipped" if checked.tentative else _KIND[checked.status]
    if kind is not None:
        findings = [str(finding) for finding in checked.findings]
        message = findings[0] if kind == "failure" and findings else f"{checked.status}: {checked.reason or ''}"
        told = SubElement(case, kind, message=clean(message), type=checked.status)
        told.text = clean("\n".join(f"{finding}\n  {finding.advice}" for finding in checked.findings))
    return case


def clean(text: str) -> str:
    """Return the text with what XML cannot hold made visible as U+FFFD."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)

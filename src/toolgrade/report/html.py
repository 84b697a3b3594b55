"""The HTML report: one self-contained file, a pure function of the run directory."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolgrade.core.finding import ADVICE, CHECKS
from toolgrade.core.printable import printable
from toolgrade.core.tool import ToolSpec
from toolgrade.core.verdict import STATUSES
from toolgrade.pipeline.compare import Comparison, compare_runs
from toolgrade.pipeline.judging.tally import DimensionSummary
from toolgrade.pipeline.rundir import RUN, read_cases, read_graded, read_json, read_run, read_tools
from toolgrade.pipeline.summary import CheckSummary, Consistency, Summary
from toolgrade.pipeline.thresholds import ThresholdResult
from toolgrade.pipeline.triage import read_decisions, upheld
from toolgrade.report.charts import agreement_chart, confusion_chart, consistency_chart, rates_chart
from toolgrade.report.console import classified_lines, interval_text, whole_undecided
from toolgrade.report.difference import judged_line
from toolgrade.report.judging import judging_lines
from toolgrade.report.page import collect
from toolgrade.report.similar import most_swapped


def html_report(run: Path, base: Path | None = None) -> str:
    """Return the page of a finished run, with each check's change against the run `base` where one is given.

    Raises:
        UnreadableError: a directory holds no finished run.
        ConfigError: the two runs share no case and trial.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("toolgrade.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    summary, thresholds = read_run(run)
    comparison = compare_runs(base, run) if base is not None else None
    page = collect(read_graded(run))
    script = _asset(environment, "report.js")
    context = {
        "about": read_json(run / RUN),
        "summary": summary,
        "thresholds": thresholds,
        "checks": _checks(summary, thresholds, comparison),
        "only_base": comparison.only_base if comparison is not None else (),
        "base": str(base) if base is not None else None,
        "statuses": STATUSES,
        "advice": ADVICE,
        "charts": _charts(summary, thresholds),
        "swaps": most_swapped(summary.confusion, _tools(run)) if summary.confusion is not None else [],
        "fields": _fields(summary),
        "classified": classified_lines(summary),
        "whole_undecided": whole_undecided(summary),
        "page": page,
        "stages": page.sections.stages(),
        "consistency": _consistency(summary),
        "calibrations": _calibrations(summary),
        "said": [printable(line) for line in _said(summary, comparison)],
        "upheld": upheld(read_decisions(run)),
        "data": _script_json({"rows": page.rows, "transcripts": page.transcripts, "checks": list(CHECKS)}),
        "style": _asset(environment, "report.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    return environment.get_template("report.html.j2").render(context)


def _said(summary: Summary, comparison: Comparison | None) -> list[str]:
    """Return what the judges said of the run, and how far that moved against the base."""
    moved = comparison.judged if comparison is not None else ()
    lines = judging_lines(summary.judging) if summary.judging is not None else []
    return [*lines, *(f"against the base: {judged_line(one, 0.0)}" for one in moved)]


def _asset(environment: Any, name: str) -> str:
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _script_json(value: Any) -> str:
    """Return JSON that cannot end the script element that holds it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _checks(
    summary: Summary, thresholds: Sequence[ThresholdResult], comparison: Comparison | None
) -> list[dict[str, Any]]:
    asked = {result.name: result for result in thresholds}
    rows: list[dict[str, Any]] = []
    for check in summary.checks.values():
        rates = [(basis, rate, interval_text(rate), _statuses(check, basis)) for basis, rate in check.rates.items()]
        rows.append(
            {
                "check": check,
                "rates": rates or [(None, None, "", _statuses(check, None))],
                "threshold": asked.get(check.check),
                "change": comparison.checks.get(check.check) if comparison is not None else None,
            }
        )
    return rows


def _statuses(check: CheckSummary, basis: str | None) -> list[tuple[str, int]]:
    """Return every status that occurs with its count; those without a basis stand with the check's main one."""
    counts = Counter(check.statuses.get(basis, {}) if basis else {})
    if basis == check.basis:
        counts.update(check.statuses.get("none", {}))
    return [(status, counts[status]) for status in STATUSES if counts[status]]


def _consistency(summary: Summary) -> list[tuple[str | None, str, Sequence[Consistency]]]:
    """Return pass^k of each check over all cases (tag None), then over the cases of each tag."""
    rows: list[tuple[str | None, str, Sequence[Consistency]]] = []
    rows += [(None, check.check, check.consistency) for check in summary.checks.values() if check.consistency]
    for tag, by_check in summary.tag_consistency.items():
        rows += [(tag, check, points) for check, points in by_check.items()]
    return rows


def _calibrations(summary: Summary) -> list[tuple[str, DimensionSummary, str | None]]:
    """Return each judged dimension with the chart of its judge's agreement over time."""
    judged = summary.judging.dimensions if summary.judging is not None else {}
    return [(name, said, agreement_chart(said.calibrations, said.judge_id)) for name, said in judged.items()]


def _charts(summary: Summary, thresholds: Sequence[ThresholdResult]) -> dict[str, str | None]:
    curves = [(str(check.check), check.consistency) for check in summary.checks.values()]
    curves.append(("whole traces", summary.aggregate_consistency))
    return {
        "rates": rates_chart(list(summary.checks.values()), thresholds),
        "confusion": confusion_chart(summary.confusion) if summary.confusion is not None else None,
        "consistency": consistency_chart(curves),
    }


def _tools(run: Path) -> Mapping[str, ToolSpec]:
    """Return the tools on offer: the run's, and those that single cases name."""
    found = read_tools(run)
    for case in read_cases(run).values():
        found |= {tool.name: tool for tool in case.tools or ()}
    return found


def _fields(summary: Summary) -> tuple[list[str], list[tuple[str, dict[str, int]]]]:
    """Return the columns, and the argument fields with the most wrong outcomes first."""
    order = ["matched", "wrong", *[name for name, advice in ADVICE.items() if advice.check == "arguments"]]
    seen = {name for outcomes in summary.field_outcomes.values() for name in outcomes}
    columns = [name for name in order if name in seen] + sorted(seen - set(order))
    wrong = {place: sum(n for k, n in by.items() if k != "matched") for place, by in summary.field_outcomes.items()}
    rows = sorted(summary.field_outcomes.items(), key=lambda item: (-wrong[item[0]], item[0]))
    return columns, rows[:60]

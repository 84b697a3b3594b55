"""Markdown for a pull-request comment or a job summary."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from toolgrade.core.finding import ADVICE, brief
from toolgrade.core.printable import printable
from toolgrade.pipeline.summary import Summary
from toolgrade.pipeline.thresholds import ThresholdResult
from toolgrade.report.console import classified_lines, coverage_lines, interval_text, tag_table, undecided_text
from toolgrade.report.judging import judging_lines

MARKS = {"met": "met", "missed": "**missed**", "undecided": "**undecided**"}


def markdown(summary: Summary, thresholds: Sequence[ThresholdResult]) -> str:
    """Return the run as Markdown: thresholds, the checks, what cost most, what is open."""
    lines = ["## toolgrade", "", *_verdict(thresholds), ""]
    lines.append(f"{summary.traces} traces of {summary.cases} cases" + _unreadable(summary))
    if summary.cases_without_traces:
        lines += ["", f"**Without any trace**: {plain(', '.join(summary.cases_without_traces))}"]
    lines += ["", "| check | basis | passed / decided / applicable | rate | 95 % interval | no verdict | threshold |"]
    lines.append("|---|---|---|---|---|---|---|")
    asked = {threshold.name: threshold for threshold in thresholds}
    for check in summary.checks.values():
        for basis, rate in check.rates.items():
            threshold = asked.get(check.check) if basis == check.basis else None
            cells = (
                check.check,
                basis,
                f"{rate.passed} / {rate.decided} / {rate.applicable}",
                "–" if rate.value is None else f"{rate.value:.2f}",
                interval_text(rate),
                undecided_text(check, basis),
                f"{threshold.threshold:g} {MARKS[threshold.outcome]}" if threshold is not None else "",
            )
            lines.append("| " + " | ".join(cells) + " |")
        if not check.rates:
            lines.append(f"| {check.check} | | applies to no trace | – | | {undecided_text(check, 'none')} | |")
    lines += ["", *_costliest(summary), *_more(summary), *_open(summary)]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(thresholds: Sequence[ThresholdResult]) -> list[str]:
    if not thresholds:
        return ["**NO THRESHOLDS SET**: nothing can fail."]
    return [f"- {MARKS[threshold.outcome]} {plain(threshold.message)}" for threshold in thresholds]


def _unreadable(summary: Summary) -> str:
    if not summary.unreadable:
        return ""
    told = "".join(f"\n- {plain(brief(message, 300))}" for message in summary.first_errors)
    return f"; **{summary.unreadable} could not be read**:\n{told}"


def _costliest(summary: Summary) -> list[str]:
    costliest = summary.costliest()
    if not costliest:
        return []
    lines = ["### What cost most", ""]
    for finding in costliest:
        advice = ADVICE[finding.name]
        lines.append(f"- **{finding.name}** ({advice.check}) in {finding.traces} traces. {plain(advice.edit)}")
        lines.append(f"  <br>`{code(finding.example)}`: {plain(brief(finding.example_text, 240))}")
    return [*lines, ""]


def _more(summary: Summary) -> list[str]:
    """Return what is asked for less often: precision and recall, consistency by tag, coverage."""
    lines = [f"- {line}" for line in classified_lines(summary)]
    checks, rows = tag_table(summary)
    if rows:
        lines += [
            "",
            f"| pass^1→pass^k by tag (cases with k/all) | {' | '.join(checks)} |",
            "|---" * (len(checks) + 1) + "|",
        ]
        lines += [f"| {' | '.join([plain(tag), *cells])} |" for tag, *cells in rows]
    if summary.coverage is not None:
        lines += ["", *(f"- {name}: {plain(told)}" for name, told in coverage_lines(summary.coverage))]
    return (
        [
            "<details><summary>Precision, recall, consistency by tag, coverage</summary>",
            "",
            *lines,
            "",
            "</details>",
            "",
        ]
        if lines
        else []
    )


def _open(summary: Summary) -> list[str]:
    questions = summary.questions
    if not questions.open:
        return []
    by = ", ".join(f"{count} {dimension}" for dimension, count in questions.by_dimension.items())
    settled = f"Gates settled {questions.units - questions.open} of {questions.units} units; open for judges: {by}."
    said = judging_lines(summary.judging) if summary.judging is not None else []
    return [settled, *(["", *(f"- {plain(line)}" for line in said)] if said else [])]


def plain(text: str) -> str:
    """Return text that Markdown and HTML show as it is: nothing recorded can become markup, link or mention."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|~^-])", r"\\\1", html.escape(" ".join(printable(text).split()), quote=False))
    return re.sub(r"@(?=\w)", "@\N{ZERO WIDTH SPACE}", escaped).replace("://", ":\N{ZERO WIDTH SPACE}//")


def code(text: str) -> str:
    """Return text for a code span: without the backticks and line breaks that would end it."""
    return " ".join(printable(text).replace("`", "'").split())

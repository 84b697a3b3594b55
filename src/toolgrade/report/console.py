"""A run in the terminal: what cost most first, then each check, then what is open."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table
from rich.text import Text

from toolgrade.core.finding import ADVICE, brief
from toolgrade.core.printable import printable
from toolgrade.pipeline.coverage import Coverage
from toolgrade.pipeline.summary import CheckSummary, Consistency, Summary
from toolgrade.pipeline.thresholds import ThresholdResult
from toolgrade.report.judging import print_judging
from toolgrade.stats.rates import Rate

NO_VERDICT = "no verdict"
STYLES = {"met": "green", "missed": "bold red", "undecided": "bold yellow"}


def print_run(console: Console, summary: Summary, thresholds: Sequence[ThresholdResult], folder: str) -> None:
    """Print the report of a run: the costliest findings, the checks, consistency, coverage, what is open."""
    _head(console, summary)
    statuses = {
        status for check in summary.checks.values() for by_status in check.statuses.values() for status in by_status
    }
    if statuses != {"trace_error"}:
        _costliest(console, summary, folder)
        _checks(console, summary, thresholds)
        _whole(console, summary)
        _by_tag(console, summary)
        _coverage(console, summary)
        print_judging(console, summary)
    else:
        console.print("\nNothing was graded, so no check has a result.", style="bold red", highlight=False)
    _thresholds(console, thresholds)
    console.print(f"\nRun directory: [bold]{escape(folder)}[/]", highlight=False)


def escape(text: str) -> str:
    """Return recorded text for a console: no markup, no control characters."""
    return escape_markup(printable(text))


def _head(console: Console, summary: Summary) -> None:
    of_cases = f" of {len_word(summary.cases, 'case')}" if summary.cases else ", no cases: only intrinsic rules ran"
    console.print(f"[bold]{len_word(summary.traces, 'trace')}[/]{of_cases}", highlight=False)
    if summary.unreadable:
        console.print(f"[bold red]{len_word(summary.unreadable, 'trace')} could not be read:[/]", highlight=False)
        for message in summary.first_errors:
            console.print(f"  {escape(message)}", highlight=False, soft_wrap=True)
        if summary.unreadable > len(summary.first_errors):
            console.print(f"  … and {summary.unreadable - len(summary.first_errors)} more", highlight=False)
    if summary.cases_without_traces:
        names = ", ".join(summary.cases_without_traces[:5])
        more = "" if len(summary.cases_without_traces) <= 5 else ", …"
        count = len_word(len(summary.cases_without_traces), "case")
        told = f"{count} without any trace: {escape(names)}{more}"
        console.print(f"[bold red]{told}[/] (--select grades a part)", highlight=False, soft_wrap=True)


def _costliest(console: Console, summary: Summary, folder: str) -> None:
    costliest = summary.costliest()
    if not costliest:
        return
    console.print("\n[bold]What cost most[/]")
    for rank, finding in enumerate(costliest, 1):
        advice = ADVICE[finding.name]
        head = f"[bold red]{finding.name}[/] in {len_word(finding.traces, 'trace')} ({advice.check})"
        console.print(f"{rank}. {head}: {escape(advice.meaning)}", highlight=False, soft_wrap=True)
        console.print(f"   Edit: {escape(advice.edit)}", highlight=False, soft_wrap=True)
        console.print(f"   Such as {escape(brief(finding.example_text, 200))}", highlight=False, soft_wrap=True)
        command = f"toolgrade show {folder} {finding.example}"
        console.print(f"   See it: [cyan]{escape(command)}[/]", highlight=False, soft_wrap=True)


def _checks(console: Console, summary: Summary, thresholds: Sequence[ThresholdResult]) -> None:
    asked = {result.name: result for result in thresholds}
    rows: list[tuple[str | Text, ...]] = []
    for check in summary.checks.values():
        for basis, rate in check.rates.items():
            threshold = asked.get(check.check) if basis == check.basis else None
            rows.append(
                (
                    check.check if basis == check.basis else "",
                    basis,
                    f"{rate.passed} / {rate.decided} / {rate.applicable}",
                    "–" if rate.value is None else f"{rate.value:.2f}",
                    interval_text(rate),
                    undecided_text(check, basis),
                    Text(f"{threshold.threshold:g} {threshold.outcome}", STYLES[threshold.outcome])
                    if threshold
                    else "",
                )
            )
        if not check.rates:
            count = sum(check.statuses.get("none", {}).values())
            rows.append((check.check, "", f"applies to none of {count}", "–", "", undecided_text(check, "none"), ""))
    names = ("Check", "basis", "passed / decided / applicable", "rate", "95 % interval", NO_VERDICT, "threshold")
    _print_table(console, names, rows)


def _print_table(console: Console, names: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Print a table; where it would be cut off, one line a row."""
    console.print()
    if not _fits(console.width, names, rows):
        console.print(Text(f"{names[0]}: {' · '.join(names[1:])}", "bold"), soft_wrap=True)
        for head, *cells in rows:
            told = Text(" · ").join(Text.assemble(cell) for cell in cells if str(cell))
            console.print(Text(f"{str(head) or '  also'}: ").append_text(told), soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(
            name, justify="right" if name.startswith(("passed", "rate")) else "left", no_wrap=name != NO_VERDICT
        )
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    console.print(table)


def _fits(width: int, names: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> bool:
    """Whether a table of these columns can be printed; only `NO_VERDICT` may be wrapped, between its words."""
    needed = 0
    for name, *cells in zip(names, *rows, strict=True):
        texts = [
            name,
            *(word for cell in cells for word in (str(cell).split() if name == NO_VERDICT else [str(cell)])),
        ]
        needed += max(map(len, texts), default=0) + 2
    return needed <= width + 2


def interval_text(rate: Rate) -> str:
    """Return the interval of a rate: by cases where trials of one case were seen together, else Wilson's."""
    interval = rate.clustered or rate.interval
    if interval is None:
        return ""
    return f"{interval.low:.2f}–{interval.high:.2f}" + (f" ({rate.clusters} cases)" if rate.clustered else "")


def undecided_text(check: CheckSummary, basis: str) -> str:
    """Return the statuses that are neither passed nor failed, with their counts.

    Traces to which the check does not apply have no basis; they are told on the row of the check's main basis.
    """
    statuses = dict(check.statuses.get(basis, {}))
    if basis == check.basis:
        for status, count in check.statuses.get("none", {}).items():
            statuses[status] = statuses.get(status, 0) + count
    return ", ".join(f"{n} {status}" for status, n in statuses.items() if status not in ("passed", "failed"))


def whole_undecided(summary: Summary) -> list[str]:
    """Return how many traces have no verdict on the whole, by status, and which checks leave it open."""
    told = {status: f"{n} {status}" for status, n in summary.aggregate.items() if status not in ("passed", "failed")}
    if summary.aggregate_undecided:
        told["unknown"] += f" (open: {', '.join(f'{n} {check}' for check, n in summary.aggregate_undecided.items())})"
    return list(told.values())


def _whole(console: Console, summary: Summary) -> None:
    rate = summary.aggregate_rate
    other = ", ".join(whole_undecided(summary))
    value = "undefined" if rate.value is None else f"{rate.value:.2f}"
    interval = f" {interval_text(rate)}" if interval_text(rate) else ""
    console.print(
        f"\n[bold]Whole traces[/] by each case's policy: {rate.passed} / {rate.decided} / {rate.applicable} = {value}"
        f"{interval}" + (f"; {other}" if other else ""),
        highlight=False,
        soft_wrap=True,
    )
    if summary.aggregate_consistency:
        console.print("  " + consistency_text(summary.aggregate_consistency), highlight=False, soft_wrap=True)
    convergence = summary.convergence
    if convergence.value is not None:
        beside = "undefined" if convergence.completion is None else f"{convergence.completion:.2f}"
        console.print(
            f"  path convergence {convergence.value:.2f} (against the shortest run seen of {convergence.cases} cases) "
            f"beside completion {beside}",
            highlight=False,
            soft_wrap=True,
        )
    compounding = summary.compounding
    if compounding.estimate is not None and compounding.observed is not None:
        console.print(
            f"  checks multiplied {compounding.estimate:.2f} beside {compounding.observed:.2f} observed",
            highlight=False,
            soft_wrap=True,
        )
    for line in classified_lines(summary):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    sizes = [
        f"{s.mean:,.{0 if s.mean >= 100 else 1}f} {name.replace('latency_ms', 'ms')}"
        for name, s in summary.sizes.items()
        if s.mean is not None
    ]
    console.print(f"  a trace has on average {', '.join(sizes)}", highlight=False, soft_wrap=True)


def classified_lines(summary: Summary) -> list[str]:
    """Return one line each for calls and for argument fields: precision, recall and F1 with their counts."""
    lines = []
    for name, found in (("calls", summary.calls), ("argument fields", summary.fields)):
        if found is not None:
            shares = (("precision", found.precision), ("recall", found.recall), ("F1", found.f1))
            told = ", ".join(f"{word} {'–' if e.value is None else f'{e.value:.2f}'}" for word, e in shares)
            counts = f"{found.true_positives} right, {found.false_positives} too many, {found.false_negatives} missing"
            lines.append(f"{name}: {told} ({counts})")
    return lines


def tag_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the checks, and one row a tag: pass^1 → pass^k of each check, k being the most trials decided."""
    checks = [check for check in summary.checks if any(check in by for by in summary.tag_consistency.values())]
    rows = []
    for tag, by_check in summary.tag_consistency.items():
        rows.append([printable(tag), *(_first_and_last(by_check.get(check, ())) for check in checks)])
    return [str(check) for check in checks], rows


def _first_and_last(consistency: Sequence[Consistency]) -> str:
    known = [(c.k, c.pass_hat_k.value, c.pass_hat_k.n) for c in consistency if c.pass_hat_k.value is not None]
    if not known:
        return "–"
    (_, first, cases), (k, last, long_enough) = known[0], known[-1]
    part = f" ({long_enough}/{cases})" if long_enough < cases else ""
    return f"{first:.2f}→{last:.2f} k={k}{part}"


def _by_tag(console: Console, summary: Summary) -> None:
    checks, rows = tag_table(summary)
    if not rows:
        return
    _print_table(console, ("pass^1→pass^k by tag (cases with k/all)", *checks), rows)


def consistency_text(consistency: Sequence[Consistency]) -> str:
    """Return `pass^1..k` and `pass@1..k` in one line, with the numbers of cases where not all have k decided trials."""
    hat = [f"{c.pass_hat_k.value:.2f}" for c in consistency if c.pass_hat_k.value is not None]
    at = [f"{c.pass_at_k.value:.2f}" for c in consistency if c.pass_at_k.value is not None]
    cases = [c.pass_hat_k.n for c in consistency if c.pass_hat_k.value is not None]
    over = f"   (over {', '.join(map(str, cases))} cases with so many trials decided)" if len(set(cases)) > 1 else ""
    return f"pass^1..{len(hat)} {' '.join(hat)}   pass@1..{len(at)} {' '.join(at)}{over}"


def _coverage(console: Console, summary: Summary) -> None:
    if summary.coverage is None:
        return
    console.print(f"\n[bold]Coverage[/] of {len_word(summary.coverage.cases, 'case')}", highlight=False)
    for name, told in coverage_lines(summary.coverage):
        style = "yellow" if name == "empty" else "none"
        console.print(f"  [{style}]{name}:[/] {escape(told)}", highlight=False, soft_wrap=True)


def coverage_lines(covered: Coverage) -> list[tuple[str, str]]:
    """Return each family of buckets with those that some case falls into, and last the empty ones."""
    families = (
        ("tags", covered.tags),
        ("tools", covered.tools),
        ("argument values", covered.arguments),
        ("errors", covered.errors),
    )
    lines = []
    for name, buckets in families:
        filled = ", ".join(f"{bucket} {count}" for bucket, count in buckets.items() if count)
        lines.append((name, filled or "none"))
    return [*lines, ("empty", ", ".join(covered.empty))] if covered.empty else lines


def _thresholds(console: Console, thresholds: Sequence[ThresholdResult]) -> None:
    console.print()
    if not thresholds:
        console.print(
            "[bold yellow]NO THRESHOLDS SET[/]: nothing can fail. Set them with --fail-under CHECK=RATE.",
            highlight=False,
        )
        return
    for result in thresholds:
        mark = {"met": "met", "missed": "MISSED", "undecided": "UNDECIDED"}[result.outcome]
        console.print(Text(f"{mark} {result.message}", STYLES[result.outcome]), soft_wrap=True)


def len_word(count: int, word: str) -> str:
    """Return the count with its noun: `1 trace`, `2 traces`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"

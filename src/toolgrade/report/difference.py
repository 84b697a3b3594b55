"""The comparison of two runs in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolgrade.core.printable import printable
from toolgrade.pipeline.compare import CheckComparison, Comparison, Movement
from toolgrade.pipeline.judging.difference import JudgedDifference
from toolgrade.stats.estimate import Estimate

MOST = 12
ESTIMATORS = {"shared_recalls": "recalls shared by both runs", "ppi_plus_plus": "PPI++ on labelled pairs"}


def print_comparison(console: Console, comparison: Comparison, tolerance: float) -> None:
    """Print per check what was fixed and what regressed, then which findings, tools, fields and stages moved."""
    console.print(f"{comparison.paired} traces paired by case and trial")
    for names, where in ((comparison.only_base, "base"), (comparison.only_candidate, "candidate")):
        if names:
            console.print(Text(f"{len(names)} only in the {where}: {_some(names)}", "yellow"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("Check", "pass in both", "fixed", "regressed", "fail in both", "difference", "95 % interval", "mid-p"):
        table.add_column(name, justify="left" if name == "Check" else "right", no_wrap=True)
    for check in comparison.checks.values():
        table.add_row(*_row(check, tolerance))
    console.print(table)
    for check in comparison.checks.values():
        _notes(console, check)
    for one in comparison.judged:
        style = "bold red" if one.dropped(tolerance) else ""
        console.print(Text(printable(judged_line(one, tolerance)), style), soft_wrap=True)
    if comparison.movements:
        _movements(console, comparison.movements)
    _verdict(console, comparison, tolerance)


def _verdict(console: Console, comparison: Comparison, tolerance: float) -> None:
    """Say last what the exit code is for."""
    allowed = f" by more than {tolerance:g}" if tolerance else ""
    fell, lost = comparison.fell(tolerance), comparison.lost(tolerance)
    console.print()
    if fell:
        console.print(Text(f"FELL{allowed}: {', '.join(fell)}", "bold red"), soft_wrap=True)
    if lost:
        console.print(Text(f"NOT DECIDED any more{allowed}: {', '.join(lost)}", "bold yellow"), soft_wrap=True)
    if not fell and not lost:
        console.print(f"Nothing fell{allowed}.", style="green")


def _notes(console: Console, check: CheckComparison) -> None:
    """Name what is undecided, and where the check regressed or lost its decision."""
    for pair, count in check.undecided.items():
        console.print(Text(f"{check.check}: {count} undecided ({pair})", "yellow"), soft_wrap=True)
    if check.check == "aggregate":
        return
    if check.regressed_traces:
        console.print(Text(f"{check.check} regressed in {_some(check.regressed_traces)}", "red"), soft_wrap=True)
    if check.lost:
        told = f"{check.check} decided in the base only: {_some(check.lost)}"
        console.print(Text(told, "bold yellow"), soft_wrap=True)


def judged_line(one: JudgedDifference, tolerance: float) -> str:
    """Say how far a judged rate moved: as judged, corrected, by people alone, and whether it dropped."""
    counts = "" if one.trust == "trusted" else ", decides nothing"
    head = f"{one.dimension} by {one.model} ({one.trust}{counts})"
    moved = one.difference
    if moved is None:
        return f"{head}: not compared, {one.why}"
    told = f"{head}, {moved.traces} traces judged in both: judged {_signed(moved.raw)}"
    if moved.people.value is not None:
        told += f", by people alone {_signed(moved.people)} ({moved.labelled} traces labelled in both)"
    if one.why is not None or moved.corrected.value is None:
        return f"{told}, UNCORRECTED: {one.why or moved.corrected.reason}"
    drop = f"a drop{f' by more than {tolerance:g}' if tolerance else ''} is {moved.drop(tolerance)}"
    return f"{told}, corrected {_signed(moved.corrected)} ({ESTIMATORS[moved.estimator or '']}): {drop}"


def _signed(found: Estimate) -> str:
    interval = "" if found.interval is None else f" [{found.interval.low:+.3f}, {found.interval.high:+.3f}]"
    return f"{found.value:+.3f}{interval}"


def _movements(console: Console, movements: Sequence[Movement]) -> None:
    console.print("\n[bold]What moved[/] (traces in base → candidate)")
    for move in movements[:MOST]:
        style = "red" if move.candidate > move.base else "green"
        told = printable(f"  {move.kind:<8} {move.name}: {move.base} → {move.candidate}")
        console.print(Text(told, style), soft_wrap=True)
    if len(movements) > MOST:
        console.print(f"  … and {len(movements) - MOST} more (--json has them all)")


def _some(names: Sequence[str]) -> str:
    return printable(", ".join(names[:5]) + (", …" if len(names) > 5 else ""))


def _row(check: CheckComparison, tolerance: float) -> list[Text]:
    value, interval = check.difference.value, check.difference.interval
    style = "bold red" if check.beyond(tolerance) else ""
    cells = [
        check.check if check.check != "aggregate" else "whole traces",
        str(check.both_passed),
        str(check.fixed),
        str(check.regressed),
        str(check.both_failed),
        "–" if value is None else f"{value:+.3f}",
        "" if interval is None else f"{interval.low:+.2f} … {interval.high:+.2f}",
        "" if check.p is None else f"{check.p:.3f}",
    ]
    return [Text(cell, style) for cell in cells]

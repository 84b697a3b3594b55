"""The comparison of two runs in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolgrade.pipeline.compare import CheckComparison, Comparison

MOST = 12


def print_comparison(console: Console, comparison: Comparison, tolerance: float) -> None:
    """Print per check what was fixed and what regressed, then which findings, tools, fields and stages moved."""
    told = f"{comparison.paired} traces paired by case and trial"
    for count, where in ((len(comparison.only_base), "base"), (len(comparison.only_candidate), "candidate")):
        told += f", {count} only in the {where}" if count else ""
    console.print(told)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("Check", "pass in both", "fixed", "regressed", "fail in both", "difference", "95 % interval", "mid-p"):
        table.add_column(name, justify="left" if name == "Check" else "right", no_wrap=True)
    for check in comparison.checks.values():
        table.add_row(*_row(check, tolerance))
    console.print(table)
    for check in comparison.checks.values():
        for pair, count in check.undecided.items():
            console.print(Text(f"{check.check}: {count} undecided ({pair})", "yellow"), soft_wrap=True)
        if check.regressed_traces and check.check != "aggregate":
            names = ", ".join(check.regressed_traces[:5]) + (", …" if len(check.regressed_traces) > 5 else "")
            console.print(Text(f"{check.check} regressed in {names}", "red"), soft_wrap=True)
    if comparison.movements:
        console.print("\n[bold]What moved[/] (traces in base → candidate)")
        for move in comparison.movements[:MOST]:
            style = "red" if move.candidate > move.base else "green"
            console.print(Text(f"  {move.kind:<8} {move.name}: {move.base} → {move.candidate}", style), soft_wrap=True)
        if len(comparison.movements) > MOST:
            console.print(f"  … and {len(comparison.movements) - MOST} more (--json has them all)")


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

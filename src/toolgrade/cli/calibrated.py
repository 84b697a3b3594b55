"""How calibration runs, trust and drift are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from toolgrade.stats.estimate import Estimate
from toolgrade.stats.projection import project

if TYPE_CHECKING:
    from rich.console import Console

    from toolgrade.calibration.anchors import DriftReport
    from toolgrade.calibration.blocking import Blocking
    from toolgrade.calibration.compare import Comparison
    from toolgrade.calibration.measure import Measurement
    from toolgrade.calibration.run import CalibrationRun
    from toolgrade.calibration.trust import TrustReport
    from toolgrade.stats.paired import JudgeComparison

ROWS = {
    "kappa": "κ (Cohen)",
    "fail_recall": "FAIL recall (TNR)",
    "pass_recall": "PASS recall (TPR)",
    "fail_precision": "FAIL precision",
    "fail_f1": "FAIL F1",
    "accuracy": "accuracy",
    "youden_j": "Youden J",
    "mcc": "MCC",
    "alpha": "Krippendorff α",
    "ac1": "Gwet AC1 (never gates)",
}
LEVEL_ROWS = {
    "kappa_linear": "levels: κ, linear",
    "kappa_quadratic": "levels: κ, quadratic",
    "alpha_ordinal": "levels: ordinal α",
    "ac2_linear": "levels: AC2, linear",
    "ac2_quadratic": "levels: AC2, quadratic",
}
DEPLOYED = (0.2, 0.1, 0.05, 0.02)
"""FAIL shares in production for which the recalls are projected."""
STYLES = {"trusted": "green", "advisory": "yellow", "refused": "red"}
FLAGS = {
    "imbalanced": "the classes are unbalanced: look at FAIL recall, not at agreement",
    "margins_differ": "the judge fails more or less often than people do",
    "judge_constant": "the judge gave one verdict only",
    "human_constant": "people gave one label only",
    "few_clusters": "fewer than 25 traces: intervals are too narrow",
    "interval_check": "the bootstrap and the closed-form interval differ by more than 0.1",
}


def number(estimate: Estimate) -> str:
    """Return a value with its interval, or why there is none, as text that rich prints as it is."""
    return escape(str(estimate))


def print_calibration(console: Console, run: CalibrationRun) -> None:
    """Print one run: what was measured, the strata beside the whole, what people themselves reach, the level."""
    measured = run.measurement
    console.print(
        f"[b]{escape(run.dimension)}[/b] on {escape(run.set)}, judge {escape(run.judge)}, "
        f"rubric {run.rubric_version}, run {escape(run.run_id)}",
        f"{_size(measured)}; {', '.join(run.events)}" + ("; MADE-UP LABELS" if run.made_up else ""),
        sep="\n",
    )
    parts = {"all": measured, **{name: part.measurement for name, part in run.strata.items()}}
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in parts:
        table.add_column(escape(name))
    for key, title in ROWS.items():
        table.add_row(title, *(number(part.stats[key]) for part in parts.values()))
    for key, title in LEVEL_ROWS.items():
        if measured.levels is not None:
            table.add_row(title, *(number(part.levels[key]) if part.levels else "-" for part in parts.values()))
    table.add_row("coverage", *(number(part.views.coverage) for part in parts.values()))
    table.add_row("strict accuracy", *(number(part.views.strict_accuracy) for part in parts.values()))
    table.add_row("FF / FP / PF / PP", *("/".join(map(str, part.counts.values())) for part in parts.values()))
    table.add_row("people: mean κ", *(_people(part) for part in parts.values()))
    levels = [run.decision.level, *(part.decision.level for part in run.strata.values())]
    table.add_row("level", *(f"[{STYLES[level]}]{level}[/]" for level in levels))
    console.print(table)
    for flag in measured.stats["kappa"].flags:
        console.print(f"  note: {FLAGS.get(flag, flag)}")
    _print_projection(console, measured)
    if "rubric_ambiguous" in measured.flags:
        console.print("  note: people could not settle more than 10 % of the items: the rubric is ambiguous")
    _print_instrument(console, run)
    reasons = escape(", ".join(run.decision.reasons) or "no reservation")
    console.print(f"[{STYLES[run.decision.level]}]{run.decision.level}[/]: {reasons}")


def _size(measured: Measurement) -> str:
    seen = measured.views
    return (
        f"{measured.items} test items, people decided {seen.human_decided} "
        f"({seen.human_unknown} unknown, {seen.human_unresolved} unresolved), judge and people {seen.covered}, "
        f"{measured.clusters} traces"
    )


def _people(measured: Measurement) -> str:
    ceiling = measured.humans.ceiling
    return number(ceiling.mean_kappa) if ceiling else "unknown"


def _print_projection(console: Console, measured: Measurement) -> None:
    """κ at the mix of the label set says little about production, where failures are rarer."""
    tpr, tnr = (measured.stats[name].value for name in ("pass_recall", "fail_recall"))
    if tpr is None or tnr is None:
        return
    told = []
    for share in DEPLOYED:
        found = project(tpr, tnr, share)
        kappa, precision = (
            f"{e.value:.2f}" if e.value is not None else "-" for e in (found.kappa, found.fail_precision)
        )
        told.append(f"{share:.0%}: κ {kappa}, FAIL precision {precision}")
    console.print(f"  where so many fail: {'; '.join(told)}")


def _print_instrument(console: Console, run: CalibrationRun) -> None:
    if run.stability is not None:
        found = run.stability
        console.print(
            f"  {found.replicates} replicates: flip rate {number(found.flip_rate)}, unstable {number(found.unstable)}"
        )
    for probe in run.probes:
        verdict = {True: "stood", False: "FELL", None: "too few items"}[probe.passed]
        console.print(
            f"  probe {probe.probe}: {verdict}, {number(probe.effect)} on {probe.n} items; {escape(probe.note)}"
        )
    chosen = run.measurement.selection
    if chosen is not None and chosen.threshold is None:
        console.print("  no stated confidence is high enough to believe it with at most 10 % errors: all to people")
    elif chosen is not None:
        console.print(
            f"  confidence {chosen.threshold:g} or more errs in at most 10 % (90 % sure): {chosen.kept} of {chosen.n} "
            f"items, {chosen.errors} wrong; what lies below goes to people"
        )
    humans = run.measurement.humans
    if humans.repeats:
        console.print(
            f"  {humans.repeats} blind repeats by the same person, equal in {number(humans.repeat_agreement)}"
        )
    if humans.alt_test is not None and humans.alt_test.winning_rate is not None:
        test = humans.alt_test
        console.print(
            f"  alt-test at ε {test.epsilon}: ω {test.winning_rate:.2f}, ρ {test.advantage:.2f}"
            f"{', advisory: fewer than 30 items' if test.advisory else ''} "
            "(never sufficient alone; read it beside FAIL recall)"
        )
    if humans.ceiling is not None and humans.ceiling.ratio.value is not None:
        console.print(f"  ceiling ratio {humans.ceiling.ratio.value:.2f}: κ with people over κ between people")
    if run.exposures > 1:
        console.print(f"  {run.exposures} judges tried on this test set: intervals are at {run.level:.1%}")


def print_trust(console: Console, reports: Sequence[TrustReport]) -> None:
    """Print each dimension's level with all reasons and what would mend each."""
    for report in reports:
        where = f" on {report.set}, calibrated {report.age_days:.0f} days ago" if report.age_days is not None else ""
        who = report.judge or "no judge was calibrated"
        console.print(
            f"[b]{escape(report.dimension)}[/b]  [{STYLES[report.level]}]{report.level}[/]  {escape(who + where)}"
        )
        if report.level == "trusted" and report.blocking is not None:
            print_blocking(console, report.blocking)
        for one in report.mends():
            console.print(escape(f"    {one.reason}: {one.meaning}\n      to mend: {one.remedy}"))
        for name, decision in report.strata.items():
            why = ", ".join(decision.reasons)
            told = escape(f" ({why})") if why else ""
            console.print(f"    {escape(name)}: [{STYLES[decision.level]}]{decision.level}[/]{told}")


def print_blocking(console: Console, found: Blocking) -> None:
    """Print whether a single FAIL may fail a trace, and what would mend that."""
    console.print(escape(f"    decides the check's rate; {found}"), soft_wrap=True)
    if found.mend:
        console.print(escape(f"      to mend: {found.mend}"), soft_wrap=True)


def print_history(console: Console, runs: Sequence[CalibrationRun]) -> None:
    """Print the history as a table, events marked."""
    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")
    for title in ("κ", "FAIL recall", "PASS recall"):
        table.add_column(title, no_wrap=True)
    for run in runs:
        stats, level = run.measurement.stats, run.decision.level
        told = escape(f"{run.ts[:16]} on {run.set}: {', '.join(run.events)}\n{run.judge[:40]}\n{run.run_id}")
        table.add_row(
            f"[{STYLES[level]}]{level}[/] {told}",
            number(stats["kappa"]),
            number(stats["fail_recall"]),
            number(stats["pass_recall"]),
        )
    console.print(table)


def print_comparison(console: Console, found: Comparison) -> None:
    """Print new against old, pooled and by stratum."""
    console.print(
        f"[b]{escape(found.new)}[/b] against {escape(found.old)}, "
        f"on {found.items} items that people and both judges decided"
    )
    if found.relabelled:
        console.print("  the labels changed between: both verdicts are read against today's labels")
    table = Table(box=None, pad_edge=False)
    for title in ("", "Δ accuracy", "Δ κ", "Δ FAIL recall", "better / worse", "McNemar mid-p"):
        table.add_column(title)
    table.add_row("all", *_difference(found.pooled))
    for name, part in found.strata.items():
        table.add_row(escape(name) + (" *" if found.significant[name] else ""), *_difference(part))
    console.print(table)
    if found.strata:
        console.print("  * holds after Holm's correction over the strata")
    console.print(_conclusion(found))


def _difference(part: JudgeComparison) -> list[str]:
    test = part.discordance
    values = [number(part.accuracy), number(part.kappa), number(part.fail_recall)]
    return [*values, f"{test.better} / {test.worse}", f"{test.p:.3g}"]


def _conclusion(found: Comparison) -> str:
    words = {
        True: "is not worse by more than 0.05 in κ and FAIL recall",
        False: "may be worse by more than 0.05 in κ or FAIL recall",
        None: "cannot be compared, one class is missing",
    }
    adopt = {True: "adopt it", False: "keep the old one", None: "label more first"}[found.adopt]
    if found.same_judge:
        return f"the same judge again: it {words[found.pooled.non_inferior]}"
    better = ", and is better beyond chance" if found.pooled.superior else ""
    return f"the new judge {words[found.pooled.non_inferior]}{better}: {adopt}"


def print_drift(console: Console, report: DriftReport) -> None:
    """Print the charts and what they mean."""
    flags = f" ({', '.join(report.flags)})" if report.flags else ""
    size = f"{report.anchors} anchors, {report.checks} checks since the baseline{flags}"
    console.print(f"[b]{escape(report.dimension)}[/b] on {escape(report.set)}: {size}")
    table = Table(box=None, pad_edge=False)
    for title in ("measure", "baseline", "σ", "last", "z", "EWMA (limit)", "alarm"):
        table.add_column(title)
    for one in report.charts:
        last = one.points[-1] if one.points else None
        table.add_row(
            one.measure,
            f"{one.baseline.mean:.3f}",
            f"{one.baseline.sigma:.4f}",
            f"{last.accuracy:.3f}" if last else "-",
            f"{last.z:+.2f}" if last else "-",
            f"{last.ewma:+.2f} (-{last.ewma_limit:.2f})" if last else "-",
            "[red]ALARM[/]" if one.alarm else "",
        )
    console.print(table)
    if report.last is not None:
        console.print(f"  last check against one baseline run: McNemar mid-p {report.last.p:.3g}")
    console.print(f"{report.verdict}: {report.meaning}")

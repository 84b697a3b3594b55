"""The summary of a run, made from its tally: what `summary.json` holds and every report reads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from toolgrade.core.case import Case
from toolgrade.core.finding import ADVICE, CHECKS, Check, FindingName
from toolgrade.core.model import Frozen
from toolgrade.core.tool import ToolSpec
from toolgrade.core.verdict import Basis, Status
from toolgrade.pipeline.coverage import Coverage, coverage
from toolgrade.pipeline.judging.tally import JudgingSummary
from toolgrade.pipeline.tally import CheckTally, Tally
from toolgrade.stats.classification import Classification, ConfusionMatrix, classification, confusion_matrix
from toolgrade.stats.consistency import pass_at_k, pass_hat_k
from toolgrade.stats.convergence import Compounding, compounding, path_convergence
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.rates import Rate, clustered_rate, rate

SEED = 20_000
"""Where the generator of resampled intervals starts."""


class FindingSummary(Frozen):
    """One finding over the run. `lost` is the sum of scores in [0, 1] that it cost its check."""

    name: FindingName
    count: int
    traces: int
    lost: float
    example: str
    example_text: str

    @property
    def advice(self) -> str:
        """One line: what to edit."""
        return ADVICE[self.name].edit


class Consistency(Frozen):
    """pass@k and pass^k (with its interval) of one check, or of the aggregate, at one k."""

    k: int
    pass_at_k: Estimate
    pass_hat_k: Estimate


class CheckSummary(Frozen):
    """One check over the run: statuses by basis, rates by basis, findings, consistency, mean score."""

    check: Check
    statuses: dict[str, dict[Status, int]]
    rates: dict[Basis, Rate]
    findings: tuple[FindingSummary, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    mean_score: float | None = None
    units: int = 0
    questions: int = 0
    undecided_because: dict[str, int] = Field(default_factory=dict)

    @property
    def basis(self) -> Basis | None:
        """The basis that a threshold on this check is about: `expected` where any case expects something."""
        for basis in ("expected", "intrinsic"):
            if basis in self.rates:
                return basis
        return None

    @property
    def rate(self) -> Rate | None:
        """The rate on that basis; None where the check applies to no trace."""
        return self.rates[self.basis] if self.basis else None


class SizeSummary(Frozen):
    """A number over the traces that have it: how many have it, mean, maximum."""

    known: int
    mean: float | None
    maximum: float | None


class Convergence(Frozen):
    """Path convergence over cases, shown next to completion: C compares with the shortest run seen, a proxy.

    `completion` is the share passed of the runs that have a verdict on the whole, None where none has.
    """

    value: float | None
    cases: int
    completion: float | None
    reason: str | None = None


class Questions(Frozen):
    """What gates settled and what they left open, in (check x unit) pairs."""

    units: int
    open: int
    by_dimension: dict[str, int]

    @property
    def settled_share(self) -> float | None:
        """The share of units that gates settled; None where there was none."""
        return (self.units - self.open) / self.units if self.units else None


class Summary(Frozen):
    """A whole run. There is no single score for all checks.

    `aggregate_undecided` counts, of the traces without a verdict on the whole, those in which a check is open.
    """

    traces: int
    unreadable: int
    first_errors: tuple[str, ...]
    cases: int
    cases_without_traces: tuple[str, ...]
    aggregate: dict[Status, int]
    aggregate_undecided: dict[Check, int]
    aggregate_rate: Rate
    aggregate_consistency: tuple[Consistency, ...]
    checks: dict[Check, CheckSummary]
    confusion: ConfusionMatrix | None
    calls: Classification | None
    fields: Classification | None
    field_outcomes: dict[str, dict[str, int]]
    coverage: Coverage | None
    tools_called: dict[str, int]
    error_kinds: dict[str, int]
    sizes: dict[str, SizeSummary]
    tag_consistency: dict[str, dict[Check, tuple[Consistency, ...]]]
    convergence: Convergence
    compounding: Compounding
    questions: Questions
    judging: JudgingSummary | None = None

    def costliest(self, most: int = 3) -> list[FindingSummary]:
        """Return the findings that cost most, by score lost over all checks."""
        found = [finding for check in self.checks.values() for finding in check.findings]
        return sorted(found, key=lambda finding: (-finding.lost, -finding.traces, finding.name))[:most]


def summarise(tally: Tally, cases: Mapping[str, Case], tools: Mapping[str, ToolSpec] | None) -> Summary:
    """Return the summary of a tally.

    Intervals are resampled with a generator that starts the same in every run: equal results give equal intervals.
    """
    rng = np.random.default_rng(SEED)
    checks = {check: _check(check, tally.checks[check], rng) for check in CHECKS if tally.checks[check].statuses}
    counts = tally.call_counts
    aggregate = _rate(tally.aggregate, tally.aggregate_by_case, rng)
    per_step: dict[str, float | None] = {
        c: s.rate.value for c, s in checks.items() if c != "outcome" and s.rate is not None
    }
    return Summary(
        traces=tally.traces,
        unreadable=tally.unreadable,
        first_errors=tuple(tally.first_errors),
        cases=len(cases),
        cases_without_traces=tuple(case for case in cases if case not in tally.cases_seen),
        aggregate=dict(tally.aggregate),
        aggregate_undecided={check: tally.undecided[check] for check in CHECKS if tally.undecided[check]},
        aggregate_rate=aggregate,
        aggregate_consistency=_consistency(tally.aggregate_by_case, rng),
        checks=checks,
        confusion=confusion_matrix(tally.routes.elements()) if tally.routes else None,
        calls=_classified(counts["matched"], counts["called"], counts["expected"]) if tally.routes else None,
        fields=_classified(counts["matched_fields"], counts["given_fields"], counts["expected_fields"])
        if counts["expected_fields"]
        else None,
        field_outcomes={place: dict(outcomes) for place, outcomes in sorted(tally.fields.items())},
        coverage=coverage(cases.values(), tools, tally.error_kinds) if cases else None,
        tools_called=dict(sorted(tally.tools_called.items())),
        error_kinds=dict(sorted(tally.error_kinds.items())),
        sizes={
            name: SizeSummary(
                known=spread.known,
                mean=spread.total / spread.known if spread.known else None,
                maximum=spread.high if spread.known else None,
            )
            for name, spread in tally.sizes.items()
        },
        tag_consistency=_by_tag(tally, cases, rng),
        convergence=_convergence(tally),
        compounding=compounding(per_step, aggregate.value),
        questions=Questions(
            units=sum(check.units for check in checks.values()),
            open=sum(check.questions for check in checks.values()),
            by_dimension=dict(sorted(tally.dimensions.items())),
        ),
    )


def _check(check: Check, tally: CheckTally, rng: np.random.Generator) -> CheckSummary:
    statuses: dict[str, dict[Status, int]] = {}
    for (basis, status), count in sorted(tally.statuses.items(), key=str):
        statuses.setdefault(basis or "none", {})[status] = count
    rates: dict[Basis, Rate] = {}
    for basis in ("expected", "intrinsic"):
        if basis in statuses:
            rates[basis] = _rate(statuses[basis], tally.by_case if basis == "expected" else {}, rng)
    findings = [
        FindingSummary(name=name, **vars(entry))
        for name, entry in sorted(tally.findings.items(), key=lambda item: (-item[1].lost, item[0]))
    ]
    return CheckSummary(
        check=check,
        statuses=statuses,
        rates=rates,
        findings=tuple(findings),
        consistency=_consistency(tally.by_case, rng),
        mean_score=tally.score / tally.scored if tally.scored else None,
        units=tally.units,
        questions=tally.questions,
        undecided_because=dict(tally.reasons.most_common(10)),
    )


def _rate(
    statuses: Mapping[Status, int], by_case: Mapping[str, Mapping[Status, int]], rng: np.random.Generator
) -> Rate:
    """Return passed / decided / applicable; the interval resamples cases where any has several trials."""
    passed, failed = statuses.get("passed", 0), statuses.get("failed", 0)
    applicable = sum(count for status, count in statuses.items() if status != "not_applicable")
    clusters = [(c.get("passed", 0), c.get("passed", 0) + c.get("failed", 0)) for c in by_case.values()]
    if sum(decided for _, decided in clusters) == passed + failed and any(decided > 1 for _, decided in clusters):
        return clustered_rate(clusters, applicable, rng)
    return rate(passed, passed + failed, applicable)


def _consistency(by_case: Mapping[str, Mapping[Status, int]], rng: np.random.Generator) -> tuple[Consistency, ...]:
    """Return pass@k and pass^k for k = 1 up to the most trials of any case; only decided trials are trials."""
    trials = [(c.get("passed", 0) + c.get("failed", 0), c.get("passed", 0)) for c in by_case.values()]
    trials = [pair for pair in trials if pair[0]]
    most = max((n for n, _ in trials), default=0)
    if most < 2:
        return ()
    return tuple(
        Consistency(k=k, pass_at_k=pass_at_k(trials, k), pass_hat_k=pass_hat_k(trials, k, rng))
        for k in range(1, min(most, 16) + 1)
    )


def _by_tag(
    tally: Tally, cases: Mapping[str, Case], rng: np.random.Generator
) -> dict[str, dict[Check, tuple[Consistency, ...]]]:
    """Return pass@k and pass^k of each check over the cases of each tag, where cases have several trials."""
    found: dict[str, dict[Check, tuple[Consistency, ...]]] = {}
    for tag in sorted({tag for case in cases.values() for tag in case.tags}):
        inside = {case.id for case in cases.values() if tag in case.tags}
        for check in CHECKS:
            by_case = {case: counts for case, counts in tally.checks[check].by_case.items() if case in inside}
            if consistency := _consistency(by_case, rng):
                found.setdefault(tag, {})[check] = consistency
    return found


def _classified(matched: int, given: int, expected: int) -> Classification:
    return classification(matched, max(given - matched, 0), max(expected - matched, 0))


def _convergence(tally: Tally) -> Convergence:
    """C of a case is the mean over its runs of shortest / steps; the run's value is the mean over cases."""
    several = [list(path.steps.elements()) for path in tally.paths.values() if path.steps.total() > 1]
    values = [found for steps in several if (found := path_convergence(steps).value) is not None]
    decided = sum(path.decided for path in tally.paths.values())
    completed = sum(path.completed for path in tally.paths.values())
    return Convergence(
        value=sum(values) / len(values) if values else None,
        cases=len(values),
        completion=completed / decided if decided else None,
        reason=None if values else "no case has two or more readable runs",
    )

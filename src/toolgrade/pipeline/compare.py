"""Two runs side by side, paired by case and trial: what was fixed, what regressed, and what moved."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pydantic import Field

from toolgrade.core.finding import CHECKS
from toolgrade.core.model import Frozen
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Basis, Status
from toolgrade.errors import ConfigError
from toolgrade.pipeline.judging.difference import JudgedDifference, LabelsOf, judged_differences, nobody
from toolgrade.pipeline.rundir import SUMMARY, read_results, read_run
from toolgrade.stats.bootstrap import Array, bca
from toolgrade.stats.estimate import Estimate, undefined
from toolgrade.stats.paired import mcnemar

Key = tuple[str, int]
Graded = tuple[Status, Basis | None]
"""What a run made of a check on one trace. Rates by expectation and by rule alone are not compared."""

Cell = tuple[Graded, Graded]


class CheckComparison(Frozen):
    """One check over the traces that both runs decided.

    `difference` is the candidate's rate minus the base's; its interval resamples cases where a case has several
    trials, else it is Agresti and Min's. `p` is McNemar's mid-p. `undecided` counts pairs (base status,
    candidate status) of which one is neither passed nor failed, or that were graded on another basis; they enter
    nothing. `lost` are those that only the base decided, but for arguments that a failed selection blocks.
    """

    check: str
    both_passed: int
    fixed: int
    regressed: int
    both_failed: int
    p: float | None
    difference: Estimate
    fixed_traces: tuple[str, ...] = ()
    regressed_traces: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    undecided: dict[str, int] = Field(default_factory=dict)

    @property
    def paired(self) -> int:
        """How many traces both runs decided."""
        return self.both_passed + self.fixed + self.regressed + self.both_failed

    def beyond(self, tolerance: float) -> bool:
        """Say whether the rate fell by more than `tolerance`."""
        return self.difference.value is not None and self.difference.value < -tolerance

    def undecided_beyond(self, tolerance: float) -> bool:
        """Say whether more than this share of what the base decided is undecided in the candidate."""
        return len(self.lost) > tolerance * (self.paired + len(self.lost))


class Movement(Frozen):
    """In how many traces something was found, in the base and in the candidate."""

    kind: str
    name: str
    base: int
    candidate: int


class Comparison(Frozen):
    """Two runs compared. `only_base` and `only_candidate` are traces without a counterpart.

    `judged` are the dimensions that both runs had judged.
    """

    base: str
    candidate: str
    paired: int
    only_base: tuple[str, ...]
    only_candidate: tuple[str, ...]
    checks: dict[str, CheckComparison]
    movements: tuple[Movement, ...]
    judged: tuple[JudgedDifference, ...] = ()

    def lost(self, tolerance: float) -> list[str]:
        """Name what the candidate leaves out or undecided of what the base decided, by more than `tolerance` allows."""
        whole = len(self.only_base)
        names = [f"{whole} trace{'s' * (whole > 1)}"] if whole > tolerance * (self.paired + whole) else []
        return names + [
            f"{check.check} in {len(check.lost)} of {check.paired + len(check.lost)}"
            for check in self._checks()
            if check.undecided_beyond(tolerance)
        ]

    def fell(self, tolerance: float) -> list[str]:
        """Name the checks whose rate fell by more than `tolerance`, and dimensions whose corrected one surely did."""
        checks = [
            f"{check.check} by {-(check.difference.value or 0):.3f}"
            for check in self._checks()
            if check.beyond(tolerance)
        ]
        return checks + [f"{one.dimension} as corrected" for one in self.judged if one.dropped(tolerance)]

    def _checks(self) -> list[CheckComparison]:
        return [check for name, check in self.checks.items() if name != "aggregate"]

    def exit_code(self, tolerance: float) -> int:
        """Return 2 where something is `lost`, 1 where something `fell`, else 0."""
        return 2 if self.lost(tolerance) else 1 if self.fell(tolerance) else 0


def compare_runs(base: Path, candidate: Path, labels: LabelsOf = nobody) -> Comparison:
    """Return the comparison of two run directories; `labels` are what people said of questions picked at random.

    Raises:
        ConfigError: a case and trial occurs twice in a run, or the runs share none.
        UnreadableError: a directory holds no results.
    """
    old, old_moves = _read(base)
    new, new_moves = _read(candidate)
    shared = [key for key in old if key in new]
    if not shared:
        raise ConfigError(
            f"{base} and {candidate} share no case and trial; expected two runs over the same cases "
            f"(first of the base: {next(iter(old), None)}, first of the candidate: {next(iter(new), None)})"
        )
    checks: dict[str, CheckComparison] = {}
    for check in (*CHECKS, "aggregate"):
        pairs = {key: (old[key][check], new[key][check]) for key in shared if check in old[key] and check in new[key]}
        if any(_decided(a) or _decided(b) for a, b in pairs.values()):
            checks[check] = _compare(check, pairs)
    kinds = {(kind, name) for kind, name in (*old_moves, *new_moves)}
    moves = [Movement(kind=k, name=n, base=old_moves[k, n], candidate=new_moves[k, n]) for k, n in sorted(kinds)]
    moved = [move for move in moves if move.base != move.candidate]
    return Comparison(
        base=str(base),
        candidate=str(candidate),
        paired=len(shared),
        only_base=tuple(_name(key) for key in old if key not in new),
        only_candidate=tuple(_name(key) for key in new if key not in old),
        checks=checks,
        movements=tuple(sorted(moved, key=lambda move: -abs(move.base - move.candidate))),
        judged=_judged(base, candidate, labels),
    )


def _judged(base: Path, candidate: Path, labels: LabelsOf) -> tuple[JudgedDifference, ...]:
    """Return the judged dimensions of two finished runs; none where one of them has no summary or no judge."""
    if not all((folder / SUMMARY).exists() for folder in (base, candidate)):
        return ()
    one, two = (read_run(folder)[0].judging for folder in (base, candidate))
    return judged_differences((base, candidate), (one, two), labels) if one and two else ()


def _read(folder: Path) -> tuple[dict[Key, dict[str, Graded]], Counter[tuple[str, str]]]:
    """Return statuses and bases by case and trial, and in how many traces each finding, tool, field or stage is."""
    statuses: dict[Key, dict[str, Graded]] = {}
    moves: Counter[tuple[str, str]] = Counter()
    for result in read_results(folder):
        key = (result.case_id or result.trace_id, result.trial)
        if key in statuses:
            raise ConfigError(f"{folder}: {_name(key)} occurs twice; give each trial of a case its own number")
        statuses[key] = {check: (checked.status, checked.basis) for check, checked in result.checks.items()}
        statuses[key]["aggregate"] = (result.aggregate.status, None)
        moves.update(set(_marks(result)))
    return statuses, moves


def _marks(result: TraceResult) -> Iterator[tuple[str, str]]:
    for check, checked in result.checks.items():
        if checked.status == "failed":
            for finding in checked.findings:
                yield "finding", finding.name
                if finding.place.tool:
                    yield "tool", f"{check}: {finding.place.tool}"
                if finding.place.tool and finding.place.pointer and check == "arguments":
                    yield "field", f"{finding.place.tool}{finding.place.pointer}"
        if check == "recovery":
            for episode in checked.detail.get("episodes", ()):
                yield from (("stage", str(stage)) for stage in episode.get("stages", ()))


def _compare(check: str, pairs: dict[Key, Cell]) -> CheckComparison:
    cells: Counter[tuple[Status, Status]] = Counter()
    undecided: Counter[str] = Counter()
    by_case: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    named: defaultdict[tuple[Status, Status], list[str]] = defaultdict(list)
    lost: list[str] = []
    for key, (before, after) in pairs.items():
        if not _comparable(before, after):
            if {before[0], after[0]} != {"not_applicable"}:
                undecided[_pair(before, after)] += 1
            if _decided(before) and after[0] != "blocked":
                lost.append(_name(key))
            continue
        cells[before[0], after[0]] += 1
        named[before[0], after[0]].append(_name(key))
        by_case[key[0]][0] += (after[0] == "passed") - (before[0] == "passed")
        by_case[key[0]][1] += 1
    both, fixed = cells["passed", "passed"], cells["failed", "passed"]
    regressed, neither = cells["passed", "failed"], cells["failed", "failed"]
    test = mcnemar(both, regressed, fixed, neither)
    return CheckComparison(
        check=check,
        both_passed=both,
        fixed=fixed,
        regressed=regressed,
        both_failed=neither,
        p=test.p if cells else None,
        difference=_difference(check, test.difference, list(by_case.values())) if cells else undefined("no_items"),
        fixed_traces=tuple(named["failed", "passed"]),
        regressed_traces=tuple(named["passed", "failed"]),
        lost=tuple(lost),
        undecided=dict(undecided.most_common()),
    )


def _difference(check: str, plain: Estimate, rows: list[list[float]]) -> Estimate:
    """Widen the interval to whole cases where a case has several trials."""
    if all(row[1] == 1 for row in rows):
        return plain
    seed = int.from_bytes(hashlib.sha256(f"{check} {rows}".encode()).digest()[:8], "big")
    interval = bca(np.array(rows), _mean, np.random.default_rng(seed))
    return plain.model_copy(update={"interval": interval or plain.interval})


def _mean(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / totals[..., 1], dtype=np.float64)


def _decided(graded: Graded) -> bool:
    return graded[0] in ("passed", "failed")


def _comparable(before: Graded, after: Graded) -> bool:
    return _decided(before) and _decided(after) and before[1] == after[1]


def _pair(before: Graded, after: Graded) -> str:
    if _decided(before) and _decided(after):
        return f"{before[0]} by {before[1]} → {after[0]} by {after[1]}"
    return f"{before[0]} → {after[0]}"


def _name(key: Key) -> str:
    return f"{key[0]} (trial {key[1]})"

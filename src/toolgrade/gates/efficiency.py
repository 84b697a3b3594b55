"""The efficiency gate: loops, redundant calls, budgets."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from toolgrade.core.expected import EfficiencyExpected
from toolgrade.core.finding import Finding, FindingName, Place
from toolgrade.core.model import construct
from toolgrade.core.verdict import CheckResult, Status
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.equality import equal, fingerprint


class _Waste(NamedTuple):
    """Calls that brought nothing new: `calls` are all of them with the first, `idle` counts those beyond it."""

    name: FindingName
    calls: list[CallView]
    idle: int
    note: str | None


def check_efficiency(expected: EfficiencyExpected | None, view: TraceView) -> CheckResult:
    """Grade repeated calls (intrinsic) and the budgets of the case.

    Only calls whose result was recorded can be repeats. A repeat counts while the result stays the same to
    the end of the trace: where a later identical call brings another result, it was polling, and what is
    repeated between the polls is waiting. `loop`: three or more such, or A-B-A-B; `redundant_call`: exactly
    two with no possible write between them.
    Score: the least of useful calls / calls and, per budget, allowed / used. `units` counts calls.
    `detail`: `{"steps": n, "calls": n, "tokens": n | None}`.
    """
    tokens = view.tokens
    calls = len(view.calls)
    detail = {"steps": view.steps, "calls": calls, "tokens": tokens}
    if expected is None and not calls:
        return construct(
            CheckResult, check="efficiency", status="not_applicable", reason="no tool was called", detail=detail
        )
    waste = _waste(view)
    findings = [_finding(one) for one in waste]
    score = 1 - sum(one.idle for one in waste) / calls if calls else 1.0
    undecided = None
    if expected is not None:
        for what, limit in (
            ("steps", expected.max_steps),
            ("calls", expected.max_calls),
            ("tokens", expected.max_tokens),
        ):
            used = detail[what]
            if limit is None:
                continue
            if used is None:
                undecided = "the trace does not say how many tokens were used"
            elif used > limit:
                score = min(score, limit / used)
                findings.append(
                    construct(Finding, name="over_budget", expected=f"at most {limit} {what}", actual=f"{used} {what}")
                )
    status: Status = "failed" if findings else "unknown" if undecided else "passed"
    return construct(
        CheckResult,
        check="efficiency",
        status=status,
        basis="intrinsic" if expected is None else "expected",
        score=None if status == "unknown" else score,
        findings=tuple(findings),
        units=calls,
        reason=undecided,
        detail=detail,
    )


def _waste(view: TraceView) -> list[_Waste]:
    groups = _repeats(view)
    if not groups:
        return []
    found = list(_alternations(view.calls, {made.number: group for group in groups for made in group}))
    told = {made.number for one in found for made in one.calls}
    for group in groups:
        if any(made.number in told for made in group):
            continue
        if len(group) > 2:
            found.append(_Waste("loop", group, len(group) - 1, None))
        elif not _written_between(group[0], group[1], view):
            found.append(_Waste("redundant_call", group, 1, None))
    return sorted(found, key=lambda one: one.calls[0].number)


def _repeats(view: TraceView) -> list[list[CallView]]:
    """Return the groups of two or more equal calls that ended with equal results."""
    groups: list[list[CallView]] = []
    polled: set[int] = set()
    for calls in view.calls_of.values():
        for group in _equal_calls(calls) if len(calls) > 1 else ():
            last = _told(group[-1])
            start = len(group) - 1
            while start and _told(group[start - 1]) == last:
                start -= 1
            if start:
                polled.update(made.number for made in group)
            if start < len(group) - 1:
                groups.append(group[start:])
    if not polled:
        return groups
    numbers = sorted(polled)
    return [group for group in groups if group[0].number in polled or not _waits(group, numbers)]


def _waits(group: list[CallView], polled: list[int]) -> bool:
    """Return whether a poll that brought news lies between every two calls: then they are the waiting between polls."""
    return all(bisect(polled, one.number) < bisect(polled, two.number) for one, two in pairwise(group))


def _equal_calls(calls: list[CallView]) -> list[list[CallView]]:
    told = [made for made in calls if made.result is not None]  # nobody knows what the others brought
    if len(told) == 2:  # the usual number: to compare two takes less than to make keys of them
        return [told] if _same(_given(told[0]), _given(told[1])) else []
    same: dict[Hashable, list[CallView]] = {}
    for made in told:
        same.setdefault(_key(_given(made)), []).append(made)
    return [group for group in same.values() if len(group) > 1]


def _given(made: CallView) -> Any:
    arguments = made.arguments
    return made.call.arguments_raw if arguments is None else arguments


def _same(one: Any, two: Any) -> bool:
    try:
        return equal(one, two)
    except RecursionError:  # nested without end: like nothing else
        return False


def _told(made: CallView) -> Hashable:
    result = made.result
    return result and (_key(result.content), result.status, result.error, result.is_error)


def _key(value: Any) -> Hashable:
    try:
        return fingerprint(value)
    except RecursionError:  # nested without end: like nothing else
        return object()


def _alternations(calls: list[CallView], repeats: dict[int, list[CallView]]) -> Iterator[_Waste]:
    """Yield every longest stretch A-B-A-B-… of two groups of equal calls with equal results."""
    start = 0
    while start + 3 < len(calls):
        one, two = repeats.get(start), repeats.get(start + 1)
        end = start
        if one is not None and two is not None and one is not two:
            while end < len(calls) and repeats.get(end) is (two if (end - start) % 2 else one):
                end += 1
        if end - start >= 4:
            stretch = calls[start:end]
            note = f"{stretch[0].name} and {stretch[1].name} in turn"
            yield _Waste("loop", stretch, len(stretch) - 2, note)
            start = end
        else:
            start += 1


def _written_between(first: CallView, second: CallView, view: TraceView) -> bool:
    for made in view.calls[first.number + 1 : second.number]:
        tool = view.tools.get(made.name)
        if tool is None or tool.writes is not False:
            return True
    return False


def _finding(waste: _Waste) -> Finding:
    first, last = waste.calls[0], waste.calls[-1]
    count = len(waste.calls)
    wanted: Any = "one call, or another result" if waste.name == "loop" else "one call"
    note = f"steps {first.step} to {last.step}" + (f", {waste.note}" if waste.note else "")
    place = construct(Place, step=last.step, turn=last.turn, tool=last.name, call=last.number)
    return construct(
        Finding,
        name=waste.name,
        place=place,
        expected=wanted,
        actual=f"{count} equal calls with equal results",
        note=note,
    )

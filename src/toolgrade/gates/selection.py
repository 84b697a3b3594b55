"""The selection gate: which tools were called, as a multiset of names, against which must, may and must not be."""

from __future__ import annotations

from typing import Any, NamedTuple

from toolgrade.core.expected import SelectionExpected
from toolgrade.core.finding import Finding, FindingName, Place
from toolgrade.core.model import construct
from toolgrade.core.verdict import CheckResult, Question, Status
from toolgrade.core.view import CallView, TraceView
from toolgrade.errors import suggestion


class _Fit(NamedTuple):
    """The calls against one acceptable multiset: which met each name of it, those beyond it, the bad ones of these."""

    option: tuple[str, ...]
    met: list[CallView | None]
    surplus: list[CallView]
    bad: list[tuple[FindingName, CallView]]

    @property
    def missing(self) -> list[str]:
        return [name for name, made in zip(self.option, self.met, strict=True) if made is None]

    @property
    def matched(self) -> int:
        return len(self.met) - self.met.count(None)

    @property
    def score(self) -> float:
        total = len(self.option) + len(self.bad)
        return self.matched / total if total else 1.0


def check_selection(expected: SelectionExpected | None, view: TraceView) -> CheckResult:
    """Grade the names of the calls; order, arguments and call ids play no part.

    Score: matched / (required + calls that are not fine); the best of `required` and `alternatives` counts.
    Without an expectation the one intrinsic rule is that every called tool is on offer.
    `units` counts required calls and calls made. A missing call is a question, not a finding, where
    `judge_routes` is on, nothing else is wrong, and another known tool was called.

    `detail`: `{"expected": [names], "called": [names], "matched": n, "routes": [[expected, actual], …]}`.
    Routes are cells of a confusion matrix: a required tool against the call that took its place, with the
    further labels `no_tool` (on either side), `unknown_tool` and `malformed` (the arguments were no JSON).
    """
    unknown = _unknown(view)
    if expected is None:
        return _intrinsic(view, unknown)
    if expected.required is None:
        options: tuple[tuple[str, ...], ...] = ((),)
    else:
        options = (expected.required, *expected.alternatives)
    numbers = {made.number for made in unknown}
    fits = [_fit(option, expected, view, numbers) for option in options]
    fit = fits[0] if len(fits) == 1 else max(fits, key=lambda one: one.score)
    missing = fit.missing
    question = _question(expected, fit, view) if missing else None
    findings = [_bad_finding(name, made, fit, view) for name, made in fit.bad]
    if question is None:
        findings += [_missing_finding(name, missing.count(name), fit, view) for name in dict.fromkeys(missing)]
    status: Status = "failed" if findings else "unknown" if question else "passed"
    return construct(
        CheckResult,
        check="selection",
        status=status,
        basis="expected",
        score=None if status == "unknown" else fit.score,
        findings=tuple(findings),
        questions=(question,) if question else (),
        units=len(fit.option) + len(view.calls),
        reason="a judge must say whether the other route was defensible" if question else None,
        detail=_detail(expected, fit, view),
    )


def _unknown(view: TraceView) -> list[CallView]:
    """Return the calls of tools that are not on offer; none where nobody knows what is."""
    if not view.tools or view.calls_of.keys() <= view.tools.keys():
        return []
    return [made for made in view.calls if made.name not in view.tools]


def _intrinsic(view: TraceView, unknown: list[CallView]) -> CheckResult:
    called = list(view.names)
    detail = {"expected": [], "called": called, "matched": 0, "routes": []}
    if not called or not view.tools:
        reason = "nothing was called and nothing expected" if not called else "neither expectation nor tools are known"
        return construct(CheckResult, check="selection", status="not_applicable", reason=reason, detail=detail)
    fit = _Fit((), [], unknown, [("unknown_tool", made) for made in unknown])
    findings = tuple(_bad_finding(name, made, fit, view) for name, made in fit.bad)
    return construct(
        CheckResult,
        check="selection",
        status="failed" if findings else "passed",
        basis="intrinsic",
        score=1 - len(findings) / len(called),
        findings=findings,
        units=len(called),
        detail=detail,
    )


def _fit(option: tuple[str, ...], expected: SelectionExpected, view: TraceView, unknown: set[int]) -> _Fit:
    places: dict[str, list[int]] = {}
    for place in range(len(option) - 1, -1, -1):
        places.setdefault(option[place], []).append(place)
    met: list[CallView | None] = [None] * len(option)
    surplus: list[CallView] = []
    for name, made in zip(view.names, view.calls, strict=True):
        free = places.get(name)
        if free:
            met[free.pop()] = made
        else:
            surplus.append(made)
    bad: list[tuple[FindingName, CallView]] = []
    none_expected = expected.required is not None and not option
    forbidden, extras = expected.forbidden, expected.extras
    for made in surplus:
        name = made.name
        if name in forbidden:
            bad.append(("forbidden_call", made))
        elif made.number in unknown:
            bad.append(("unknown_tool", made))
        elif isinstance(extras, tuple) and name in extras:
            continue
        elif none_expected:
            bad.append(("call_when_none_expected", made))
        elif extras != "allow":
            bad.append(("unexpected_call", made))
    return _Fit(option, met, surplus, bad)


def _place(made: CallView) -> Place:
    return construct(Place, step=made.step, turn=made.turn, tool=made.name, call=made.number)


def _bad_finding(name: FindingName, made: CallView, fit: _Fit, view: TraceView) -> Finding:
    note = None
    if name == "unknown_tool":
        wanted, note = "a tool on offer", suggestion(made.name, view.tools).strip() or None
    elif name == "call_when_none_expected":
        wanted = "no call at all"
    else:
        count = 0 if name == "forbidden_call" else fit.option.count(made.name)
        wanted = f"{count or 'no'} call{'s' * (count > 1)} of this tool"
    return construct(
        Finding, name=name, place=_place(made), expected=wanted, actual=f"a call of {made.name}", note=note
    )


def _missing_finding(name: str, count: int, fit: _Fit, view: TraceView) -> Finding:
    wanted = fit.option.count(name)
    others = ", ".join(dict.fromkeys(made.name for made in fit.surplus))
    return construct(
        Finding,
        name="missing_call",
        place=construct(Place, tool=name),
        expected=f"{wanted} call{'s' * (wanted > 1)}",
        actual=f"{wanted - count} call{'s' * (wanted - count != 1)}",
        note=f"also called: {others}" if others else None if view.calls else "no tool was called",
    )


def _question(expected: SelectionExpected, fit: _Fit, view: TraceView) -> Question | None:
    if not expected.judge_routes or fit.bad:
        return None
    others = [made for made in fit.surplus if made.name in view.tools]
    if not others:
        return None
    first = others[0]
    missing = sorted(fit.missing)
    finding = construct(
        Finding,
        name="indefensible_route",
        place=_place(first),
        expected=", ".join(missing),
        actual=", ".join(dict.fromkeys(made.name for made in others)),
    )
    fields = {
        "request": [said.text for said in view.said("user")],
        "tools": [{"name": tool.name, "description": tool.description} for tool in view.tools.values()],
        "called": list(view.names),
        "expected": list(fit.option),
    }
    weight = len(fit.missing) / len(fit.option)
    return Question(dimension="route_choice", place=_place(first), fields=fields, on_fail=(finding,), weight=weight)


def _detail(expected: SelectionExpected, fit: _Fit, view: TraceView) -> dict[str, Any]:
    return {
        "expected": list(fit.option),
        "called": list(view.names),
        "matched": fit.matched,
        "routes": _routes(expected, fit, view),
    }


def _label(made: CallView, view: TraceView) -> str:
    if view.tools and made.name not in view.tools:
        return "unknown_tool"
    return "malformed" if made.arguments is None else made.name


def _routes(expected: SelectionExpected, fit: _Fit, view: TraceView) -> list[list[str]]:
    """Pair every required name with the call that met it, or with the call that stands in its place.

    A call stands in the place of a missing one where it lies between the calls that met the neighbours.
    """
    left = {made.number: made for made in fit.surplus}
    routes = []
    for index, name in enumerate(fit.option):
        taken = fit.met[index]
        if taken is None and (taken := _stand_in(fit.met, index, left)) is not None:
            del left[taken.number]
        routes.append([name, _label(taken, view) if taken else "no_tool"])
    if fit.bad:
        bad = {made.number for _, made in fit.bad}
        routes += [["no_tool", _label(made, view)] for number, made in left.items() if number in bad]
    if not routes and expected.required is not None and not view.calls:
        routes.append(["no_tool", "no_tool"])
    return routes


def _stand_in(met: list[CallView | None], index: int, left: dict[int, CallView]) -> CallView | None:
    low = max((made.number for made in met[:index] if made), default=-1)
    high = min((made.number for made in met[index + 1 :] if made), default=None)
    for number, made in left.items():
        if number > low and (high is None or number < high):
            return made
    return None

"""The arguments gate: schemas, placeholders, and expected values under their comparators."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.finding import Finding, Place
from toolgrade.core.schema import SchemaError, pointer
from toolgrade.core.verdict import CheckResult, Question, Status
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.difference import Difference
from toolgrade.gates.equality import equal
from toolgrade.gates.grounding import Sources, leaves, question_fields
from toolgrade.gates.pairing import Pair, is_open, paired
from toolgrade.gates.placeholder import is_placeholder

_OPEN = "a judge must say whether the open values say what the user meant"
_Values = dict[str, dict[str, Any]]
"""Open values of one call: JSON pointer -> `{"value": …}`, with `"expected"` where the case declares a meaning."""


def check_arguments(expected: tuple[ArgumentsExpected, ...] | None, view: TraceView) -> CheckResult:
    """Grade the values of the calls: each entry against the call that an assignment of greatest weight gives it.

    Schema errors and placeholders are intrinsic and count in every call. Without an expectation, a valid
    value that occurs neither in the request nor in an earlier result is a question for
    `argument_grounding`; with one, only a `semantic` path is. One question a call lists its open fields.
    Score: matched fields / (expected fields + further fields with an intrinsic finding); without an
    expectation, fields without a finding / given fields. A field is a top parameter of one call or entry.

    `detail`: `{"fields": {"tool.parameter": {"matched": n, "wrong": n, "open": n, finding name: n}},
    "expected_fields": n, "matched_fields": n, "given_fields": n}`; `given_fields` are those of the calls
    that met an entry, without an expectation those of all calls.
    """
    broken = {made.number: errors for made in view.calls if (errors := _schema_errors(made, view))}
    return _intrinsic(view, broken) if expected is None else _against(expected, view, broken)


def _schema_errors(made: CallView, view: TraceView) -> list[SchemaError]:
    call = made.call
    if call.arguments is None:
        return [SchemaError("malformed_json", "", "a JSON object", call.arguments_raw, call.parse_error)]
    tool = view.tools.get(call.name)
    return tool.argument_schema.errors(call.arguments) if tool is not None else []


class _Ledger:
    """What one grading has found so far."""

    def __init__(self, view: TraceView, broken: dict[int, list[SchemaError]]) -> None:
        self.view, self.broken = view, broken
        self.sources = Sources(view)
        self.fields: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.findings: list[Finding] = []
        self.open: list[tuple[CallView, _Values]] = []
        self.further = 0

    def intrinsic(self, made: CallView, right: frozenset[str], wrong: frozenset[str]) -> set[str]:
        """Report schema errors and placeholders of a call; return the pointers at fault.

        `right` and `wrong` are the parameters that an entry has already decided.
        """
        errors = self.broken.get(made.number, []) + _placeholders(made, self.sources, right)
        faulty = set()
        for error in errors:
            name = _parameter(error.pointer)
            faulty.add(name)
            self.fields[f"{made.call.name}.{name}"][error.name] += 1
            place = _place(made, error.pointer)
            self.findings.append(
                Finding(name=error.name, place=place, expected=error.expected, actual=error.actual, note=error.note)
            )
        if not (wrong and "$" in faulty):  # unreadable arguments are wrong in every expected field already
            self.further += len(faulty - wrong)
        return {error.pointer for error in errors}

    def result(self, basis: Any, score: float, units: int, counts: tuple[int, int, int]) -> CheckResult:
        status: Status = "failed" if self.findings else "unknown" if self.open else "passed"
        expected, matched, given = counts
        return CheckResult(
            check="arguments",
            status=status,
            basis=basis,
            score=None if status == "unknown" else score,
            findings=tuple(sorted(self.findings, key=_order)),
            questions=tuple(_question(made, self.view, values, units) for made, values in self.open),
            units=units,
            reason=_OPEN if status == "unknown" else None,
            detail={
                "fields": {name: dict(counts) for name, counts in self.fields.items()},
                "expected_fields": expected,
                "matched_fields": matched,
                "given_fields": given,
            },
        )


def _intrinsic(view: TraceView, broken: dict[int, list[SchemaError]]) -> CheckResult:
    if not broken and not any(made.call.name in view.tools for made in view.calls):
        reason = "no schema of a called tool is known" if view.calls else "no tool was called"
        return CheckResult(check="arguments", status="not_applicable", reason=reason)
    ledger = _Ledger(view, broken)
    given = sum(max(1, len(made.call.arguments or ())) for made in view.calls)
    for made in view.calls:
        faulty = ledger.intrinsic(made, frozenset(), frozenset())
        if made.call.name in view.tools and (values := _ungrounded(made, view, ledger.sources, faulty)):
            ledger.open.append((made, values))
    score = max(0.0, 1 - ledger.further / given)
    return ledger.result("intrinsic", score, given, (0, 0, given))


def _against(
    expected: tuple[ArgumentsExpected, ...], view: TraceView, broken: dict[int, list[SchemaError]]
) -> CheckResult:
    ledger = _Ledger(view, broken)
    decided: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
    total = matched = given = 0
    for pair in paired(expected, view):
        right = frozenset(name for name, found in pair.fields.items() if not found or is_open(found))
        wrong = frozenset(pair.fields) - right
        total, matched = total + len(pair.fields), matched + len(right)
        for name, found in pair.fields.items():
            state = "wrong" if name in wrong else "open" if found else "matched"
            ledger.fields[f"{pair.entry.tool}.{name}"][state] += 1
        if pair.made is None:
            ledger.findings.append(_no_call(pair))
            continue
        given += len(pair.made.call.arguments or ())
        decided[pair.made.number] = (right, wrong)
        told = [error.pointer for error in broken.get(pair.made.number, [])]
        ledger.findings += [
            _wrong(pair.made, pair.fields[name]) for name in wrong if not _told(pair.fields[name], told)
        ]
        if values := _asked(pair, right):
            ledger.open.append((pair.made, values))
    for made in view.calls:
        ledger.intrinsic(made, *decided.get(made.number, (frozenset(), frozenset())))
    units = total + ledger.further
    return ledger.result("expected", matched / units if units else 1.0, units, (total, matched, given))


def _asked(pair: Pair, right: frozenset[str]) -> _Values:
    values: _Values = {}
    for name in pair.fields:
        for one in pair.fields[name] if name in right else ():
            values[one.pointer] = {"value": one.actual}
            if one.expected is not None:
                values[one.pointer]["expected"] = one.expected
    return values


def _told(differences: list[Difference], pointers: list[str]) -> bool:
    """Return whether a schema error has already named this very place, or the whole call."""
    return all(one.open or any(at in ("", one.pointer) for at in pointers) for one in differences)


def _wrong(made: CallView, differences: list[Difference]) -> Finding:
    closed = [one for one in differences if not one.open]
    first = closed[0]
    more = f"and {len(closed) - 1} more in this parameter" if len(closed) > 1 else None
    note = "; ".join(part for part in (first.note, more) if part) or None
    place = _place(made, first.pointer)
    return Finding(name="wrong_value", place=place, expected=first.expected, actual=first.actual, note=note)


def _no_call(pair: Pair) -> Finding:
    wanted = pair.entry.values or {path: rule.kind for path, rule in pair.entry.compare.items()} or "a call"
    note = "no call of this tool is left for this entry"
    return Finding(name="wrong_value", place=Place(tool=pair.entry.tool), expected=wanted, note=note)


def _placeholders(made: CallView, sources: Sources, right: frozenset[str]) -> list[SchemaError]:
    found = []
    for path, value in leaves(made.call.arguments or {}):
        if (
            isinstance(value, str)
            and is_placeholder(value)
            and path[0] not in right
            and not sources.holds(value, made.message)
        ):
            found.append(SchemaError("placeholder_value", pointer(path), "a real value", value))
    return found


def _ungrounded(made: CallView, view: TraceView, sources: Sources, faulty: set[str]) -> _Values:
    """Return the valid values that occur nowhere before the call and differ from their schema's default."""
    defaults = view.tools[made.call.name].argument_schema.defaults
    values: _Values = {}
    for path, value in leaves(made.call.arguments or {}):
        name = str(path[0])
        at = pointer(path)
        if any(at == fault or at.startswith(fault + "/") for fault in faulty):
            continue
        if name in defaults and made.call.arguments and equal(made.call.arguments[name], defaults[name]):
            continue
        if not sources.holds(value, made.message):
            values[at] = {"value": value}
    return values


def _question(made: CallView, view: TraceView, values: _Values, units: int) -> Question:
    places = list(values)
    first = values[places[0]]
    one = len(places) == 1
    finding = Finding(
        name="ungrounded_value",
        place=_place(made, places[0] if one else None),
        expected=first.get("expected", "what the user meant") if one else "what the user meant",
        actual=first["value"] if one else {at: entry["value"] for at, entry in values.items()},
    )
    fields = len({_parameter(at) for at in places})
    return Question(
        dimension="argument_grounding",
        place=_place(made, places[0] if one else None),
        fields=question_fields(made, view, values),
        on_fail=(finding,),
        weight=fields / units,
    )


def _place(made: CallView, at: str | None) -> Place:
    return Place(step=made.step, turn=made.turn, tool=made.call.name, call=made.number, pointer=at or None)


def _parameter(at: str) -> str:
    """Return the top parameter of a pointer, `$` for the whole."""
    return at.split("/", 2)[1].replace("~1", "/").replace("~0", "~") if at else "$"


def _order(finding: Finding) -> tuple[bool, int]:
    call = finding.place.call
    return (call is None, call or 0)

"""The arguments gate: schemas, placeholders, and expected values under their comparators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.finding import Finding, Place
from toolgrade.core.model import construct
from toolgrade.core.schema import SchemaError, pointer
from toolgrade.core.verdict import CheckResult, Question, Status
from toolgrade.core.view import CallView, TraceView
from toolgrade.errors import ConfigError
from toolgrade.gates.difference import Difference
from toolgrade.gates.equality import equal
from toolgrade.gates.grounding import Evidence, Sources, leaves
from toolgrade.gates.pairing import Pair, is_right, paired
from toolgrade.gates.placeholder import holds_placeholder, is_placeholder

_OPEN = "a judge must say whether the open values say what the user meant"
_Values = dict[str, Difference]
"""Open values of one call, by JSON pointer."""


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

    Raises:
        ConfigError: a given tool's schema is broken. A recorded one is a `trace_error`.
    """
    try:
        broken = {made.number: errors for made in view.calls if (errors := _schema_errors(made, view))}
        return _intrinsic(view, broken) if expected is None else _against(expected, view, broken)
    except ConfigError as problem:
        if not view.tools_are_recorded:
            raise
        return construct(CheckResult, check="arguments", status="trace_error", reason=f"recorded {problem}")


def _schema_errors(made: CallView, view: TraceView) -> list[SchemaError]:
    arguments = made.arguments
    if arguments is None:
        call = made.call
        return [SchemaError("malformed_json", "", "a JSON object", call.arguments_raw, call.parse_error)]
    tool = view.tools.get(made.name)
    return tool.argument_schema.errors(arguments) if tool is not None else []


class _Ledger:
    """What one grading has found so far."""

    def __init__(self, view: TraceView, broken: dict[int, list[SchemaError]]) -> None:
        self.broken = broken
        self.sources, self.evidence = Sources(view), Evidence(view)
        self.fields: dict[str, dict[str, int]] = {}
        self.findings: list[Finding] = []
        self.open: list[tuple[CallView, _Values]] = []
        self.further = 0

    def count(self, tool: str, parameter: str, what: str) -> None:
        field = f"{tool}.{parameter}"
        counts = self.fields.get(field)
        if counts is None:
            self.fields[field] = {what: 1}
        else:
            counts[what] = counts.get(what, 0) + 1

    def suspects(self, made: CallView) -> bool:
        """Return whether `intrinsic` may find something in a call: most calls need no more than this look."""
        return made.number in self.broken or holds_placeholder(made.arguments)

    def intrinsic(self, made: CallView, pair: Pair | None) -> set[str]:
        """Report schema errors and placeholders of a call that `pair` may have decided; return their pointers."""
        errors = self.broken.get(made.number, []) + _placeholders(made, self.sources, pair)
        faulty = dict.fromkeys(_parameter(error.pointer) for error in errors)
        for error in errors:
            self.count(made.name, _parameter(error.pointer), error.name)
            place = _place(made, error.pointer)
            self.findings.append(
                construct(
                    Finding, name=error.name, place=place, expected=error.expected, actual=error.actual, note=error.note
                )
            )
        wrong = {name for name, found in pair.fields.items() if not is_right(found)} if pair is not None else set()
        if not (wrong and "$" in faulty):  # unreadable arguments are wrong in every expected field already
            self.further += len(faulty.keys() - wrong)
        return {error.pointer for error in errors}

    def result(self, basis: Any, score: float, units: int, counts: tuple[int, int, int]) -> CheckResult:
        status: Status = "failed" if self.findings else "unknown" if self.open else "passed"
        expected, matched, given = counts
        return construct(
            CheckResult,
            check="arguments",
            status=status,
            basis=basis,
            score=None if status == "unknown" else score,
            findings=tuple(sorted(self.findings, key=_order)),
            questions=tuple(_question(made, self.evidence, values, units) for made, values in self.open),
            units=units,
            reason=_OPEN if status == "unknown" else None,
            detail={
                "fields": self.fields,
                "expected_fields": expected,
                "matched_fields": matched,
                "given_fields": given,
            },
        )


def _intrinsic(view: TraceView, broken: dict[int, list[SchemaError]]) -> CheckResult:
    if not broken and not any(made.name in view.tools for made in view.calls):
        reason = "no schema of a called tool is known" if view.calls else "no tool was called"
        return construct(CheckResult, check="arguments", status="not_applicable", reason=reason)
    ledger = _Ledger(view, broken)
    given = sum(max(1, len(made.arguments or ())) for made in view.calls)
    for made in view.calls:
        faulty = ledger.intrinsic(made, None) if ledger.suspects(made) else set()
        if made.name in view.tools and (values := _ungrounded(made, view, ledger.sources, faulty)):
            ledger.open.append((made, values))
    score = max(0.0, 1 - ledger.further / given)
    return ledger.result("intrinsic", score, given, (0, 0, given))


def _against(
    expected: tuple[ArgumentsExpected, ...], view: TraceView, broken: dict[int, list[SchemaError]]
) -> CheckResult:
    ledger = _Ledger(view, broken)
    decided: dict[int, Pair] = {}
    total = matched = given = 0
    for pair in paired(expected, view):
        total += len(pair.fields)
        matched += _count(pair, ledger)
        if pair.made is None:
            ledger.findings.append(_no_call(pair))
            continue
        given += len(pair.made.arguments or ())
        decided[pair.made.number] = pair
        if any(pair.fields.values()):
            _report(pair, pair.made, ledger)
    for made in view.calls:
        if ledger.suspects(made):
            ledger.intrinsic(made, decided.get(made.number))
    units = total + ledger.further
    return ledger.result("expected", matched / units if units else 1.0, units, (total, matched, given))


def _count(pair: Pair, ledger: _Ledger) -> int:
    """Count the fields of a pair and return how many of them are right."""
    tool, matched = pair.entry.tool, 0
    for name, found in pair.fields.items():
        if not found:
            matched += 1
            ledger.count(tool, name, "matched")
        elif is_right(found):
            matched += 1
            ledger.count(tool, name, "open")
        else:
            ledger.count(tool, name, "wrong")
    return matched


def _report(pair: Pair, made: CallView, ledger: _Ledger) -> None:
    """Put the wrong fields of a pair among the findings and its open ones among the questions."""
    values: _Values = {}
    told = [error.pointer for error in ledger.broken.get(made.number, ())]
    for found in pair.fields.values():
        if is_right(found):
            values |= {one.pointer: one for one in found}
        elif not _told(found, told):
            ledger.findings.append(_wrong(made, found))
    if values:
        ledger.open.append((made, values))


def _told(differences: Sequence[Difference], pointers: list[str]) -> bool:
    """Return whether a schema error has already named this very place, or the whole call."""
    return all(one.open or any(at in ("", one.pointer) for at in pointers) for one in differences)


def _wrong(made: CallView, differences: Sequence[Difference]) -> Finding:
    closed = [one for one in differences if not one.open]
    first = closed[0]
    more = f"and {len(closed) - 1} more in this parameter" if len(closed) > 1 else None
    note = "; ".join(part for part in (first.note, more) if part) or None
    place = _place(made, first.pointer)
    return construct(Finding, name="wrong_value", place=place, expected=first.expected, actual=first.actual, note=note)


def _no_call(pair: Pair) -> Finding:
    wanted = pair.entry.values or {path: rule.kind for path, rule in pair.entry.compare.items()} or "a call"
    note = "no call of this tool is left for this entry"
    return construct(
        Finding, name="wrong_value", place=construct(Place, tool=pair.entry.tool), expected=wanted, note=note
    )


def _placeholders(made: CallView, sources: Sources, pair: Pair | None) -> list[SchemaError]:
    """Return the placeholders that nobody said before and that no entry asks for."""
    right = {name for name, found in pair.fields.items() if is_right(found)} if pair is not None else set()
    return [
        SchemaError("placeholder_value", pointer(at), "a real value", leaf)
        for at, leaf in leaves(made.arguments)
        if at[0] not in right
        and isinstance(leaf, str)
        and is_placeholder(leaf)
        and not sources.holds(leaf, made.message)
    ]


def _ungrounded(made: CallView, view: TraceView, sources: Sources, faulty: set[str]) -> _Values:
    """Return the valid values that occur nowhere before the call and differ from their schema's default."""
    defaults = view.tools[made.name].argument_schema.defaults
    values: _Values = {}
    for path, value in leaves(made.arguments or {}):
        name = str(path[0])
        at = pointer(path)
        if any(at == fault or at.startswith(fault + "/") for fault in faulty):
            continue
        if name in defaults and made.arguments and equal(made.arguments[name], defaults[name]):
            continue
        if not sources.holds(value, made.message):
            values[at] = Difference(at, None, value, open=True)
    return values


def _question(made: CallView, evidence: Evidence, values: _Values, units: int) -> Question:
    """Return one question for all open values of a call.

    What the case expects of a value is in the finding that a `fail` adds, never in what the judge sees.
    """
    shown = {at: one.actual for at, one in values.items()}
    at, single = next(iter(values.items()))
    place = _place(made, at if len(values) == 1 else None)
    meant: Any = "what the user meant"
    if len(values) == 1 and single.expected is not None:
        meant = single.expected
    actual = single.actual if len(values) == 1 else shown
    return Question(
        dimension="argument_grounding",
        place=place,
        fields=evidence.fields(made, shown),
        on_fail=(construct(Finding, name="ungrounded_value", place=place, expected=meant, actual=actual),),
        weight=len({_parameter(one) for one in values}) / units,
    )


def _place(made: CallView, at: str | None) -> Place:
    return construct(Place, step=made.step, turn=made.turn, tool=made.name, call=made.number, pointer=at or None)


def _parameter(at: str) -> str:
    """Return the top parameter of a pointer, `$` for the whole."""
    return at.split("/", 2)[1].replace("~1", "/").replace("~0", "~") if at else "$"


def _order(finding: Finding) -> tuple[bool, int]:
    call = finding.place.call
    return (call is None, call or 0)

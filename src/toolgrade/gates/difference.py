"""Where the arguments of one call differ from an expected entry, parameter by parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolgrade.core.expected import ArgumentsExpected, Comparator
from toolgrade.core.schema import pointer
from toolgrade.gates.assignment import assign
from toolgrade.gates.comparators import matches
from toolgrade.gates.equality import equal, fingerprint
from toolgrade.gates.paths import Location, compiled, select

Rules = dict[Location, Comparator]


class Difference(NamedTuple):
    """A place where a value is not the expected one, or (`open`) where only a judge can say.

    `expected` and `actual` are None for "nothing"; `note` tells an omitted value from a null.
    """

    pointer: str
    expected: Any
    actual: Any
    note: str | None = None
    open: bool = False


Fields = dict[str, Sequence[Difference]]
"""Every parameter that an entry speaks of, with its differences: none means a match."""


def compare_call(entry: ArgumentsExpected, arguments: dict[str, Any], defaults: dict[str, Any]) -> Fields:
    """Return the differences between an entry and a call, by parameter.

    `defaults` are the schema's defaults by parameter. A parameter that the entry forbids as an extra
    appears too, with a difference.
    """
    if entry.null_is_absent:
        arguments = {name: value for name, value in arguments.items() if value is not None}
    given = _with_defaults(entry, arguments, defaults)
    rules, valueless = _rules(entry, given) if entry.compare else ({}, [])
    result: Fields = {}
    if () in rules:
        result["$"] = tuple(_walk(entry.values, given, (), (), rules))
    else:
        ruled = {place[0] for place in rules}
        for parameter, wanted in entry.values.items():
            if parameter not in ruled and parameter in arguments and equal(wanted, arguments[parameter]):
                result[parameter] = ()  # most fields end here
            else:
                result[parameter] = _of_parameter(entry, parameter, arguments, given, rules)
    for path, comparator in valueless:
        if select(path, arguments) or not _accepts_absence(comparator):
            name = parameter_of(path)
            result[name] = (*result.get(name, ()), *_by_itself(path, comparator, given))
        else:
            result.setdefault(parameter_of(path), ())
    if entry.extras == "forbid":
        result |= {
            name: (Difference(pointer((name,)), None, value, "the case forbids further parameters"),)
            for name, value in arguments.items()
            if name not in result
            and not (entry.default_is_absent and name in defaults and equal(value, defaults[name]))
        }
    return result


def differences(expected: Any, actual: Any, at: Location) -> Sequence[Difference]:
    """Return the differences between two values, both at `at`, where no comparator says otherwise."""
    return tuple(_walk(expected, actual, at, at, {}))


def _with_defaults(entry: ArgumentsExpected, arguments: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the schema's defaults in place of what was left out and the entry speaks of."""
    if not entry.default_is_absent or not defaults:
        return arguments
    spoken_of = {*entry.values, *map(parameter_of, entry.compare)}
    return {name: value for name, value in defaults.items() if name in spoken_of} | arguments


def _of_parameter(
    entry: ArgumentsExpected, parameter: str, arguments: dict[str, Any], given: dict[str, Any], rules: Rules
) -> Sequence[Difference]:
    wanted, at = entry.values[parameter], (parameter,)
    if parameter in arguments:
        return tuple(_walk(wanted, arguments[parameter], at, at, rules))
    if _accepts_absence(rules.get(at)) or (entry.null_is_absent and wanted is None):
        return ()
    if parameter in given:
        by_default = _walk(wanted, given[parameter], at, at, rules)
        return tuple(one._replace(note="omitted, so its default counts") for one in by_default)
    return (Difference(pointer(at), wanted, None, "omitted"),)


def _accepts_absence(comparator: Comparator | None) -> bool:
    return comparator is not None and (comparator.or_absent or comparator.kind == "ignore")


def parameter_of(path: str) -> str:
    """Return the parameter that a path starts with, `$` where it selects across parameters."""
    segments = compiled(path).segments
    selectors = segments[0].selectors if segments else ()
    name = getattr(selectors[0], "name", None) if len(selectors) == 1 else None
    return name if isinstance(name, str) else "$"


def _rules(entry: ArgumentsExpected, arguments: dict[str, Any]) -> tuple[Rules, list[tuple[str, Comparator]]]:
    """Return which comparator holds at which place, and the paths that have no expected value."""
    rules: Rules = {}
    valueless = []
    for path, comparator in entry.compare.items():
        wanted = select(path, entry.values)
        if not wanted:
            valueless.append((path, comparator))
        rules |= dict.fromkeys(wanted, comparator) | dict.fromkeys(select(path, arguments), comparator)
    return rules, valueless


def _by_itself(path: str, comparator: Comparator, given: dict[str, Any]) -> Iterator[Difference]:
    nodes = select(path, given)
    if not nodes:
        yield Difference(path, told(comparator), None, "omitted")
    for location, value in nodes.items():
        yield from _judged(comparator, None, value, location)


def told(comparator: Comparator, expected: Any = None) -> Any:
    """Return what a finding says was expected: the value, with the comparator where it is not plain equality."""
    if comparator.kind == "one_of":
        return {"one_of": list(comparator.values or ())}
    if comparator.kind == "regex":
        return {"regex": comparator.pattern}
    if comparator.kind in ("exact", "semantic"):
        return expected
    return {comparator.kind: expected}


def _judged(comparator: Comparator, expected: Any, actual: Any, at: Location) -> Iterator[Difference]:
    verdict = matches(comparator, expected, actual)
    if verdict is None:
        yield Difference(pointer(at), expected, actual, open=True)
    elif not verdict:
        yield Difference(pointer(at), told(comparator, expected), actual)


def _walk(expected: Any, actual: Any, at: Location, there: Location, rules: Rules) -> Iterator[Difference]:
    """Yield the differences below one place: `at` in the expected value, `there` in the actual one."""
    comparator = rules.get(at)
    if comparator is not None and comparator.kind in ("unordered", "subset"):
        yield from _loose(comparator, expected, actual, at, there, rules)
    elif comparator is not None:
        yield from _judged(comparator, expected, actual, there)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        yield from _walk_object(expected, actual, at, there, rules)
    elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple) and len(expected) == len(actual):
        for index, wanted in enumerate(expected):
            yield from _walk(wanted, actual[index], (*at, index), (*there, index), rules)
    elif not equal(expected, actual):
        yield Difference(pointer(there), expected, actual, "null" if actual is None else None)


def _walk_object(
    expected: dict[str, Any], actual: dict[str, Any], at: Location, there: Location, rules: Rules, extras: bool = False
) -> Iterator[Difference]:
    for key, wanted in expected.items():
        rule = rules.get((*at, key))
        if key in actual:
            yield from _walk(wanted, actual[key], (*at, key), (*there, key), rules)
        elif not _accepts_absence(rule):
            yield Difference(pointer((*there, key)), wanted, None, "omitted")
    for key in actual if not extras else ():
        # a comparator below that place speaks for it
        if key not in expected and not any(place[: len(there) + 1] == (*there, key) for place in rules):
            yield Difference(pointer((*there, key)), None, actual[key], "not expected")


def _loose(
    comparator: Comparator, expected: Any, actual: Any, at: Location, there: Location, rules: Rules
) -> Iterator[Difference]:
    """Compare without order (`unordered`), or ask only that what is expected be contained (`subset`)."""
    subset = comparator.kind == "subset"
    if isinstance(expected, dict) and isinstance(actual, dict):
        yield from _walk_object(expected, actual, at, there, rules, extras=subset)
        return
    if not (isinstance(expected, list | tuple) and isinstance(actual, list | tuple)):
        if not equal(expected, actual):
            yield Difference(pointer(there), told(comparator, expected), actual)
        return
    complete = len(expected) <= len(actual) if subset else len(expected) == len(actual)
    if complete and not any(len(place) > len(at) and place[: len(at)] == at for place in rules):
        complete = equal(expected, actual) or _holds(actual, expected, subset)
    elif complete:
        found = [
            [list(_walk(item, got, (*at, row), (*there, column), rules)) for column, got in enumerate(actual)]
            for row, item in enumerate(expected)
        ]
        taken = assign([[_fit(differences) for differences in row] for row in found])
        pairs = [found[row][column] for row, column in enumerate(taken) if column is not None]
        complete = all(one.open for pair in pairs for one in pair)
        if complete:
            yield from (one for pair in pairs for one in pair)
    if not complete:
        yield Difference(pointer(there), told(comparator, list(expected)), actual)


def _holds(actual: Sequence[Any], expected: Sequence[Any], subset: bool) -> bool:
    wanted, given = Counter(map(fingerprint, expected)), Counter(map(fingerprint, actual))
    return wanted <= given if subset else wanted == given


def _fit(differences: list[Difference]) -> float:
    if not differences:
        return 1.0
    # so near to 1 that no exact match is worth leaving a pair unmatched for
    return 0.999 if all(one.open for one in differences) else 0.0

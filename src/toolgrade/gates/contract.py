"""Whether a case can decide anything: names, paths, patterns and order, held against the tools on offer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import NoReturn

from toolgrade.core.case import Case
from toolgrade.core.expected import ArgumentsExpected, Expected
from toolgrade.core.tool import ToolSpec, validate_tools
from toolgrade.errors import ConfigError, suggestion
from toolgrade.gates.comparators import NEEDS_NO_VALUE
from toolgrade.gates.paths import compiled, select
from toolgrade.gates.schema_path import lacks

_NO_INTRINSIC_RULES = ("ordering", "outcome")


def validate_case(case: Case, tools: dict[str, ToolSpec] | None) -> None:
    """Refuse a case that could not decide what it declares.

    `tools` are those on offer; None where nobody knows them, then names and schema paths are not checked.

    Raises:
        ConfigError: the message names the case and its place, the field, what was found and expected, and
            the nearest known name.
    """
    if tools is None and case.tools is not None:
        tools = {tool.name: tool for tool in case.tools}
    if tools is not None:
        _check_tools(case, tools)
    _check_aggregate(case)
    expected = case.expected
    if expected is None:
        return
    if tools is not None:
        for field, name in _tool_names(expected):
            if name not in tools:
                known = ", ".join(sorted(tools)) or "none"
                _refuse(
                    case,
                    field,
                    f"unknown tool {name!r}",
                    f"one of the tools on offer: {known}",
                    suggestion(name, tools),
                )
    _check_selection(case, expected)
    _check_ordering(case, expected)
    _check_paths(case, expected)
    for index, entry in enumerate(expected.arguments or ()):
        field = f"expected.arguments[{index}]"
        _check_comparators(case, field, entry)
        if tools is not None:
            _check_parameters(case, field, entry, tools[entry.tool])


def _refuse(case: Case, field: str, found: str, wanted: str, hint: str = "") -> NoReturn:
    place = f" ({case.place})" if case.place else ""
    raise ConfigError(f"case {case.id!r}{place}: {field}: {found}; expected {wanted}.{hint}")


def _check_tools(case: Case, tools: Mapping[str, ToolSpec]) -> None:
    try:
        validate_tools(tools)
    except ConfigError as problem:
        if case.tools is None:
            raise
        _refuse(case, "tools", str(problem), "schemas that can be used")


def _check_aggregate(case: Case) -> None:
    for field, checks in (("must_pass", case.aggregate.must_pass), ("weights", tuple(case.aggregate.weights))):
        for check in checks:
            if check in _NO_INTRINSIC_RULES and (case.expected is None or getattr(case.expected, check) is None):
                _refuse(
                    case,
                    f"aggregate.{field}",
                    f"{check!r}, which the case expects nothing of and which then never decides",
                    f"an expectation in expected.{check}, or {check!r} taken out",
                )


def _tool_names(expected: Expected) -> Iterator[tuple[str, str]]:
    """Yield every tool name that a case writes, with its field."""
    selection, utilization, recovery = expected.selection, expected.utilization, expected.recovery
    if selection is not None:
        extras = selection.extras if isinstance(selection.extras, tuple) else ()
        for field, names in (
            ("required", selection.required or ()),
            ("extras", extras),
            ("forbidden", selection.forbidden),
            *((f"alternatives[{index}]", names) for index, names in enumerate(selection.alternatives)),
        ):
            yield from ((f"expected.selection.{field}", name) for name in names)
    for index, entry in enumerate(expected.arguments or ()):
        yield f"expected.arguments[{index}].tool", entry.tool
    for index, constraint in enumerate(expected.ordering or ()):
        yield f"expected.ordering[{index}].before", constraint.before
        yield f"expected.ordering[{index}].after", constraint.after
    for index, use in enumerate(utilization.must_use if utilization is not None else ()):
        yield f"expected.utilization.must_use[{index}].tool", use.tool
    if recovery is not None:
        for index, fault in enumerate(recovery.faults):
            yield f"expected.recovery.faults[{index}].tool", fault.tool
        for name, stand_ins in recovery.fallbacks.items():
            yield from (("expected.recovery.fallbacks", one) for one in (name, *stand_ins))
        if recovery.must_escalate is not None:
            yield "expected.recovery.must_escalate", recovery.must_escalate
        yield from (("expected.recovery.error_when", name) for name in recovery.error_when)
        yield from (("expected.recovery.empty_is_error", name) for name in recovery.empty_is_error)


def _check_selection(case: Case, expected: Expected) -> None:
    """Refuse what contradicts `selection`: a call that is expected elsewhere and must not be made."""
    selection = expected.selection
    if selection is None:
        return
    options = (selection.required, *selection.alternatives) if selection.required is not None else ()
    for index, option in enumerate(selection.alternatives):
        for name in set(option) & set(selection.forbidden):
            _refuse(
                case,
                f"expected.selection.alternatives[{index}]",
                f"forbidden tool {name!r}",
                "tools that may be called",
            )
    named = {name for option in options for name in option}
    named |= set(selection.extras) if isinstance(selection.extras, tuple) else set()
    any_other = selection.extras == "allow" and (selection.required is None or any(options))
    for index, entry in enumerate(expected.arguments or ()):
        if entry.tool in selection.forbidden or not (any_other or entry.tool in named):
            found = f"a call of {entry.tool!r}, which expected.selection does not allow"
            _refuse(case, f"expected.arguments[{index}].tool", found, "a tool that may be called")
    limit = expected.efficiency.max_calls if expected.efficiency is not None else None
    least = min(map(len, options), default=0)
    if limit is not None and limit < least:
        _refuse(
            case,
            "expected.efficiency.max_calls",
            f"{limit}, fewer than the {least} required calls",
            f"at least {least}",
        )


def _check_ordering(case: Case, expected: Expected) -> None:
    graph: dict[str, set[str]] = {}
    for constraint in expected.ordering or ():
        graph.setdefault(constraint.after, set()).add(constraint.before)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        circle = " before ".join(problem.args[1])
        _refuse(case, "expected.ordering", f"a cycle: {circle}", "constraints that some order can meet")


def _check_paths(case: Case, expected: Expected) -> None:
    """Refuse what is no JSONPath and no regular expression, wherever a case may write one."""
    for field, path, pattern in _written(expected):
        if path is not None:
            try:
                compiled(path)
            except ConfigError as problem:
                _refuse(case, field, str(problem).partition("; expected ")[0], "a JSONPath like $.flights[*].date")
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as problem:
                _refuse(case, field, f"{pattern!r} is no regular expression: {problem}", "one that Python compiles")


def _written(expected: Expected) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the field, path and pattern of everything that holds one or both."""
    for index, entry in enumerate(expected.arguments or ()):
        for path, rule in entry.compare.items():
            yield f"expected.arguments[{index}].compare[{path!r}]", path, rule.pattern
    for index, assertion in enumerate(expected.outcome.state if expected.outcome is not None else ()):
        yield f"expected.outcome.state[{index}].path", assertion.path, None
    for index, use in enumerate(expected.utilization.must_use if expected.utilization is not None else ()):
        yield f"expected.utilization.must_use[{index}].path", use.path, None
    for name, when in (expected.recovery.error_when if expected.recovery is not None else {}).items():
        yield f"expected.recovery.error_when.{name}", when.path, when.regex


def _check_comparators(case: Case, field: str, entry: ArgumentsExpected) -> None:
    for path, rule in entry.compare.items():
        if rule.kind not in NEEDS_NO_VALUE and not select(path, entry.values):
            wanted = f"a value at this path in {field}.values, or a comparator out of {sorted(NEEDS_NO_VALUE)}"
            _refuse(
                case, f"{field}.compare[{path!r}]", f"comparator {rule.kind!r} without a value to compare with", wanted
            )


def _check_parameters(case: Case, field: str, entry: ArgumentsExpected, tool: ToolSpec) -> None:
    properties = tool.parameters.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    for written, where in [
        *((_quoted(name), f"{field}.values") for name in entry.values if name not in names),
        *((path, f"{field}.compare") for path in entry.compare),
    ]:
        missing = lacks(tool.parameters, written)
        if missing is not None:
            _refuse(
                case,
                where,
                f"{written} where tool {tool.name!r} has no {missing!r}",
                f"a path in its schema; its parameters are {', '.join(names) or 'none'}",
                suggestion(missing, names),
            )


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"$['{escaped}']"

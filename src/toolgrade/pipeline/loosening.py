"""What makes a suite easier to pass: expectations removed, comparators loosened, budgets raised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.expected import (
    ArgumentsExpected,
    Comparator,
    EfficiencyExpected,
    Expected,
    RecoveryExpected,
    SelectionExpected,
)
from toolgrade.core.finding import CHECKS

RANK = {
    "exact": 0,
    "one_of": 1,
    "number": 1,
    "text": 1,
    "date": 1,
    "datetime": 1,
    "unordered": 1,
    "subset": 2,
    "regex": 2,
    "semantic": 3,
    "ignore": 4,
}
"""How much a comparator lets through; within a rank only a comparator's own parameters are compared."""


def loosened(old: Mapping[str, Case], new: Mapping[str, Case]) -> Iterator[str]:
    """Yield one sentence for each way in which the cases `new` are easier to pass than `old`."""
    for name, case in old.items():
        if name not in new:
            yield f"case {name}: removed"
        else:
            for told in _case(case.expected or Expected.model_construct(), new[name].expected):
                yield f"case {name}: {told}"
            if case.aggregate != new[name].aggregate:
                yield f"case {name}: aggregate policy changed"


def _case(old: Expected, new: Expected | None) -> Iterator[str]:
    for check in CHECKS:
        before = getattr(old, check, None)
        after = getattr(new, check, None) if new is not None else None
        if before is None:
            continue
        if after is None:
            yield f"expected.{check}: removed"
        elif isinstance(before, SelectionExpected):
            yield from _selection(before, after)
        elif check == "arguments":
            yield from _arguments(before, after)
        elif isinstance(before, EfficiencyExpected):
            yield from _budgets(before, after)
        elif isinstance(before, RecoveryExpected):
            yield from _recovery(before, after)
        else:
            yield from _removed(check, _items(before), _items(after))


def _selection(old: SelectionExpected, new: SelectionExpected) -> Iterator[str]:
    if old.required is not None and not old.required and new.required != ():
        yield "expected.selection.required: no longer says that no tool may be called"
    for tool, count in (Counter(old.required or ()) - Counter(new.required or ())).items():
        yield f"expected.selection.required: {tool} removed" + (f" ({count} times)" if count > 1 else "")
    for tool in set(old.forbidden) - set(new.forbidden):
        yield f"expected.selection.forbidden: {tool} removed"
    for alternative in set(new.alternatives) - set(old.alternatives):
        yield f"expected.selection.alternatives: {list(alternative)} added"
    if old.extras != new.extras and new.extras != "forbid":
        yield f"expected.selection.extras: {_told(old.extras)} → {_told(new.extras)}"
    if new.judge_routes and not old.judge_routes:
        yield "expected.selection.judge_routes: turned on"


def _arguments(old: tuple[ArgumentsExpected, ...], new: tuple[ArgumentsExpected, ...]) -> Iterator[str]:
    """Entries are compared in their order among the entries of the same tool."""
    later = _by_tool(new)
    for tool, entries in _by_tool(old).items():
        for number, entry in enumerate(entries):
            place = f"expected.arguments {tool}" + (f" #{number + 1}" if len(entries) > 1 else "")
            if number >= len(later.get(tool, [])):
                yield f"{place}: removed"
                continue
            after = later[tool][number]
            for parameter in entry.values.keys() - after.values.keys():
                yield f"{place}.{parameter}: removed"
            for path in sorted({*entry.compare, *after.compare}):
                if _looser(entry.compare.get(path, Comparator()), after.compare.get(path, Comparator())):
                    was, now = entry.compare.get(path, Comparator()).kind, after.compare.get(path, Comparator()).kind
                    yield f"{place} compare {path}: loosened ({was} → {now})"
            if entry.extras == "forbid" and after.extras == "allow":
                yield f"{place}.extras: forbid → allow"


def _by_tool(entries: tuple[ArgumentsExpected, ...]) -> dict[str, list[ArgumentsExpected]]:
    grouped: dict[str, list[ArgumentsExpected]] = {}
    for entry in entries:
        grouped.setdefault(entry.tool, []).append(entry)
    return grouped


def _looser(old: Comparator, new: Comparator) -> bool:
    if new.or_absent and not old.or_absent:
        return True
    if old.kind != new.kind:
        return RANK[new.kind] >= RANK[old.kind] and new.kind != "exact"
    more = len(new.values or ()) > len(old.values or ())
    return more or (new.abs or 0) > (old.abs or 0) or (new.rel or 0) > (old.rel or 0) or new.pattern != old.pattern


def _budgets(old: EfficiencyExpected, new: EfficiencyExpected) -> Iterator[str]:
    for budget in ("max_steps", "max_calls", "max_tokens"):
        before, after = getattr(old, budget), getattr(new, budget)
        if before is not None and (after is None or after > before):
            yield f"expected.efficiency.{budget}: {before} → {'none' if after is None else after}"


def _recovery(old: RecoveryExpected, new: RecoveryExpected) -> Iterator[str]:
    if new.max_retries > old.max_retries:
        yield f"expected.recovery.max_retries: {old.max_retries} → {new.max_retries}"
    if old.must_escalate is not None and new.must_escalate is None:
        yield "expected.recovery.must_escalate: removed"
    if new.may_give_up and not old.may_give_up:
        yield "expected.recovery.may_give_up: false → true"
    for tool, names in new.fallbacks.items():
        for name in set(names) - set(old.fallbacks.get(tool, names if tool not in old.fallbacks else ())):
            yield f"expected.recovery.fallbacks.{tool}: {name} added"
    yield from _removed("recovery.faults", _items(old.faults), _items(new.faults))


def _items(expected: Any) -> list[str]:
    """Return each stated expectation as a text that tells it apart."""
    if isinstance(expected, tuple):
        return [item.model_dump_json(exclude_unset=True) for item in expected]
    return [
        f"{name} {item if isinstance(item, str) else item.model_dump_json(exclude_unset=True)}"
        for name in type(expected).model_fields
        for item in getattr(expected, name)
    ]


def _removed(place: str, old: list[str], new: list[str]) -> Iterator[str]:
    for item in (Counter(old) - Counter(new)).elements():
        yield f"expected.{place}: {item} removed or changed"


def _told(extras: str | tuple[str, ...]) -> str:
    return extras if isinstance(extras, str) else str(list(extras))

"""What makes a suite easier to pass: expectations removed, comparators loosened, budgets raised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolgrade.core.case import AggregatePolicy, Case
from toolgrade.core.expected import (
    ArgumentsExpected,
    Comparator,
    EfficiencyExpected,
    Expected,
    RecoveryExpected,
    SelectionExpected,
)
from toolgrade.core.finding import CHECKS
from toolgrade.gates.paths import select

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
            for told in _aggregate(case.aggregate, new[name].aggregate):
                yield f"case {name}: {told}"


def _aggregate(old: AggregatePolicy, new: AggregatePolicy) -> Iterator[str]:
    """Every check must pass under `binary`, so nothing is looser than that; weights have no looser direction."""
    if new.policy == "binary":
        return
    if old.policy == "binary":
        yield f"aggregate.policy: binary → {new.policy}"
        return
    for check in old.must_pass:
        if check not in new.must_pass:
            yield f"aggregate.must_pass: {check} removed"
    if (new.threshold or 0) < (old.threshold or 0):
        yield f"aggregate.threshold: {old.threshold:g} → {new.threshold:g}"
    kept = {check: weight for check, weight in old.weights.items() if check not in new.must_pass}
    if kept != new.weights:
        yield f"aggregate.weights: {old.weights} → {new.weights}"


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
    for tool in sorted(set(old.forbidden) - set(new.forbidden)):
        yield f"expected.selection.forbidden: {tool} removed"
    for alternative in sorted(set(new.alternatives) - set(old.alternatives)):
        yield f"expected.selection.alternatives: {list(alternative)} added"
    if _more_extras(old.extras, new.extras):
        yield f"expected.selection.extras: {_told(old.extras)} → {_told(new.extras)}"
    if new.judge_routes and not old.judge_routes:
        yield "expected.selection.judge_routes: turned on"


def _more_extras(old: str | tuple[str, ...], new: str | tuple[str, ...]) -> bool:
    if old == "allow" or new == "forbid":
        return False
    return new == "allow" or old == "forbid" or bool(set(new) - set(old))


def _arguments(old: tuple[ArgumentsExpected, ...], new: tuple[ArgumentsExpected, ...]) -> Iterator[str]:
    """Entries that are not there as they were are compared in their order among those of the same tool."""
    later = _by_tool([entry for entry in new if entry not in old])
    for tool, entries in _by_tool([entry for entry in old if entry not in new]).items():
        for number, entry in enumerate(entries):
            place = f"expected.arguments {tool}" + (f" #{number + 1}" if len(entries) > 1 else "")
            if number >= len(later.get(tool, [])):
                yield f"{place}: removed"
                continue
            yield from _entry(place, entry, later[tool][number])


def _entry(place: str, old: ArgumentsExpected, new: ArgumentsExpected) -> Iterator[str]:
    for parameter in sorted(old.values.keys() - new.values.keys()):
        yield f"{place}.{parameter}: removed"
    for path in sorted({*old.compare, *new.compare}):
        was, now = old.compare.get(path, Comparator()), new.compare.get(path, Comparator())
        if path not in new.compare and not select(path, new.values):
            yield f"{place} compare {path}: removed ({_named(was)})"
        elif _looser(was, now):
            yield f"{place} compare {path}: loosened ({_named(was)} → {_named(now)})"
        elif now.kind == "subset" and select(path, old.values) != select(path, new.values):
            yield f"{place} {path}: what `subset` asks for changed"
    if old.extras == "forbid" and new.extras == "allow":
        yield f"{place}.extras: forbid → allow"
    for name in ("default_is_absent", "null_is_absent"):
        if getattr(new, name) and not getattr(old, name):
            yield f"{place}.{name}: false → true"


def _named(comparator: Comparator) -> str:
    rest = comparator.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
    return comparator.kind + (f" {rest}" if rest else "")


def _by_tool(entries: Sequence[ArgumentsExpected]) -> dict[str, list[ArgumentsExpected]]:
    grouped: dict[str, list[ArgumentsExpected]] = {}
    for entry in entries:
        grouped.setdefault(entry.tool, []).append(entry)
    return grouped


def _looser(old: Comparator, new: Comparator) -> bool:
    if new.or_absent and not old.or_absent:
        return True
    if old.kind != new.kind:
        return RANK[new.kind] >= RANK[old.kind] and new.kind != "exact"
    more = any(value not in (old.values or ()) for value in new.values or ())
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
        for name in sorted(set(names) - set(old.fallbacks.get(tool, names))):
            yield f"expected.recovery.fallbacks.{tool}: {name} added"
    for tool in sorted(old.fallbacks.keys() - new.fallbacks.keys()):
        yield f"expected.recovery.fallbacks.{tool}: removed, so any other tool may stand in"
    for tool in sorted(old.error_when):
        if old.error_when[tool] != new.error_when.get(tool):
            yield f"expected.recovery.error_when.{tool}: removed or changed"
    for tool in sorted(set(old.empty_is_error) - set(new.empty_is_error)):
        yield f"expected.recovery.empty_is_error: {tool} removed"
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

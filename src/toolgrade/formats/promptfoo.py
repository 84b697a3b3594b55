"""promptfoo configurations as cases: the assertions on the trajectory, with the meaning that they have there.

`trajectory:tool-used` (and `not-`), `trajectory:tool-sequence`, `trajectory:tool-args-match`,
`trajectory:step-count` for tools, `tool-call-f1`. What has no counterpart is kept in `metadata.not_converted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.expected import (
    ArgumentsExpected,
    Comparator,
    EfficiencyExpected,
    Expected,
    OrderingExpected,
    SelectionExpected,
)
from toolgrade.formats.access import as_object, opt_int, opt_list, opt_object, opt_text
from toolgrade.formats.format import Format
from toolgrade.formats.reading import Part, read_cases
from toolgrade.formats.record import CaseRecord
from toolgrade.formats.source import Source
from toolgrade.formats.yaml_source import YamlSource

_INPUTS = ("input", "prompt", "query", "question", "message", "user_input", "request")
_KINDS = ("trajectory:", "not-trajectory:", "tool-call-f1")


@dataclass
class _Wanted:
    """What the assertions of one test add up to."""

    required: Counter[str] = field(default_factory=Counter)
    forbidden: set[str] = field(default_factory=set)
    only: set[str] | None = None
    exact: bool = False
    arguments: list[ArgumentsExpected] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    max_calls: int | None = None
    left: list[Any] = field(default_factory=list)

    def require(self, names: list[str]) -> None:
        """Ask for these calls; what another assertion asked for already is not asked for twice."""
        self.required |= Counter(names)

    def expected(self) -> Expected | None:
        """Return the expectation, None where no assertion could be expressed."""
        fields: dict[str, Any] = {}
        extras: Any = "forbid" if self.exact else "allow" if self.only is None else tuple(sorted(self.only))
        if self.required or self.forbidden or self.exact:
            names = tuple(self.required.elements())
            forbidden = tuple(sorted(self.forbidden - set(names)))
            fields["selection"] = SelectionExpected(required=names or None, extras=extras, forbidden=forbidden)
        if self.arguments:
            fields["arguments"] = tuple(self.arguments)
        known = list(dict.fromkeys(self.order))
        if len(known) > 1:
            fields["ordering"] = tuple(OrderingExpected(before=one, after=two) for one, two in pairwise(known))
        if self.max_calls is not None:
            fields["efficiency"] = EfficiencyExpected(max_calls=self.max_calls)
        return Expected(**fields) if fields else None


def _split(value: Any) -> Iterator[Part]:
    config = {"tests": value} if isinstance(value, list) else as_object(value, "")
    shared = opt_object(config.get("defaultTest"), "defaultTest") if isinstance(config.get("defaultTest"), dict) else {}
    for number, test in enumerate(opt_list(config.get("tests"), "tests")):
        yield Part(test, f"tests[{number}]", shared, default_id=f"test-{number + 1}")


def _case(part: Part, place: str) -> Case:
    test = as_object(part.value, "")
    wanted = _Wanted()
    asserts = [*opt_list(part.context.get("assert"), "defaultTest.assert"), *opt_list(test.get("assert"), "assert")]
    for number, item in enumerate(asserts):
        if not _add(wanted, as_object(item, f"assert[{number}]"), f"assert[{number}]"):
            wanted.left.append(item)
    given = opt_object(test.get("vars"), "vars")
    texts = [given[name] for name in _INPUTS if isinstance(given.get(name), str)]
    texts += [value for value in given.values() if isinstance(value, str) and len(given) == 1]
    metadata = {"vars": given, "not_converted": wanted.left, **opt_object(test.get("metadata"), "metadata")}
    return Case(
        id=opt_text(test.get("description"), "description") or part.default_id,
        input=texts[0] if texts else None,
        expected=wanted.expected(),
        metadata={key: value for key, value in metadata.items() if value},
        place=place,
    )


def _add(wanted: _Wanted, item: dict[str, Any], at: str) -> bool:
    """Add one assertion; False where it has no counterpart."""
    kind, value = str(item.get("type")), item.get("value")
    if kind == "trajectory:tool-used":
        return _tool_used(wanted, value)
    if kind == "not-trajectory:tool-used":
        names = _names(value)
        wanted.forbidden |= set(names or ())
        return names is not None
    if kind == "trajectory:tool-sequence":
        return _sequence(wanted, value)
    if kind == "trajectory:tool-args-match":
        return _arguments(wanted, value, at)
    if kind == "trajectory:step-count":
        return _step_count(wanted, value)
    if kind == "tool-call-f1" and item.get("threshold", 1) == 1:
        names = _names([name.strip() for name in value.split(",")] if isinstance(value, str) else value)
        wanted.require(sorted(set(names or ())))
        wanted.only = set(names or ()) or wanted.only
        return bool(names)
    return False


def _names(value: Any) -> list[str] | None:
    """Return tool names out of a name, a list, or a matcher; None for patterns, which are no names."""
    items = value if isinstance(value, list) else [value]
    found = [item.get("name") if isinstance(item, dict) and "pattern" not in item else item for item in items]
    names = [name for name in found if isinstance(name, str) and name]
    return names if names and len(names) == len(items) else None


def _tool_used(wanted: _Wanted, value: Any) -> bool:
    names = _names(value)
    if names is None:
        return False
    if isinstance(value, dict) and value.get("max") is not None:
        if value["max"] != 0:
            return False
        wanted.forbidden |= set(names)
        return True
    least = (opt_int(value.get("min")) if isinstance(value, dict) else None) or 1
    wanted.require([name for name in names for _ in range(min(least, 1000))])
    return True


def _sequence(wanted: _Wanted, value: Any) -> bool:
    steps = value.get("steps") if isinstance(value, dict) else value
    mode = value.get("mode", "in_order") if isinstance(value, dict) else "in_order"
    names = _names(steps) if isinstance(steps, list) else None
    if names is None or mode not in ("in_order", "exact") or wanted.order:
        return False
    wanted.require(names)
    wanted.order = names
    wanted.exact = wanted.exact or mode == "exact"
    return True


def _arguments(wanted: _Wanted, value: Any, at: str) -> bool:
    if not isinstance(value, dict) or {"defaults", "ignore", "pattern"} & set(value):
        return False
    names, given = _names(value), value.get("args", value.get("arguments"))
    if names is None or not isinstance(given, dict) or value.get("mode", "partial") not in ("partial", "exact"):
        return False
    exact = value.get("mode") == "exact"
    if exact or given:
        nested = (
            {} if exact else {_path(key): Comparator(kind="subset") for key in given if isinstance(given[key], dict)}
        )
        extras: Any = "forbid" if exact else "allow"
        wanted.arguments.append(ArgumentsExpected(tool=names[0], values=given, compare=nested, extras=extras))
    wanted.require(names)
    return True


def _path(key: str) -> str:
    return f"$.{key}" if key.isidentifier() else "$['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _step_count(wanted: _Wanted, value: Any) -> bool:
    most = opt_int(value.get("max")) if isinstance(value, dict) else None
    if most is None or most < 0 or value.get("type") != "tool" or set(value) - {"type", "max"}:
        return False
    wanted.max_calls = most if wanted.max_calls is None else min(most, wanted.max_calls)
    return True


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case a test."""
    return read_cases(YamlSource(source.path), _case, _split)


def _detect(source: Source) -> bool:
    first = source.first
    if first is None:
        head = source.head
        return b"assert:" in head and any(kind.encode() in head for kind in _KINDS) and not source.not_text
    tests = first.get("tests") if isinstance(first, dict) else first
    items = [test.get("assert") for test in tests if isinstance(test, dict)] if isinstance(tests, list) else []
    asserts = [item for found in items if isinstance(found, list) for item in found if isinstance(item, dict)]
    return any(str(item.get("type")).startswith(_KINDS) for item in asserts)


FORMAT = Format(
    name="promptfoo",
    description="promptfoo configurations with trajectory assertions, as cases",
    looked_for='"tests" whose "assert" holds trajectory:* or tool-call-f1',
    detect=_detect,
    cases=cases,
)

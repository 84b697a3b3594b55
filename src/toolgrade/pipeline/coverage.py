"""What the cases of a run cover: hard-case tags, tools, argument edge cases, error kinds; the empty buckets named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.model import Frozen
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError

HARD_TAGS = ("overlapping_tools", "missing_required", "no_tool", "multi_turn", "misleading_identifier")
"""The tags of cases that agents find hard; a suite without one of them leaves a hole."""

ARGUMENT_EDGES = (
    "empty_string",
    "null",
    "zero",
    "negative_number",
    "fraction",
    "boolean",
    "empty_list",
    "long_list",
    "nested_object",
    "non_ascii",
    "date",
    "long_text",
)
"""Kinds of expected values on which argument filling tends to break."""

ERROR_KINDS = ("invalid_request", "transient", "permission", "empty", "malformed")
"""Kinds of failed results, as the recovery gate classifies them."""


class Coverage(Frozen):
    """How many cases fall into each bucket, by family; `empty` names the buckets that none falls into.

    `errors` counts failed results seen in the traces and faults or `error:` tags declared by the cases.
    """

    cases: int
    tags: dict[str, int]
    tools: dict[str, int]
    arguments: dict[str, int]
    errors: dict[str, int]

    @property
    def empty(self) -> tuple[str, ...]:
        """The empty buckets, as `family:name`."""
        return tuple(name for name, count in self.buckets().items() if not count)

    def buckets(self) -> dict[str, int]:
        """Return every bucket as `family:name` with its count."""
        families = {"tag": self.tags, "tool": self.tools, "argument": self.arguments, "error": self.errors}
        return {f"{family}:{name}": count for family, names in families.items() for name, count in names.items()}


def coverage(cases: Iterable[Case], tools: Mapping[str, ToolSpec] | None, error_kinds: Mapping[str, int]) -> Coverage:
    """Return the coverage of `cases` over `tools`, with the error kinds that the run's traces showed."""
    cases = list(cases)
    tags = Counter(dict.fromkeys(HARD_TAGS, 0))
    named = Counter(dict.fromkeys(tools or (), 0))
    edges = Counter(dict.fromkeys(ARGUMENT_EDGES, 0))
    errors = Counter({kind: error_kinds.get(kind, 0) for kind in ERROR_KINDS})
    for case in cases:
        tags.update(tag for tag in set(case.tags) if not tag.startswith("error:"))
        errors.update(tag.removeprefix("error:") for tag in set(case.tags) if tag.startswith("error:"))
        named.update(_tools(case))
        edges.update(_edges(case))
        if case.expected is not None and case.expected.recovery is not None:
            errors.update({f"fault {fault.kind}" for fault in case.expected.recovery.faults})
    return Coverage(cases=len(cases), tags=dict(tags), tools=dict(named), arguments=dict(edges), errors=dict(errors))


def missing(covered: Coverage, required: Iterable[str]) -> list[str]:
    """Return the required buckets (`tag:no_tool`, `tool:*`, …) that are empty.

    Raises:
        ConfigError: a pattern matches no bucket.
    """
    buckets = covered.buckets()
    holes: list[str] = []
    for pattern in required:
        found = [name for name in buckets if fnmatchcase(name, pattern)]
        if not found:
            raise ConfigError(
                f"require_coverage {pattern!r} matches no coverage bucket; expected FAMILY:NAME with a family of "
                "tag, tool, argument, error, as in 'tag:no_tool' or 'tool:*'"
            )
        holes += [name for name in found if not buckets[name] and name not in holes]
    return holes


def _tools(case: Case) -> set[str]:
    expected = case.expected
    if expected is None:
        return set()
    names: set[str] = set()
    if expected.selection is not None:
        names.update(expected.selection.required or (), *expected.selection.alternatives)
    names.update(entry.tool for entry in expected.arguments or ())
    for pair in expected.ordering or ():
        names.update((pair.before, pair.after))
    if expected.utilization is not None:
        names.update(use.tool for use in expected.utilization.must_use)
    if expected.recovery is not None:
        names.update(fault.tool for fault in expected.recovery.faults)
    return names


def _edges(case: Case) -> set[str]:
    found: set[str] = set()
    if case.expected is not None:
        for entry in case.expected.arguments or ():
            for value in entry.values.values():
                found |= _value_edges(value)
    return found


def _value_edges(value: Any) -> set[str]:
    if isinstance(value, str):
        return _text_edges(value)
    if isinstance(value, bool):
        return {"boolean"}
    if value is None:
        return {"null"}
    if isinstance(value, int | float):
        marks = {"zero": value == 0, "negative_number": value < 0, "fraction": value != int(value)}
        return {name for name, holds in marks.items() if holds}
    if isinstance(value, list):
        own = {"empty_list"} if not value else {"long_list"} if len(value) >= 3 else set()
        return own.union(*(_value_edges(item) for item in value))
    if isinstance(value, dict):
        return {"nested_object"}.union(*(_value_edges(item) for item in value.values()))
    return set()


def _text_edges(text: str) -> set[str]:
    marks = {
        "empty_string": not text.strip(),
        "non_ascii": not text.isascii(),
        "long_text": len(text) > 200,
        "date": len(text) >= 10 and text[4:5] == text[7:8] == "-" and text[:4].isdigit() and text[8:10].isdigit(),
    }
    return {name for name, holds in marks.items() if holds}

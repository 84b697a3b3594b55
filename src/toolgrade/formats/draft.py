"""Cases drafted from good traces, for a person to check: what the traces did, not what is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from toolgrade.core.identity import canonical_json
from toolgrade.core.trace import ToolResult, Trace
from toolgrade.core.view import CallView, TraceView
from toolgrade.formats.record import Record
from toolgrade.formats.yaml_text import write_yaml

_HEAD = """\
# Drafted from recorded traces. A trace shows what one agent did, not what is right:
# go through every line marked CHECK, correct or delete it, and delete the mark.
"""
_NOTES = {
    "tags": "CHECK: say what is hard here, of: overlapping_tools, missing_required, no_tool, multi_turn, "
    "misleading_identifier",
    "selection": "CHECK: does the task need each of these calls? `extras` allows others unless you say `forbid`.",
    "arguments": "CHECK: must each value be exactly this? Delete what may differ; see `compare` for looser relations.",
    "ordering": "CHECK: would another order be wrong? Delete the pairs that only happened so.",
    "efficiency": "CHECK: the most calls that a good trace made; leave room, or delete it.",
    "outcome": "CHECK: assert on the recorded final state, not on what the agent says.",
}
_LONG_TEXT_WORDS = 6


class Draft(NamedTuple):
    """The text of a suite, how many cases it holds, and why traces were left out."""

    text: str
    case_count: int
    left_out: tuple[str, ...]


def draft_cases(records: Iterable[Record], suite: str = "draft") -> Draft:
    """Return a commented suite in YAML with one case for each case id (or trace without one).

    Several good traces of one case leave only what all of them have in common. Left out are records without
    trace, traces that ended in an error, and traces that their source rewarded with less than 1.
    """
    left_out: list[str] = []
    groups: dict[str, list[Trace]] = {}
    for record in records:
        reason = _no_good(record)
        if record.trace is None or reason:
            left_out.append(reason or "")
        else:
            groups.setdefault(record.trace.case_id or record.trace.id, []).append(record.trace)
    cases = [_case(name, traces) for name, traces in groups.items()]
    if not cases:
        return Draft("", 0, tuple(left_out))
    return Draft(_HEAD + _commented(write_yaml({"suite": suite, "cases": cases})), len(cases), tuple(left_out))


def _no_good(record: Record) -> str | None:
    trace = record.trace
    if trace is None:
        return record.error
    if trace.error:
        return f"{record.origin.source}: trace {trace.id!r} ended in an error: {trace.error}"
    state = trace.final_state
    reward = state.get("reward") if trace.final_state_basis == "recorded_verdict" and isinstance(state, dict) else None
    if isinstance(reward, int | float) and reward < 1:
        return f"{record.origin.source}: trace {trace.id!r} was rewarded with {reward} by its source"
    return None


def _case(name: str, traces: Sequence[Trace]) -> dict[str, Any]:
    views = [TraceView(trace) for trace in traces]
    calls = [[call for call in view.calls if not _failed(call.result)] for view in views]
    expected = {
        "selection": _selection(calls),
        "arguments": _arguments(calls),
        "ordering": _ordering(calls),
        "efficiency": {"max_calls": max(len(view.calls) for view in views)} if any(calls) else None,
        "outcome": _outcome(traces),
    }
    said = views[0].said("user")
    return {
        "id": name,
        "input": said[0].text if said else None,
        "tags": ["multi_turn"] if min(view.turns for view in views) > 1 else [],
        "expected": {check: field for check, field in expected.items() if field},
        "metadata": {"drafted_from": [trace.id for trace in traces]},
    }


def _failed(result: ToolResult | None) -> bool:
    """Whether a call visibly failed: a draft should not ask for it. Recovery decides this by rules of its own."""
    if result is None:
        return False
    told = isinstance(result.content, str) and result.content.lstrip().lower().startswith("error")
    return bool(result.is_error or result.error or told or (result.status or 0) >= 400)


def _selection(calls: list[list[CallView]]) -> dict[str, Any] | None:
    """Return the tools that every trace called, as often as each did; none at all where no trace called any."""
    common = Counter(call.name for call in calls[0])
    for others in calls[1:]:
        common &= Counter(call.name for call in others)
    return {"required": list(common.elements())} if common or not any(calls) else None


def _arguments(calls: list[list[CallView]]) -> list[dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = {}
    for call in calls[0]:
        values = dict(call.arguments or {})
        for others in calls[1:]:
            same = [_equal(values, other) for other in others if other.name == call.name]
            values = max(same, key=len, default={})
        if values:
            long = [name for name, value in values.items() if _is_long(value)]
            entry: dict[str, Any] = {"tool": call.name, "values": values}
            if long:
                entry["compare"] = {_path(name): "semantic" for name in long}
            entries.setdefault(canonical_json(entry), entry)
    return list(entries.values())


def _equal(values: dict[str, Any], other: CallView) -> dict[str, Any]:
    theirs = other.arguments or {}
    return {
        name: value
        for name, value in values.items()
        if name in theirs and canonical_json(theirs[name]) == canonical_json(value)
    }


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) >= _LONG_TEXT_WORDS


def _path(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"$.{name}"
    return "$['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _ordering(calls: list[list[CallView]]) -> list[dict[str, str]]:
    """Return neighbouring tools, in order of their first calls, that stand in that order in every trace."""
    names = list(dict.fromkeys(call.name for call in calls[0]))
    pairs = pairwise(names)
    return [{"before": one, "after": two} for one, two in pairs if all(_precedes(one, two, made) for made in calls)]


def _precedes(before: str, after: str, made: list[CallView]) -> bool:
    first = min((call.step for call in made if call.name == before), default=None)
    return first is not None and all(first < call.step for call in made if call.name == after)


def _outcome(traces: Sequence[Trace]) -> dict[str, Any] | None:
    """Return the recorded reward as an expectation; an environment's state is for a person to pick from."""
    state = traces[0].final_state
    if traces[0].final_state_basis == "recorded_verdict" and isinstance(state, dict) and "reward" in state:
        return {"state": [{"path": "$.reward", "equals": 1}]}
    return None


def _commented(text: str) -> str:
    """Put the notes above the fields that they are about; values stand deeper than the fields, so none is hit."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("- id:"):
            inside = False
            out.append("")
        key = re.match(r"    (\w+):" if inside else r"  (\w+):", line)
        if key and key[1] in _NOTES:
            out.append(f"{'    ' if inside else '  '}# {_NOTES[key[1]]}")
        inside = line == "  expected:" or (inside and not re.match(r"  \w", line))
        out.append(line)
    return "\n".join(out) + "\n"

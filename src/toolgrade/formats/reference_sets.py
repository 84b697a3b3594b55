"""Data sets of reference trajectories: LangSmith and agentevals examples, Vertex AI evaluation rows.

What was recorded (`outputs`, `predicted_trajectory`) is read as a trace, what is expected (`reference_outputs`,
`reference_trajectory`) as a case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, ToolCall, Trace
from toolgrade.formats.access import as_list, as_object, describe, opt_object, opt_text
from toolgrade.formats.calls import read_call
from toolgrade.formats.conversation import said
from toolgrade.formats.format import Format
from toolgrade.formats.messages import interpret
from toolgrade.formats.parts import fold, read_parts_of
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Malformed, Record
from toolgrade.formats.reference_cases import Match, reference_case
from toolgrade.formats.source import Source
from toolgrade.formats.span_messages import decoded

_REFERENCES = ("reference_outputs", "reference_trajectory", "expected_trajectory")
_RECORDED = ("predicted_trajectory", "actual_trajectory")
_ASKED = ("question", "query", "input", "prompt", "instruction", "message", "messages")
_MODES: tuple[Match, ...] = ("strict", "unordered", "superset", "subset")


def _split(value: Any) -> Iterator[Part]:
    if isinstance(value, dict) and _is_table(value):  # one list a column
        rows = min(len(column) for column in value.values())
        for number in range(rows):
            yield Part({key: column[number] for key, column in value.items()}, f"row {number}")
        return
    items = value.get("examples", [value]) if isinstance(value, dict) else value
    for number, item in enumerate(as_list(items, "examples")):
        yield Part(item, f"[{number}]" if isinstance(value, list) or "examples" in value else "")


def _is_table(value: dict[str, Any]) -> bool:
    """Whether every column is a list, and the trajectories in it are lists of calls each."""
    columns = [value[key] for key in (*_REFERENCES, *_RECORDED) if key in value]
    listed = all(isinstance(column, list) for column in value.values())
    return listed and bool(columns) and all(_is_trajectory(item) for column in columns for item in column)


def _is_trajectory(value: Any) -> bool:
    return isinstance(decoded(value), list)


def _asked(item: dict[str, Any]) -> list[Message]:
    given = item.get("inputs") if isinstance(item.get("inputs"), dict) else item
    for key in _ASKED:
        value = given.get(key) if isinstance(given, dict) else None
        if isinstance(value, str):
            return fold("user", [value])
        if value is not None and (found := interpret(value, "user")):
            return [message for message in found if message.role in ("user", "system")]
    return []


def _steps(value: Any, field: str) -> list[Message]:
    """Return a trajectory: messages, calls (`tool_name`, `tool_input`) or names, in a list or in JSON text of one."""
    value = decoded(value)
    if isinstance(value, dict):
        inner = next((value[key] for key in ("messages", "trajectory", *_REFERENCES) if key in value), None)
        if inner is None:
            raise Malformed(field, describe(value), "messages, or a trajectory of calls")
        return _steps(inner, field)
    items = as_list(value, field)
    if any(isinstance(item, dict) and ({"role", "lc"} & set(item) or "content" in item) for item in items):
        found = interpret(items, "assistant")
        if found is None:
            raise Malformed(field, describe(items), "messages of a known dialect")
        return found
    calls = [_call(item, f"{field}[{number}]") for number, item in enumerate(items)]
    return [Message(role="assistant", tool_calls=(call,)) for call in calls]


def _call(value: Any, field: str) -> ToolCall:
    if isinstance(value, str):
        return read_call(value, None, None, field)
    item = as_object(value, field)
    name = item.get("tool_name", item.get("name", item.get("tool")))
    given = item.get("tool_input", item.get("arguments", item.get("args", item.get("input"))))
    return read_call(name, given, item.get("id"), field)


def _build(part: Part) -> Trace:
    item = as_object(part.value, "")
    asked = _asked(item)
    recorded = next((item[key] for key in _RECORDED if item.get(key) is not None), None)
    if recorded is not None:
        messages = [*asked, *_steps(recorded, "predicted_trajectory")]
        messages += fold("assistant", read_parts_of(item.get("response"), "response"))
    elif item.get("outputs") is not None and "reference_outputs" in item:
        steps = _steps(item["outputs"], "outputs")
        messages = steps if any(message.role == "user" for message in steps) else [*asked, *steps]
    else:
        raise Malformed(
            "", describe(item), "outputs or predicted_trajectory", "It states a reference only: read it as cases."
        )
    name = _name(item, part)
    return Trace(id=name, case_id=name, messages=said(messages, ""), metadata=_metadata(item))


def _name(item: dict[str, Any], part: Part) -> str:
    return opt_text(item.get("case_id", item.get("id", item.get("name"))), "id") or part.default_id


def _metadata(item: dict[str, Any]) -> dict[str, Any]:
    return opt_object(item.get("metadata"), "metadata")


def _case(part: Part, place: str) -> Case:
    item = as_object(part.value, "")
    reference = next((item[key] for key in _REFERENCES if item.get(key) is not None), item.get("outputs"))
    steps = _steps(reference, "reference")
    names_only = all(isinstance(step, str) for step in _listed(reference))
    mode = item.get("trajectory_match_mode", "strict")
    if mode not in _MODES:
        raise Malformed("trajectory_match_mode", describe(mode), ", ".join(_MODES))
    ignored = names_only or item.get("tool_args_match_mode") == "ignore"
    # Vertex names the metric elsewhere; that the reference occurs in order is what three of its metrics ask.
    match: Match = "in_order" if "reference_trajectory" in item and "trajectory_match_mode" not in item else mode
    asked = [message for message in steps if message.role == "user"] or _asked(item)
    calls = [message for message in steps if message.role != "user"]
    metadata = _metadata(item)
    if item.get("reference") is not None:
        metadata = {**metadata, "reference_answer": item["reference"]}
    return reference_case(
        _name(item, part),
        [*asked, *calls],
        match=match,
        place=place,
        metadata=metadata,
        arguments="ignore" if ignored else "exact",
    )


def _listed(value: Any) -> list[Any]:
    value = decoded(value)
    if isinstance(value, dict):
        value = next((value[key] for key in ("trajectory", *_REFERENCES) if key in value), None)
    return value if isinstance(value, list) and value else [None]


def _case_split(value: Any) -> Iterator[Part]:
    for number, part in enumerate(_split(value)):
        yield part._replace(default_id=f"example-{number + 1}")


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case an example."""
    return read_cases(source, _case, _case_split)


def read(source: Source) -> Iterator[Record]:
    """Yield one record an example that says what was done."""
    return read_parts(source, _build, _split)


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and isinstance(first.get("examples"), list):
        first = first["examples"]
    item = first[0] if isinstance(first, list) and first else first
    if not isinstance(item, dict):
        return False
    if any(key in item for key in (*_REFERENCES, *_RECORDED)):
        return True
    outputs = item.get("outputs")
    examples = "inputs" in item and isinstance(outputs, dict) and bool({"messages", "trajectory"} & set(outputs))
    return examples and "run_type" not in item


FORMAT = Format(
    name="reference-trajectories",
    description="LangSmith and agentevals examples, Vertex AI evaluation rows (also as cases)",
    looked_for='"reference_outputs", "reference_trajectory" or "predicted_trajectory"',
    detect=_detect,
    read=read,
    cases=cases,
)

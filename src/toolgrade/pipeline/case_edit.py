"""The edit that makes a case accept what an agent did: the check's field as it should then read, ready to paste."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.finding import Finding, FindingName
from toolgrade.gates.paths import select

Edit = Callable[[Any, Finding], Any]
"""Takes a check's field as JSON (None where the case has none); returns what it should be, None to remove it."""


def case_edit(case: Case | None, finding: Finding) -> str:
    """Return the edit to make in the case file so that this finding goes away; nothing is changed.

    The first line says where; what follows is YAML to paste there. Where no field of the case is the cause, it
    says what is.
    """
    if case is None:
        return "This trace has no case: the rule is intrinsic. Write a case that states what is right here."
    where = f"{case.place or 'the case file'}, case {case.id}"
    tool = finding.place.tool or "?"
    if finding.name == "unknown_tool":
        return f"{where}: add the tool to the tools file:\n- name: {_yaml(tool)}\n  parameters: {{type: object}}"
    check = finding.check
    expected = case.model_dump(mode="json", exclude_unset=True).get("expected") or {}
    before = expected.get(check)
    after = EDITS[finding.name](deepcopy(before), finding) if finding.name in EDITS else before
    if after == before:
        why = f"the schema of {tool} in the tools file is" if check == "arguments" else "a rule that always holds is"
        return f"{where}: no field of the case causes {finding.name}; {why} what it breaks"
    if after is None:
        return f"{where}: under `expected`, remove `{check}`"
    todo = "add" if before is None else f"replace `{check}` with"
    return f"{where}: under `expected`, {todo}\n{_yaml({check: after})}"


def _yaml(value: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=None, sort_keys=False, allow_unicode=True, width=110)
    return text.removesuffix("...\n").rstrip()


def _numbers(finding: Finding) -> tuple[int, int]:
    wanted, had = (int(found[0]) if (found := re.findall(r"\d+", str(s))) else 0 for s in _said(finding))
    return wanted, had


def _said(finding: Finding) -> tuple[Any, Any]:
    return finding.expected, finding.actual


def _missing_call(field: Any, finding: Finding) -> Any:
    wanted, had = _numbers(finding)
    options = [field["required"], *field.get("alternatives", ())]
    for option in options:
        for _ in range(min(wanted - had, option.count(finding.place.tool))):
            option.remove(finding.place.tool)
    # an empty `required` would mean that no tool may be called
    if not options[0]:
        field = {name: value for name, value in field.items() if name not in ("required", "alternatives")}
        return field if field.get("forbidden") else None
    if "alternatives" in field:
        field["alternatives"] = [option for option in options[1:] if option]
    return field


def _unexpected_call(field: Any, finding: Finding) -> Any:
    extras = field["extras"]
    return {**field, "extras": [*(extras if isinstance(extras, list) else ()), finding.place.tool]}


def _forbidden_call(field: Any, finding: Finding) -> Any:
    field["forbidden"].remove(finding.place.tool)
    return field if field["forbidden"] or "required" in field else None


def _call_when_none_expected(field: Any, finding: Finding) -> Any:
    return {**field, "required": [finding.place.tool]}


def _indefensible_route(field: Any, finding: Finding) -> Any:
    missing, called = (str(said).split(", ") for said in _said(finding))
    route = [tool for tool in field["required"] if tool not in missing] + called
    return {**field, "alternatives": [*field.get("alternatives", ()), route]}


def _value(field: Any, finding: Finding) -> Any:
    """Make the entry expect the value that was given; an omitted one is no longer expected."""
    entries: list[dict[str, Any]] = field or []
    of_tool = [entry for entry in entries if entry["tool"] == finding.place.tool]
    if finding.place.pointer is None:
        gone = next((e for e in of_tool if e.get("values") == finding.expected), of_tool[0] if of_tool else None)
        return [entry for entry in entries if entry is not gone] or None
    at = _location(finding.place.pointer)
    entry = next((entry for entry in of_tool if _at(entry.get("values"), at) == finding.expected), None)
    entry = entry or next((entry for entry in of_tool if at[0] in entry.get("values", {})), None)
    if entry is None:
        entry = of_tool[0] if of_tool else {"tool": finding.place.tool}
        entries += [] if of_tool else [entry]
    if finding.actual is None and finding.note and "omitted" in finding.note:
        return _without(entries, entry, at)
    # below a parameter that the entry does not name there is nothing to set: the whole value is not known here
    if len(at) > 1 and at[0] not in entry.get("values", {}):
        return field
    _set(entry.setdefault("values", {}), at, finding.actual)
    return _accepting(entries, entry, at, finding.actual)


def _accepting(entries: list[dict[str, Any]], entry: dict[str, Any], at: tuple[str | int, ...], value: Any) -> Any:
    """Let no comparator refuse the value: a list of accepted ones takes it in, a pattern or a judge gives way."""
    rules = entry.get("compare", {})
    for path in [path for path in rules if at in select(path, entry["values"])]:
        if rules[path]["kind"] == "one_of":
            rules[path]["values"].append(value)
        elif rules[path]["kind"] in ("regex", "semantic"):
            del rules[path]
    if "compare" in entry and not rules:
        del entry["compare"]
    return entries


def _without(entries: list[dict[str, Any]], entry: dict[str, Any], at: tuple[str | int, ...]) -> Any:
    values = entry.get("values", {})
    rules = entry.get("compare", {})
    entry["compare"] = {path: rule for path, rule in rules.items() if not _speaks_of(path, at, values)}
    held = _at(values, at[:-1])
    if isinstance(held, dict):
        held.pop(at[-1], None)
    if not entry["compare"]:
        del entry["compare"]
    says_nothing = not values and not entry.get("compare") and entry.get("extras") != "forbid"
    return [one for one in entries if not (says_nothing and one is entry)] or None


def _speaks_of(path: str, at: tuple[str | int, ...], values: Any) -> bool:
    return at in select(path, values) or path == "$." + ".".join(map(str, at))


def _location(pointer: str) -> tuple[str | int, ...]:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return tuple(int(part) if number and part.isdigit() else part for number, part in enumerate(parts))


def _at(value: Any, at: tuple[str | int, ...]) -> Any:
    for part in at:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _set(values: Any, at: tuple[str | int, ...], value: Any) -> None:
    held = _at(values, at[:-1])
    last = at[-1]
    if isinstance(held, dict) or (isinstance(held, list) and isinstance(last, int) and last < len(held)):
        held[last] = value  # type: ignore[index]


def _order(field: Any, finding: Finding) -> Any:
    broken = {"before": str(finding.expected).split(" ")[3], "after": finding.place.tool}
    return [constraint for constraint in field if constraint != broken] or None


def _over_budget(field: Any, finding: Finding) -> Any:
    used, what = str(finding.actual).split(" ", 1)
    return {**field, f"max_{what}": int(used)}


def _ignored_result(field: Any, finding: Finding) -> Any:
    name = str(_location(finding.place.pointer or "/")[-1])
    of_tool = [entry for entry in field["must_use"] if entry["tool"] == finding.place.tool]
    named = [entry for entry in of_tool if entry["path"].rstrip("]'\"").endswith(name)]
    gone = (named or of_tool)[:1]
    kept = [entry for entry in field["must_use"] if entry not in gone]
    return {**field, "must_use": kept} if kept else None


def _no_retry(field: Any, _: Finding) -> Any:
    return {**field, "may_give_up": True} if field and field.get("may_give_up") is False else field


def _missing_escalation(field: Any, finding: Finding) -> Any:
    if "must_escalate" not in field:
        return _no_retry(field, finding)
    del field["must_escalate"]
    return field or None


def _wrong_fallback(field: Any, finding: Finding) -> Any:
    field["fallbacks"][finding.place.tool].append(finding.actual)
    return field


def _retry_loop(field: Any, finding: Finding) -> Any:
    return {**(field or {}), "max_retries": finding.actual} if str(finding.expected).startswith("at most") else field


def _missing_output(field: Any, finding: Finding) -> Any:
    field["outputs"].remove(finding.expected)
    if not field["outputs"]:
        del field["outputs"]
    return field or None


def _state_mismatch(field: Any, finding: Finding) -> Any:
    for assertion in field["state"]:
        (relation,) = assertion.keys() - {"path"}
        wanted = assertion[relation] if relation == "equals" else {relation: assertion[relation]}
        if assertion["path"] == finding.place.pointer and wanted == finding.expected:
            del assertion[relation]
            assertion.update(_state(relation, finding))
    return field


def _state(relation: str, finding: Finding) -> dict[str, Any]:
    actual = finding.actual
    if relation == "count":
        return {"count": actual["count"]}
    if relation == "exists":
        return {"exists": not finding.expected["exists"]}
    if actual is None:
        return {"exists": False}
    several = relation == "contains" or "selects" in (finding.note or "")
    return {"contains": actual[0] if isinstance(actual, list) else actual} if several else {"equals": actual}


EDITS: dict[FindingName, Edit] = {
    "missing_call": _missing_call,
    "unexpected_call": _unexpected_call,
    "forbidden_call": _forbidden_call,
    "call_when_none_expected": _call_when_none_expected,
    "indefensible_route": _indefensible_route,
    "wrong_value": _value,
    "placeholder_value": _value,
    "ungrounded_value": _value,
    "order_violated": _order,
    "missing_predecessor": _order,
    "over_budget": _over_budget,
    "ignored_result": _ignored_result,
    "no_retry": _no_retry,
    "wrong_fallback": _wrong_fallback,
    "missing_escalation": _missing_escalation,
    "retry_loop": _retry_loop,
    "missing_output": _missing_output,
    "state_mismatch": _state_mismatch,
}
"""What to edit by finding; the others break a schema or a rule that holds without a case."""

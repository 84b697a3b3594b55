"""Google ADK: sessions, evaluation sets in both layouts, and the cases that evaluation sets state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, Role, ToolCall, ToolResult, Trace
from toolgrade.formats.access import as_list, as_object, opt_list, opt_number, opt_object, opt_text
from toolgrade.formats.calls import read_call, read_usage
from toolgrade.formats.conversation import said
from toolgrade.formats.format import Format
from toolgrade.formats.parts import About, fold, read_parts_of
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Record
from toolgrade.formats.reference_cases import reference_case
from toolgrade.formats.source import Source
from toolgrade.formats.spans import iso

_READ = {"eval_id", "case_id", "name", "conversation", "data"}


def _first(item: dict[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _split(value: Any) -> Iterator[Part]:
    if isinstance(value, list) and value and isinstance(value[0], dict) and "data" in value[0]:
        for number, item in enumerate(value):  # the older layout, several conversations
            yield Part(item, f"[{number}]")
    elif isinstance(value, list) and value and _is_session(value[0]):
        for number, item in enumerate(value):
            yield Part(item, f"[{number}]")
    elif isinstance(value, dict) and "eval_cases" in value:
        for number, item in enumerate(as_list(value["eval_cases"], "eval_cases")):
            yield Part(item, f"eval_cases[{number}]", value.get("eval_set_id"))
    else:
        yield Part(value)


def _build(part: Part) -> Trace:
    value = part.value
    if isinstance(value, list):
        return Trace(id=part.default_id, messages=said(_queries(value, ""), ""))
    item = as_object(value, "")
    if _is_session(item):
        return _session(item, part.default_id)
    name = _name(item, part)
    rest = {"eval_set_id": part.context, **{key: item[key] for key in item if key not in _READ}}
    metadata = {key: found for key, found in rest.items() if found is not None}
    return Trace(id=name, case_id=name, messages=said(_conversation(item), "conversation"), metadata=metadata)


def _name(item: dict[str, Any], part: Part) -> str:
    return opt_text(_first(item, "eval_id", "case_id", "name"), "eval_id") or part.default_id


def _conversation(item: dict[str, Any]) -> list[Message]:
    if "data" in item:
        return _queries(as_list(item["data"], "data"), "data")
    messages: list[Message] = []
    for number, value in enumerate(as_list(item.get("conversation"), "conversation")):
        field = f"conversation[{number}]"
        messages += _invocation(as_object(value, field), field)
    return messages


def _queries(items: list[Any], field: str) -> list[Message]:
    """Return the messages of the older layout: what was asked, the tools that were used, what was answered."""
    messages: list[Message] = []
    for number, value in enumerate(items):
        at = f"{field}[{number}]"
        item = as_object(value, at)
        messages += fold("user", read_parts_of(item.get("query"), f"{at}.query"))
        for place, used in enumerate(opt_list(item.get("expected_tool_use"), f"{at}.expected_tool_use")):
            call = as_object(used, f"{at}.expected_tool_use[{place}]")
            name = f"{at}.expected_tool_use[{place}]"
            messages += fold("assistant", [read_call(call.get("tool_name"), call.get("tool_input"), None, name)])
            if call.get("mock_tool_output") is not None:
                result = ToolResult(name=opt_text(call.get("tool_name"), at), content=call["mock_tool_output"])
                messages.append(Message(role="tool", result=result))
        messages += fold("assistant", read_parts_of(item.get("reference"), f"{at}.reference"))
    return messages


def _invocation(item: dict[str, Any], field: str) -> list[Message]:
    """Return one turn. The tools of a turn are recorded in order, not by message: each stands alone."""
    user = opt_object(_first(item, "user_content", "userContent"), f"{field}.user_content")
    messages = fold("user", read_parts_of(user.get("parts"), f"{field}.user_content.parts"))
    data = opt_object(_first(item, "intermediate_data", "intermediateData"), f"{field}.intermediate_data")
    events = _first(data, "invocation_events", "invocationEvents")
    if isinstance(events, list):
        messages += [message for event in events for message in _event(as_object(event, field), field)]
    else:
        messages += _tools(data, f"{field}.intermediate_data")
    final = opt_object(_first(item, "final_response", "finalResponse", "agent_content"), f"{field}.final_response")
    known = {(call.name, str(call.arguments)) for message in messages for call in message.tool_calls}
    for message in fold("assistant", read_parts_of(final.get("parts"), f"{field}.final_response.parts")):
        new = [call for call in message.tool_calls if (call.name, str(call.arguments)) not in known]
        if new or message.content or message.result:
            messages.append(message.model_copy(update={"tool_calls": tuple(new)}))
    return messages


def _tools(data: dict[str, Any], field: str) -> list[Message]:
    calls = [
        read_call(call.get("name"), call.get("args"), call.get("id"), f"{field}.tool_uses[{number}]")
        for number, value in enumerate(opt_list(_first(data, "tool_uses", "toolUses"), f"{field}.tool_uses"))
        for call in [as_object(value, f"{field}.tool_uses[{number}]")]
    ]
    blocks = read_parts_of(data.get("parts"), f"{field}.parts")  # agentevals writes a content instead
    calls += [block for block in blocks if isinstance(block, ToolCall)]
    results = [block for block in blocks if isinstance(block, ToolResult)]
    for number, value in enumerate(
        opt_list(_first(data, "tool_responses", "toolResponses"), f"{field}.tool_responses")
    ):
        part = {"function_response": as_object(value, f"{field}.tool_responses[{number}]")}
        results += [block for block in read_parts_of([part], field) if isinstance(block, ToolResult)]
    messages: list[Message] = []
    for call in calls:
        messages.append(Message(role="assistant", tool_calls=(call,)))
        match = next((item for item in results if _answers(item, call)), None)
        if match is not None:
            results.remove(match)
            messages.append(Message(role="tool", result=match))
    messages += [Message(role="tool", result=item) for item in results]
    between = opt_list(
        _first(data, "intermediate_responses", "intermediateResponses"), f"{field}.intermediate_responses"
    )
    for value in between:
        agent, parts = value if isinstance(value, list) and len(value) == 2 else (None, value)
        about = About(agent=opt_text(agent, f"{field}.intermediate_responses"))
        messages += fold("assistant", read_parts_of(parts, f"{field}.intermediate_responses"), about)
    return messages


def _answers(result: ToolResult, call: ToolCall) -> bool:
    return result.call_id == call.id if result.call_id and call.id else result.name == call.name


def _session(item: dict[str, Any], default_id: str) -> Trace:
    messages: list[Message] = []
    for number, value in enumerate(as_list(item.get("events"), "events")):
        messages += _event(as_object(value, f"events[{number}]"), f"events[{number}]")
    state = opt_object(item.get("state"), "state")
    failed = [_first(event, "error_message", "errorMessage") for event in item["events"]]
    return Trace(
        id=opt_text(item.get("id"), "id") or default_id,
        case_id=opt_text(state.get("case_id"), "state.case_id"),
        messages=said(messages, "events"),
        final_state=state or None,
        error=next((str(text) for text in failed if text), None),
        metadata={key: item[key] for key in item if key not in ("id", "events", "state") and item[key] is not None},
    )


def _event(event: dict[str, Any], field: str) -> list[Message]:
    """Return the messages of one event; pieces of a stream are left out, for the whole follows them."""
    if event.get("partial") is True:
        return []
    content = opt_object(event.get("content"), f"{field}.content")
    author = opt_text(event.get("author"), f"{field}.author")
    role: Role = "user" if author == "user" or (author is None and content.get("role") == "user") else "assistant"
    seconds = opt_number(event.get("timestamp"))
    about = About(
        agent=None if role == "user" else author,
        timestamp=None if seconds is None else iso(seconds),
        usage=read_usage(_first(event, "usage_metadata", "usageMetadata")),
    )
    return fold(role, read_parts_of(content.get("parts"), f"{field}.content.parts"), about)


def _case(part: Part, place: str) -> Case:
    """Return the case of one conversation, with ADK's default meaning: these calls, these arguments, no others."""
    value = part.value
    item = {"data": value} if isinstance(value, list) else as_object(value, "")
    messages = _conversation(item)
    answers = [message.content for message in messages if message.role == "assistant" and message.content]
    return reference_case(
        _name(item, part) or part.default_id,
        messages,
        match="strict",
        place=place,
        metadata={"reference_answer": answers[-1]} if answers else {},
    )


def _case_split(value: Any) -> Iterator[Part]:
    for number, part in enumerate(_split(value)):
        yield part._replace(default_id=f"case-{number + 1}")


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield the case of every conversation of an evaluation set; a session states none."""
    if _is_session(source.first):
        return iter(())
    return read_cases(source, _case, _case_split)


def read(source: Source) -> Iterator[Record]:
    """Yield one record a session or recorded conversation."""
    return read_parts(source, _build, _split)


def _is_session(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("events"), list):
        return False
    return bool({"app_name", "appName", "user_id", "userId", "state"} & set(value))


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict):
        return _is_session(first) or ("eval_cases" in first and isinstance(first["eval_cases"], list))
    item = first[0] if isinstance(first, list) and first else None
    if not isinstance(item, dict):
        return False
    if isinstance(item.get("data"), list) and "name" in item:
        item = item["data"][0] if item["data"] else None
    return _is_session(item) or (isinstance(item, dict) and "query" in item and "expected_tool_use" in item)


FORMAT = Format(
    name="google-adk",
    description="Google ADK sessions and evaluation sets (also as cases)",
    looked_for='"eval_cases", a list of "query" with "expected_tool_use", or a session with "events"',
    detect=_detect,
    read=read,
    cases=cases,
)

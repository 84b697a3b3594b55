"""Events of an Anthropic managed-agent session: what was streamed, and what was sent where nothing was streamed."""

from __future__ import annotations

from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolResult, Trace, Usage
from toolgrade.formats.access import as_object, opt_list, opt_object, opt_text
from toolgrade.formats.calls import read_call, read_usage
from toolgrade.formats.conversation import said
from toolgrade.formats.offered import offered_tools
from toolgrade.formats.parts import About, Block, fold, joined, read_parts_of

_PREFIXES = ("agent.", "user.", "session.", "span.")


def is_session_event(value: Any) -> bool:
    """Whether a JSON value is an event, or a client's log line `[method, payload]` around one."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        return value[0].startswith("client.beta.sessions.")
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind.startswith(_PREFIXES) and "role" not in value


def build_session(values: list[Any], default_id: str) -> Trace:
    """Return one trace of the events of one session.

    Raises:
        Malformed: an event has no payload, or a call no name.
    """
    events, session = _events(values)
    agent = opt_object(session.get("agent"), "agent")
    name = opt_text(agent.get("name"), "agent.name")
    messages = fold("system", read_parts_of(agent.get("system"), "agent.system"))
    run: list[Block] = []
    usage: list[Usage] = []
    for number, event in enumerate(events):
        kind, field = str(event.get("type")), f"[{number}]"
        about = About(agent=name, timestamp=opt_text(event.get("processed_at"), field))
        if kind == "user.message":
            messages += fold("assistant", run, about) + fold("user", read_parts_of(event.get("content"), field))
            run = []
        elif kind == "agent.message":
            run += read_parts_of(event.get("content"), field)
        elif kind.endswith("tool_use"):
            run.append(read_call(event.get("name"), event.get("input"), event.get("id"), field))
        elif kind.endswith("tool_result"):
            run.append(_result(event, field))
        elif kind == "span.model_request_end" and (found := read_usage(event.get("model_usage"))):
            usage.append(found)
            messages += fold("assistant", run, About(agent=name, usage=found))
            run = []
    messages += fold("assistant", run, About(agent=name))
    return Trace(
        id=opt_text(session.get("id"), "session.id") or default_id,
        messages=said(_with_results_named(messages), ""),
        tools=_offered(agent),
        model=opt_text(opt_object(agent.get("model"), "agent.model").get("id"), "agent.model.id"),
        started_at=opt_text(session.get("created_at"), "created_at"),
        usage=_total(usage),
        metadata={**opt_object(session.get("metadata"), "metadata"), **_kept(session)},
    )


def _events(values: list[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the events, each once, and the session that they belong to."""
    streamed: list[dict[str, Any]] = []
    sent: list[dict[str, Any]] = []
    session: dict[str, Any] = {}
    for number, value in enumerate(values):
        if not isinstance(value, list):
            streamed.append(as_object(value, f"[{number}]"))
            continue
        method, payload = value if len(value) == 2 else ("", None)
        if str(method).endswith(".create"):
            session = as_object(payload, f"[{number}][1]")
        elif str(method).endswith("events.send") and isinstance(payload, list) and payload:
            events = opt_list(opt_object(payload[-1], f"[{number}]").get("events"), f"[{number}].events")
            sent += [item for item in events if isinstance(item, dict)]
        elif isinstance(payload, dict):
            streamed.append(payload)
    echoed = any(str(event.get("type")).startswith("user.") for event in streamed)
    return (streamed if echoed else [*sent, *streamed]), session


def _result(event: dict[str, Any], field: str) -> ToolResult:
    failed = event.get("is_error")
    names = ("custom_tool_use_id", "tool_use_id", "mcp_tool_use_id")
    call_id = next((event[name] for name in names if event.get(name)), None)
    return ToolResult(
        call_id=opt_text(call_id, f"{field}.tool_use_id"),
        content=joined(event.get("content")),
        is_error=failed if isinstance(failed, bool) else None,
    )


def _with_results_named(messages: list[Message]) -> list[Message]:
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return [_named(message, message.result, names) if message.result else message for message in messages]


def _named(message: Message, result: ToolResult, names: dict[str | None, str]) -> Message:
    return message.model_copy(update={"result": result.model_copy(update={"name": names.get(result.call_id)})})


def _offered(agent: dict[str, Any]) -> tuple[ToolSpec, ...] | None:
    """Return the agent's own tools; None where it has a toolset or server as well, whose tools are not listed."""
    tools = agent.get("tools") if isinstance(agent.get("tools"), list) else []
    listed = all(isinstance(tool, dict) and "name" in tool for tool in tools or [])
    return offered_tools(tools) if listed and not agent.get("mcp_servers") else None


def _kept(session: dict[str, Any]) -> dict[str, Any]:
    """Return what the session says beyond what was read."""
    read = {"agent", "id", "created_at", "metadata", "type", "usage"}
    return {key: value for key, value in session.items() if key not in read and value not in (None, [], {})}


def _total(parts: list[Usage]) -> Usage | None:
    if not parts:
        return None
    return Usage(
        input_tokens=sum(part.input_tokens or 0 for part in parts),
        output_tokens=sum(part.output_tokens or 0 for part in parts),
    )

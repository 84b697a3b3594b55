"""The messages and tools in a span's attributes and events, under every convention that is in use.

OpenTelemetry GenAI (messages as attributes or in one event; before that, one event a message), OpenInference
(`llm.input_messages.0.message.role`), Traceloop (`gen_ai.prompt.0.role`), Google ADK, Vercel AI SDK, Logfire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall
from toolgrade.formats.calls import read_call
from toolgrade.formats.messages import interpret
from toolgrade.formats.offered import offered_tools
from toolgrade.formats.parts import fold, read_parts_of
from toolgrade.formats.printed import printed_fields
from toolgrade.formats.record import Malformed
from toolgrade.formats.source import parse_json

_MAX_FLAT = 10_000
_PRINTED = "ResponseFunctionToolCall("

Event = Mapping[str, Any]
"""One event: `name`, `attributes`, and for log records `body`."""


def decoded(value: Any) -> Any:
    """Return the JSON in text that holds any object or list; anything else unchanged."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def read_inputs(attributes: Mapping[str, Any], events: list[Event]) -> tuple[Message, ...]:
    """Return the messages that a model call or an agent was given."""
    system = decoded(attributes.get("gen_ai.system_instructions"))
    first = fold("system", read_parts_of(system, "gen_ai.system_instructions")) if system else []
    for found in _inputs(attributes, events):
        if found:
            given = any(message.role == "system" for message in found)
            return (*([] if given else first), *found)
    return tuple(first)


def _inputs(attributes: Mapping[str, Any], events: list[Event]) -> Iterator[list[Message] | None]:
    yield interpret(attributes.get("gen_ai.input.messages"), "user")
    yield _from_details(events, "gen_ai.input.messages", "user")
    yield interpret(_unflattened(attributes, "llm.input_messages."), "user")
    yield interpret(_unflattened(attributes, "gen_ai.prompt."), "user")
    yield interpret(attributes.get("gcp.vertex.agent.llm_request"), "user")
    yield _from_events(events, attributes, answers=False)
    for key in ("ai.prompt.messages", "ai.prompt", "pydantic_ai.all_messages", "all_messages_events"):
        yield interpret(attributes.get(key), "user")
    yield _from_bodies(events, "input", "user")
    yield interpret(attributes.get("input.value"), "user")


def read_outputs(attributes: Mapping[str, Any], events: list[Event]) -> tuple[Message, ...]:
    """Return the messages that a model call or an agent gave."""
    found = next((found for found in _outputs(attributes, events) if found), None) or []
    return tuple(_with_printed_calls(message) for message in found)


def _outputs(attributes: Mapping[str, Any], events: list[Event]) -> Iterator[list[Message] | None]:
    yield interpret(attributes.get("gen_ai.output.messages"), "assistant")
    yield _from_details(events, "gen_ai.output.messages", "assistant")
    yield interpret(_unflattened(attributes, "llm.output_messages."), "assistant")
    yield interpret(_unflattened(attributes, "gen_ai.completion."), "assistant")
    yield interpret(attributes.get("gcp.vertex.agent.llm_response"), "assistant")
    yield _from_events(events, attributes, answers=True)
    yield _vercel_answer(attributes)
    yield _from_bodies(events, "output", "assistant")
    yield interpret(attributes.get("output.value"), "assistant")


def _from_details(events: list[Event], key: str, role: str) -> list[Message] | None:
    """Return the messages that an event holds under `key`, or as its content where `key` is its name."""
    places = [(event["attributes"], "gen_ai.event.content" if event["name"] == key else key) for event in events]
    found = [item for attributes, name in places if (item := interpret(attributes.get(name), role))]
    return [message for item in found for message in item] or None


def _from_bodies(events: list[Event], side: str, role: str) -> list[Message] | None:
    """Return the messages in log records that carry them in a body, as AWS's distribution exports them."""
    messages: list[Message] = []
    for event in events:
        body = event.get("body")
        part = body.get(side) if isinstance(body, dict) else None
        listed = part.get("messages") if isinstance(part, dict) else None
        for item in listed if isinstance(listed, list) else []:
            content = decoded(item.get("content")) if isinstance(item, dict) else None
            if isinstance(content, dict) and "remaining_steps" in content:
                return None  # the state of a LangGraph node, not what was said
            inner = interpret(content, role) if isinstance(content, dict | list) else None
            messages += inner or interpret(item, role) or []
    return messages or None


def _from_events(events: list[Event], attributes: Mapping[str, Any], answers: bool) -> list[Message] | None:
    """Return messages that were recorded as one event each, the older convention."""
    listed = decoded(attributes.get("events"))
    pairs = [(event["name"], event["attributes"]) for event in events]
    for item in listed if isinstance(listed, list) else []:
        pairs += [(str(item.get("event.name")), item)] if isinstance(item, dict) else []
    messages: list[Message] = []
    for name, body in pairs:
        choice = name == "gen_ai.choice"
        if not name.startswith("gen_ai.") or not (choice or name.endswith(".message")) or choice != answers:
            continue
        messages += _from_event(name, dict(body)) or []
    return messages or None


def _from_event(name: str, body: dict[str, Any]) -> list[Message] | None:
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    whole = decoded(body.get("gen_ai.event.content"))  # Azure
    body |= whole if isinstance(whole, dict) else {} if whole is None else {"content": whole, "message": whole}
    content = decoded(body.get("message" if role == "choice" else "content", body.get("message")))
    if isinstance(content, dict) and ("content" in content or "tool_calls" in content):
        said = "assistant" if role == "choice" else role
        return interpret({"role": said, **content}, said)
    item = {key: value for key, value in body.items() if key in ("tool_calls", "role", "name")}
    item["tool_calls"] = decoded(item.get("tool_calls"))
    role = "assistant" if role == "choice" else role
    if role == "tool":
        item["tool_call_id"] = body.get("id")
    return interpret({"role": role, **item, "content": content}, role)


def _vercel_answer(attributes: Mapping[str, Any]) -> list[Message] | None:
    text, calls = attributes.get("ai.response.text"), decoded(attributes.get("ai.response.toolCalls"))
    found = (interpret(calls, "assistant") or []) if isinstance(calls, list) else []
    if isinstance(text, str) and text:
        if not found:
            return fold("assistant", [text])
        return [found[0].model_copy(update={"content": text}), *found[1:]]
    return found or None


def _unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any] | None:
    """Return the list whose items an exporter spread over attributes: `prefix0.message.role` and so on."""
    root: dict[str, Any] = {}
    for key in sorted(attributes):
        if key.startswith(prefix):
            node, path = root, key[len(prefix) :].split(".")
            for step in path[:-1]:
                inner = node.setdefault(step, {})
                if not isinstance(inner, dict):
                    break
                node = inner
            else:
                node[path[-1]] = attributes[key]
    items = _listed(root)
    return [_plain(item) for item in items] if isinstance(items, list) else None


def _listed(node: Any) -> Any:
    """Return nested mappings whose keys are all numbers as lists, in numerical order."""
    if not isinstance(node, dict) or not node:
        return node
    if all(key.isascii() and key.isdigit() and len(key) < 6 for key in node) and len(node) <= _MAX_FLAT:
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(value) for key, value in node.items()}


def _plain(item: Any) -> Any:
    """Return an OpenInference message without the layer of names that it puts around everything."""
    if not isinstance(item, dict):
        return item
    message = item.get("message")
    out = dict(message) if isinstance(message, dict) else dict(item)
    contents = out.pop("contents", None)
    if isinstance(contents, list) and not out.get("content"):
        out["content"] = [part.get("message_content", part) for part in contents if isinstance(part, dict)]
    if out.get("role") == "tool-call":  # smolagents prints the code that it runs as a call
        return {"role": "system", "content": ""}
    if out.get("role") == "tool-response":
        return {"role": "system", "content": out.get("content")}
    return out


def read_offered(attributes: Mapping[str, Any]) -> tuple[ToolSpec, ...] | None:
    """Return the tools on offer that a span recorded, None where it recorded none."""
    request = decoded(attributes.get("gcp.vertex.agent.llm_request"))
    config = request.get("config") if isinstance(request, dict) else None
    pydantic = decoded(attributes.get("model_request_parameters"))
    functions = _objects(attributes, "llm.request.functions.")
    logfire = pydantic if isinstance(pydantic, dict) else {}
    lists = [
        decoded(attributes.get("gen_ai.tool.definitions")),
        [decoded(item["tool"].get("json_schema")) for item in _objects(attributes, "llm.tools.") if _has_tool(item)],
        [{**item, "parameters": decoded(item.get("parameters"))} for item in functions],
        config.get("tools") if isinstance(config, dict) else None,
        decoded(attributes.get("ai.prompt.tools")),
        [{"tools": logfire.get("function_tools")}, {"tools": logfire.get("output_tools")}],
    ]
    return next((tools for item in lists if item and (tools := offered_tools(item))), None)


def _has_tool(item: dict[str, Any]) -> bool:
    return isinstance(item.get("tool"), dict)


def _objects(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    return [item for item in _unflattened(attributes, prefix) or [] if isinstance(item, dict)]


def _with_printed_calls(message: Message) -> Message:
    """Return a message whose text is printed calls of the OpenAI Agents SDK with these calls instead."""
    lines = (message.content or "").split("\n")
    if message.tool_calls or not all(line.startswith(_PRINTED) for line in lines):
        return message
    calls = [_printed_call(line) for line in lines]
    if any(call is None for call in calls):
        return message
    return message.model_copy(update={"content": None, "tool_calls": tuple(calls)})


def _printed_call(line: str) -> ToolCall | None:
    fields = printed_fields(line)
    try:
        return read_call(fields.get("name"), fields.get("arguments"), fields.get("call_id")) if fields else None
    except Malformed:
        return None

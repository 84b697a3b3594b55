"""Traces as OpenAI chat messages, for tools that read nothing else; `openai_chat` reads them back.

Every call and result is kept. What the format has no place for is left out: final state, times, run errors.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.tools import openai_tool


def to_openai(trace: Trace) -> dict[str, Any]:
    """Return `{id, case_id, trial, model, messages, tools, metadata}`, without the fields that are empty.

    Calls without an id get one (`call_0`, …), and so do their results: in OpenAI chat only ids join the two.
    An error flag, a status and an error text of a result stand as further keys in its message.
    """
    call_ids, result_ids = _ids(trace)
    messages = [
        _message(message, number, call_ids.get(number, []), result_ids.get(number))
        for number, message in enumerate(trace.messages)
    ]
    fields: dict[str, Any] = {
        "id": trace.id,
        "case_id": trace.case_id,
        "trial": trace.trial or None,
        "model": trace.model,
        "messages": messages,
        "tools": [openai_tool(tool) for tool in trace.tools or ()],
        "metadata": trace.metadata,
    }
    return {key: value for key, value in fields.items() if value not in (None, [], {}) or key == "messages"}


def write_openai(trace: Trace) -> bytes:
    """Return one line (with its end) of JSON."""
    return to_json(to_openai(trace)) + b"\n"


def _ids(trace: Trace) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return the ids of the calls of each message, and of the call that each result answers."""
    calls: dict[int, list[str]] = {}
    results: dict[int, str] = {}
    for made in TraceView(trace).calls:
        call_id = made.call.id or f"call_{made.number}"
        calls.setdefault(made.message, []).append(call_id)
        if made.result_message is not None:
            results[made.result_message] = call_id
    return calls, results


def _message(message: Message, number: int, call_ids: list[str], result_id: str | None) -> dict[str, Any]:
    if message.role == "tool":
        result = message.result or ToolResult(content=message.content)
        return {"role": "tool", "tool_call_id": result_id or result.call_id or f"message_{number}", **_result(result)}
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.agent:
        fields["name"] = message.agent
    if call_ids:
        fields["tool_calls"] = [_call(*pair) for pair in zip(message.tool_calls, call_ids, strict=True)]
    if message.usage:
        fields["usage"] = message.usage.model_dump(exclude_none=True)
    return fields


def _call(call: ToolCall, call_id: str) -> dict[str, Any]:
    arguments = to_json(call.arguments).decode() if call.arguments is not None else call.arguments_raw or ""
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _result(result: ToolResult) -> dict[str, Any]:
    content = result.content
    text = content if content is None or isinstance(content, str) else to_json(content).decode()
    told = result.model_dump(include={"name", "status", "error", "is_error"}, exclude_none=True)
    return {"content": text, **told}

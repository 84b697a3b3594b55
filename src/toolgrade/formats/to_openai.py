"""Traces as OpenAI chat, the format that most other tools read."""

from __future__ import annotations

import json
from typing import Any

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace


def to_openai(trace: Trace) -> dict[str, Any]:
    """Return a trace as `{"messages": [...], "tools": [...], ...}` in the OpenAI chat format.

    Every call and every result is kept, in order; reading it back gives the same calls and results. Arguments
    that were no JSON object stand as they were recorded. A result without an id gets none. What the format has
    no field for (`is_error`, `status` and `error` of a result, timings, agents) stands in fields of its own,
    which OpenAI ignores; results that are no text are written as JSON.
    """
    out: dict[str, Any] = {
        "id": trace.id,
        "case_id": trace.case_id,
        "trial": trace.trial or None,
        "model": trace.model,
        "messages": [_message(message) for message in trace.messages],
        "tools": [_tool(tool.name, tool.description, tool.parameters) for tool in trace.tools or ()] or None,
        "usage": None if trace.usage is None else _usage(trace.usage.input_tokens, trace.usage.output_tokens),
        "metadata": trace.metadata or None,
    }
    return {key: value for key, value in out.items() if value is not None}


def _usage(given: int | None, made: int | None) -> dict[str, int]:
    counts = {"prompt_tokens": given, "completion_tokens": made}
    return {key: value for key, value in counts.items() if value is not None}


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _message(message: Message) -> dict[str, Any]:
    if message.result is not None:
        return _result(message.result)
    out: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.agent:
        out["name"] = message.agent
    if message.tool_calls:
        out["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.usage is not None:
        out["usage"] = _usage(message.usage.input_tokens, message.usage.output_tokens)
    return out


def _call(call: ToolCall) -> dict[str, Any]:
    written = call.arguments_raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": written}}


def _result(result: ToolResult) -> dict[str, Any]:
    content = result.content
    out = {
        "role": "tool",
        "tool_call_id": result.call_id,
        "name": result.name,
        "content": content if content is None or isinstance(content, str) else json.dumps(content, ensure_ascii=False),
        "is_error": result.is_error,
        "status": result.status,
        "error": result.error,
    }
    return {key: value for key, value in out.items() if value is not None or key == "content"}

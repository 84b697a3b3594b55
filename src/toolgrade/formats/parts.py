"""The parts that messages are made of, in every dialect: texts, calls and results, folded into messages.

A dialect is told by the part itself, because exports mix them: Anthropic blocks, OpenTelemetry parts,
Gemini parts, Bedrock (Strands) blocks, Vercel AI SDK parts and pydantic-ai parts all end up here.
Reasoning is not part of what was said and is left out; other media leave their kind in brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolgrade.core.trace import Message, Role, ToolCall, ToolResult, Usage
from toolgrade.formats.access import as_object, opt_object, opt_text
from toolgrade.formats.calls import read_call, read_text

Block = str | ToolCall | ToolResult
"""A text, a call, or a result, in the order in which they were recorded."""

_SILENT = {"step-start", "step-finish", "source-url", "source-document", "cachePoint"}


def _is_silent(kind: str) -> bool:
    """Whether a part is reasoning, a signature or a marker: nothing that was said."""
    words = kind.lower()
    return kind in _SILENT or any(word in words for word in ("thinking", "thought", "reasoning"))


@dataclass(frozen=True)
class About:
    """What a message says about itself, whichever parts it has."""

    agent: str | None = None
    timestamp: str | None = None
    usage: Usage | None = None
    latency_ms: float | None = None


def read_parts_of(content: Any, field: str) -> list[Block]:
    """Return the blocks of message content: text, a list of parts, or nothing.

    Raises:
        Malformed: a part that is a call has no name, or is no object.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [content] if content else []
    items = content if isinstance(content, list) else [content]
    return [block for number, item in enumerate(items) for block in _part(item, f"{field}[{number}]")]


def fold(role: Role, blocks: Iterable[Block], about: About | None = None) -> list[Message]:
    """Return messages for blocks of one role: calls made before a result share a message, results stand alone."""
    about = about or About()
    messages: list[Message] = []
    texts: list[str] = []
    calls: list[ToolCall] = []

    def flush() -> None:
        if texts or calls:
            speaker: Role = "assistant" if calls else role
            content = "\n".join(texts) if texts else None
            usage = None if any(message.usage for message in messages) else about.usage
            messages.append(
                Message(
                    role=speaker,
                    content=content,
                    tool_calls=tuple(calls),
                    agent=about.agent,
                    timestamp=about.timestamp,
                    usage=usage if speaker == "assistant" else None,
                    latency_ms=about.latency_ms if speaker == "assistant" else None,
                )
            )
        texts.clear()
        calls.clear()

    for block in blocks:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, ToolCall):
            calls.append(block)
        else:
            flush()
            messages.append(Message(role="tool", result=block, agent=about.agent, timestamp=about.timestamp))
    flush()
    return messages


def _part(value: Any, field: str) -> Iterator[Block]:
    if isinstance(value, str):
        if value:
            yield value
        return
    part = as_object(value, field)
    kind = part.get("type") or part.get("part_kind")
    if not isinstance(kind, str):
        yield from _untyped(part, field)
    elif kind in _READERS:
        yield from _READERS[kind](part, field)
    elif kind.startswith("tool-") or kind == "dynamic-tool":
        yield from _vercel_tool(part, field)
    elif kind.endswith("_tool_result"):
        yield from _anthropic_result(part, field)
    elif not _is_silent(kind):
        text = read_text([part])
        if text:
            yield text


def _untyped(part: dict[str, Any], field: str) -> Iterator[Block]:
    """Yield the blocks of Gemini and Bedrock parts, whose kind is the key that is set."""
    for key, reader in _KEYED.items():
        if part.get(key) is not None:
            yield from reader(opt_object(part[key], f"{field}.{key}"), f"{field}.{key}")
            return
    if isinstance(part.get("text"), str):
        if part["text"] and part.get("thought") is not True:
            yield part["text"]
        return
    kind = next((key for key, value in part.items() if value is not None), None)
    if kind is not None and not _is_silent(kind):
        yield f"[{kind}]"


def _text(part: dict[str, Any], field: str) -> Iterator[Block]:
    text = part.get("text", part.get("content"))
    if isinstance(text, str):
        if text:
            yield text
    elif text is not None:
        yield from read_parts_of(text, f"{field}.content")


def _anthropic_call(part: dict[str, Any], field: str) -> Iterator[Block]:
    yield read_call(part.get("name"), part.get("input"), part.get("id"), field)


def _anthropic_result(part: dict[str, Any], field: str) -> Iterator[Block]:
    content = part.get("content")
    failed = part.get("is_error")
    error = None
    if isinstance(content, dict) and str(content.get("type", "")).endswith("_error"):
        failed, error = True, opt_text(content.get("error_code"), f"{field}.content.error_code")
    yield ToolResult(
        call_id=opt_text(part.get("tool_use_id"), f"{field}.tool_use_id"),
        content=joined(content),
        is_error=failed if isinstance(failed, bool) else None,
        error=error,
    )


def joined(content: Any) -> Any:
    """Return a list of text parts as the text that they make; anything else unchanged."""
    if isinstance(content, list) and content and all(_is_text(item) for item in content):
        return read_text(content)
    return content


def _is_text(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("text"), str) and item.get("type", "text") == "text"


def _otel_call(part: dict[str, Any], field: str) -> Iterator[Block]:
    inner = part.get("tool_call", part.get("function"))
    body = as_object(inner, f"{field}.tool_call") if inner is not None else part
    arguments = body.get("arguments", body.get("args", body.get("input")))
    yield read_call(body.get("name"), arguments, part.get("id", body.get("id")), field)


def _otel_result(part: dict[str, Any], field: str) -> Iterator[Block]:
    content = part.get("response", part.get("result", part.get("content")))
    yield ToolResult(
        call_id=opt_text(part.get("id"), f"{field}.id"),
        name=opt_text(part.get("name"), f"{field}.name"),
        content=joined(content),
    )


def _vercel_call(part: dict[str, Any], field: str) -> Iterator[Block]:
    if "tool_name" in part:  # pydantic-ai gives its parts the same kind
        yield read_call(part.get("tool_name"), part.get("args"), part.get("tool_call_id"), field)
        return
    yield read_call(part.get("toolName"), part.get("input", part.get("args")), part.get("toolCallId"), field)


def _vercel_result(part: dict[str, Any], field: str) -> Iterator[Block]:
    value = part.get("output", part.get("result"))
    failed = part.get("isError")
    if isinstance(value, dict) and set(value) <= {"type", "value", "providerOptions"} and "type" in value:
        failed = True if str(value["type"]).startswith("error") else failed
        value = joined(value.get("value"))
    yield ToolResult(
        call_id=opt_text(part.get("toolCallId"), f"{field}.toolCallId"),
        name=opt_text(part.get("toolName"), f"{field}.toolName"),
        content=value,
        is_error=failed if isinstance(failed, bool) else None,
    )


def _vercel_tool(part: dict[str, Any], field: str) -> Iterator[Block]:
    """Yield the call of a UI message's tool part, and its result once it has one."""
    inner = part.get("toolInvocation")
    if inner is not None:
        part = as_object(inner, f"{field}.toolInvocation")
    name = part.get("toolName") or str(part.get("type", "")).removeprefix("tool-")
    call_id = part.get("toolCallId")
    yield read_call(name, part.get("input", part.get("args")), call_id, field)
    state = part.get("state")
    if state in ("output-available", "result"):
        yield ToolResult(call_id=opt_text(call_id, field), name=name, content=part.get("output", part.get("result")))
    elif state == "output-error":
        error = opt_text(part.get("errorText"), f"{field}.errorText")
        yield ToolResult(call_id=opt_text(call_id, field), name=name, content=error, error=error, is_error=True)


def _pydantic_result(part: dict[str, Any], field: str) -> Iterator[Block]:
    """Yield the result of a `tool-return` or of a `retry-prompt`, which is the same with an error in it."""
    retry = part.get("part_kind") == "retry-prompt"
    if retry and part.get("tool_name") is None:
        yield from read_parts_of(read_text(part.get("content")), field)
        return
    yield ToolResult(
        call_id=opt_text(part.get("tool_call_id"), f"{field}.tool_call_id"),
        name=opt_text(part.get("tool_name"), f"{field}.tool_name"),
        content=part.get("content"),
        is_error=True if retry else None,
    )


def _pydantic_call(part: dict[str, Any], field: str) -> Iterator[Block]:
    yield read_call(part.get("tool_name"), part.get("args"), part.get("tool_call_id"), field)


def _gemini_call(call: dict[str, Any], field: str) -> Iterator[Block]:
    yield read_call(call.get("name"), call.get("args", call.get("arguments")), call.get("id"), field)


def _gemini_result(response: dict[str, Any], field: str) -> Iterator[Block]:
    content = response.get("response")
    flag = content.get("isError", content.get("is_error")) if isinstance(content, dict) else None
    yield ToolResult(
        call_id=opt_text(response.get("id"), f"{field}.id"),
        name=opt_text(response.get("name"), f"{field}.name"),
        content=content,
        is_error=flag if isinstance(flag, bool) else None,
    )


def _gemini_code(code: dict[str, Any], field: str) -> Iterator[Block]:
    yield read_call("code_execution", code, None, field)


def _gemini_output(output: dict[str, Any], field: str) -> Iterator[Block]:
    outcome = output.get("outcome")
    failed = None if outcome is None else outcome != "OUTCOME_OK"
    yield ToolResult(name="code_execution", content=output.get("output"), is_error=failed)


def _bedrock_call(call: dict[str, Any], field: str) -> Iterator[Block]:
    yield read_call(call.get("name"), call.get("input"), call.get("toolUseId"), field)


def _bedrock_result(result: dict[str, Any], field: str) -> Iterator[Block]:
    content = joined(result.get("content"))
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and "json" in content[0]:
        content = content[0]["json"]
    status = result.get("status")
    yield ToolResult(
        call_id=opt_text(result.get("toolUseId"), f"{field}.toolUseId"),
        content=content,
        is_error=None if status is None else status == "error",
    )


_Reader = Callable[[dict[str, Any], str], Iterator[Block]]

_READERS: dict[str, _Reader] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "tool_use": _anthropic_call,
    "server_tool_use": _anthropic_call,
    "mcp_tool_use": _anthropic_call,
    "tool_result": _anthropic_result,
    "tool_call": _otel_call,
    "tool_call_response": _otel_result,
    "tool-call": _vercel_call,
    "tool-result": _vercel_result,
    "user-prompt": _text,
    "system-prompt": _text,
    "tool-return": _pydantic_result,
    "retry-prompt": _pydantic_result,
    "builtin-tool-call": _pydantic_call,
    "builtin-tool-return": _pydantic_result,
}
_KEYED: dict[str, _Reader] = {
    "functionCall": _gemini_call,
    "function_call": _gemini_call,
    "functionResponse": _gemini_result,
    "function_response": _gemini_result,
    "executableCode": _gemini_code,
    "executable_code": _gemini_code,
    "codeExecutionResult": _gemini_output,
    "code_execution_result": _gemini_output,
    "toolUse": _bedrock_call,
    "toolResult": _bedrock_result,
}

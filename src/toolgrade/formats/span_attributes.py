"""One span of any convention as toolgrade's `Span`: what it is, what it ran, what it cost, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolgrade.core.trace import ToolCall, ToolResult, Usage
from toolgrade.formats.access import opt_int
from toolgrade.formats.calls import parse_arguments
from toolgrade.formats.printed import printed_value
from toolgrade.formats.span_messages import Event, decoded, read_inputs, read_offered, read_outputs
from toolgrade.formats.spans import Kind, Span

_OPERATIONS: dict[str, Kind] = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "other",
    "invoke_workflow": "agent",
    "process_thread_run": "llm",
    "responses": "llm",
}
_ANSWERS = ("gen_ai.choice", "gen_ai.output.messages", "gen_ai.client.inference.operation.details")
_KINDS: dict[str, Kind] = {"LLM": "llm", "TOOL": "tool", "AGENT": "agent", "WORKFLOW": "other"}
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "mcp.tool.name", "traceloop.entity.name")
_TOOL_IDS = ("gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id", "tool_call_id")
_TOOL_INPUTS = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "input.value",
    "tool.parameters",
)
_TOOL_OUTPUTS = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
)
_READ: tuple[str, ...] = (
    "gen_ai.input.",
    "gen_ai.output.",
    "gen_ai.prompt.",
    "gen_ai.completion.",
    "gen_ai.tool.",
    "gen_ai.system_instructions",
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.tools.",
    "llm.request.functions.",
    "gcp.vertex.agent.llm_",
    "ai.prompt",
    "ai.response.",
    "input.",
    "output.",
    "pydantic_ai.all_messages",
    "all_messages_events",
    "events",
    "model_request_parameters",
    *_TOOL_INPUTS,
    *_TOOL_OUTPUTS,
)


@dataclass(frozen=True)
class RawSpan:
    """A span as exported: `attributes` by name, times in seconds, `failed` where the status says so."""

    id: str
    name: str
    parent: str | None = None
    start: float | None = None
    end: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    failed: bool = False
    problem: str | None = None

    def with_attributes(self, attributes: Mapping[str, Any]) -> RawSpan:
        """Return the same span with other attributes."""
        return replace(self, attributes=attributes)

    def with_events(self, pieces: list[RawSpan]) -> RawSpan:
        """Return the same span with the events of `pieces` as well, in the order of their time."""
        told = [event for piece in sorted(pieces, key=lambda piece: piece.start or 0.0) for event in piece.events]
        return replace(self, events=(*self.events, *told))


def read_span(raw: RawSpan) -> Span:
    """Return the span; one that neither calls a model nor runs a tool nor is an agent has kind `other`.

    Raises:
        Malformed: a call in its messages has no name.
    """
    attributes, events = raw.attributes, list(raw.events)
    kind = _kind(raw)
    error = _error(raw)
    call, result = _tool(raw, error) if kind == "tool" else (None, None)
    if kind == "tool" and call is None:
        kind = "other"
    talks = kind in ("llm", "agent", "other")
    inputs = read_inputs(attributes, events) if talks else ()
    outputs = read_outputs(attributes, events) if talks else ()
    if outputs[: len(inputs)] == inputs:  # the state of a graph holds what it was given as well
        outputs = outputs[len(inputs) :]
    return Span(
        id=raw.id,
        name=raw.name,
        kind=kind,
        parent=raw.parent,
        start=raw.start,
        end=raw.end,
        agent=_text(attributes, "gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id"),
        inputs=inputs,
        outputs=outputs,
        asked=None if inputs or not talks else _words(attributes, "input.value", "llm.prompts"),
        said=None if outputs or not talks else _words(attributes, "output.value", "final_result"),
        call=call,
        result=result,
        error=error,
        usage=_usage(attributes),
        model=_text(attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"),
        tools=read_offered(attributes) if kind in ("llm", "agent") else None,
        rest={key: value for key, value in attributes.items() if not key.startswith(_READ)},
    )


def _text(attributes: Mapping[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := attributes.get(name), str) and value), None)


def _kind(raw: RawSpan) -> Kind:
    attributes = raw.attributes
    named = _text(attributes, "openinference.span.kind", "traceloop.span.kind", "aws.genai.span_kind") or ""
    operation = _text(attributes, "gen_ai.operation.name") or ""
    if attributes.get("mcp.method.name") == "tools/list" or raw.name.startswith("handoff to "):
        return "other"
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if named.upper() in _KINDS:
        return _KINDS[named.upper()]
    vercel = _text(attributes, "ai.operationId") or ""
    if vercel:
        return "tool" if vercel == "ai.toolCall" else "llm"
    return _kind_by_content(raw)


def _kind_by_content(raw: RawSpan) -> Kind:
    attributes = raw.attributes
    if "gen_ai.tool.name" in attributes or attributes.get("mcp.method.name") == "tools/call":
        return "tool"
    if any(key.startswith(("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.")) for key in attributes):
        return "llm"
    if "gen_ai.input.messages" in attributes or attributes.get("gcp.vertex.agent.llm_request") not in (None, "{}"):
        return "llm"
    if any(event["name"] in _ANSWERS for event in raw.events):
        return "llm"
    if "pydantic_ai.all_messages" in attributes or "all_messages_events" in attributes:
        return "agent"
    return _kind_by_body(raw)


def _kind_by_body(raw: RawSpan) -> Kind:
    """Tell a log record of AWS's distribution by what LangChain put into it."""
    content = _body(raw, "output")
    if not isinstance(content, dict):
        return "other"
    if "generations" in content:
        return "llm"
    if content.get("type") == "tool":
        return "tool"
    given = _body(raw, "input")
    return "agent" if "messages" in content and isinstance(given, dict) and set(given) == {"messages"} else "other"


def _body(raw: RawSpan, side: str) -> Any:
    for event in raw.events:
        body = event.get("body")
        part = body.get(side) if isinstance(body, dict) else None
        messages = part.get("messages") if isinstance(part, dict) else None
        if isinstance(messages, list) and messages and isinstance(messages[0], dict):
            return decoded(messages[0].get("content"))
    return None


def _tool(raw: RawSpan, error: str | None) -> tuple[ToolCall | None, ToolResult | None]:
    """Return the call that a tool span ran and what came back, which may be nothing."""
    attributes = raw.attributes
    content = next((attributes[key] for key in _TOOL_OUTPUTS if attributes.get(key) is not None), None)
    given = next((attributes[key] for key in _TOOL_INPUTS if attributes.get(key) is not None), None)
    for event in raw.events:  # Strands
        if event["name"] == "gen_ai.tool.message" and given is None:
            given = event["attributes"].get("content")
        elif event["name"] == "gen_ai.choice" and content is None:
            content = event["attributes"].get("message")
    given = _body(raw, "input") if given is None else given
    content = _body(raw, "output") if content is None else content
    if given is None and content is None:
        given, content = _from_messages(raw)
    content, inner = unwrapped_result(content)
    name = _text(attributes, *_TOOL_NAMES) or inner.get("name") or _bare(raw.name)
    if not name:
        return None, None
    call_id = _text(attributes, *_TOOL_IDS) or inner.get("tool_call_id")
    if "langsmith.span.kind" in attributes:
        given = _only_input(given)
    call = tool_call(name, given, call_id, decoded(attributes.get("tool.parameters")))
    if content is None and error is None and not raw.failed:
        return call, None
    status = opt_int(attributes.get("http.response.status_code", attributes.get("http.status_code")))
    failed = raw.failed or inner.get("status") == "error" or attributes.get("gen_ai.tool.status") == "error"
    result = ToolResult(
        call_id=call_id, name=name, content=content, status=status, error=error, is_error=True if failed else None
    )
    return call, result


def _only_input(given: Any) -> Any:
    """Return what LangSmith put into `{"input": ...}`: the arguments, as an object or as the text of one."""
    value = decoded(given)
    inner = value["input"] if isinstance(value, dict) and set(value) == {"input"} else None
    return inner if isinstance(decoded(inner), dict) else given


def _from_messages(raw: RawSpan) -> tuple[Any, Any]:
    """Return the arguments and the result that a tool span recorded as messages, None where it did not."""
    events = list(raw.events)
    asked = [call for message in read_inputs(raw.attributes, events) for call in message.tool_calls]
    told = [message.result for message in read_outputs(raw.attributes, events) if message.result]
    given = (asked[0].arguments_raw or asked[0].arguments) if asked else None
    return given, told[0].content if told else None


def _bare(name: str) -> str:
    for prefix in ("execute_tool ", "running tool: ", "tool."):
        name = name.removeprefix(prefix)
    return name


def unwrapped_result(content: Any) -> tuple[Any, dict[str, Any]]:
    """Return what a tool gave, out of the tool message or function response that a framework put around it.

    The second value is that wrapper: `name`, `tool_call_id` and `status` where it has them.
    """
    value = decoded(content)
    if isinstance(value, dict):
        if "content" in value and (value.get("type") == "tool" or "tool_call_id" in value):
            return value["content"], value
        if set(value) == {"id", "name", "response"}:
            return value["response"], {"name": value["name"], "tool_call_id": value["id"]}
    return content, {}


def tool_call(name: str, given: Any, call_id: str | None, parameters: Any = None) -> ToolCall:
    """Return a call from whatever a tool span recorded as its input: JSON, a printed mapping, or plain text.

    Text that is no JSON is what a tool with one free-text argument was given: the argument `input`.
    """
    given = decoded(given)
    if isinstance(given, str) and given.startswith("{'"):
        given = printed_value(given)
    if isinstance(given, dict) and set(given) == {"args", "kwargs", "sanitize_inputs_outputs"}:
        given = _positional(given, parameters)
    if isinstance(given, str) and given[:1] not in ("{", "[", ""):
        given = {"input": given}
    values, raw, problem = parse_arguments(given)
    return ToolCall(name=name, id=call_id, arguments=values, arguments_raw=raw, parse_error=problem)


def _positional(given: dict[str, Any], parameters: Any) -> Any:
    """Return named arguments for smolagents' positional ones, in the order of the tool's parameters."""
    named = given["kwargs"]
    names = list(parameters) if isinstance(parameters, dict) else []
    values = given["args"] if isinstance(given["args"], list) else []
    if not isinstance(named, dict) or len(values) > len(names):
        return given
    return dict(zip(names, values, strict=False)) | named


def _words(attributes: Mapping[str, Any], *names: str) -> str | None:
    """Return what an attribute says in plain words: text, or the one text in a small JSON object."""
    value = decoded(next((attributes[name] for name in names if attributes.get(name) not in (None, "")), None))
    if isinstance(value, dict) and set(value) == {"args"}:  # LlamaIndex
        value = value["args"]
    elif isinstance(value, dict):
        keys = ("task", "query", "question", "input", "prompt", "message", "answer", "output", "result")
        value = next((value[key] for key in keys if isinstance(value.get(key), str)), None)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) and value not in ("None", "null") else None


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    def first(*names: str) -> int | None:
        for name in names:
            value = attributes.get(name)
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 15:
                value = int(value)
            if (number := opt_int(value)) is not None and number >= 0:
                return number
        return None

    given = first(
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"
    )
    made = first(
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.completionTokens",
    )
    return None if given is None and made is None else Usage(input_tokens=given, output_tokens=made)


def _error(raw: RawSpan) -> str | None:
    """Return why a span failed, None where it did not."""
    for event in raw.events:
        if event["name"] == "exception":
            found = _text(event["attributes"], "exception.message", "exception.type")
            if found:
                return found
    named = _text(raw.attributes, "error.message", "error.type", "exception.message")
    if named or raw.failed:
        return named or raw.problem or "the span failed"
    return None

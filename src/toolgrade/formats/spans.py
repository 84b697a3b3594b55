"""A run recorded as spans: model calls, tool runs and agents in a tree, read as one conversation.

Rules. Of model calls nested in each other, the innermost that holds messages is read; the others are the same
call recorded by another instrumentation. A tool span is the run of the call that a model asked for; one that
no model asked for and that only runs another tool span is a wrapper, and resolves to the inner tool. Spans of
agents complete what the model calls leave out. The prompt of an agent that was itself called as a tool is no
turn of the user and stands as a `system` message of that agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace, Usage
from toolgrade.formats.parts import fold
from toolgrade.formats.record import Malformed
from toolgrade.formats.timeline import Timeline

Kind = Literal["llm", "tool", "agent", "other"]


@dataclass(frozen=True)
class Span:
    """One span as a convention describes it; times are seconds since 1970, None where not recorded.

    `inputs` and `outputs` are the messages it recorded; `asked` and `said` are the plain texts where it recorded
    no messages. A tool span has `call` and `result`. `rest` holds the attributes that were not read.
    """

    id: str
    name: str
    kind: Kind
    parent: str | None = None
    start: float | None = None
    end: float | None = None
    agent: str | None = None
    inputs: tuple[Message, ...] = ()
    outputs: tuple[Message, ...] = ()
    asked: str | None = None
    said: str | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None
    error: str | None = None
    usage: Usage | None = None
    model: str | None = None
    tools: tuple[ToolSpec, ...] | None = None
    rest: dict[str, Any] = field(default_factory=dict)

    @property
    def has_messages(self) -> bool:
        """Whether it recorded messages, and not at best plain texts."""
        return bool(self.inputs or self.outputs)

    @property
    def latency_ms(self) -> float | None:
        """How long it ran."""
        return None if self.start is None or self.end is None else round((self.end - self.start) * 1000, 3)

    @property
    def timestamp(self) -> str | None:
        """When it began, ISO 8601 in UTC."""
        return None if self.start is None else iso(self.start)


def iso(seconds: float) -> str | None:
    """Return a time since 1970 as ISO 8601 in UTC; None where it is no date."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


class _Tree:
    """Spans by id, with the way up and down."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = list({span.id: span for span in spans}.values())
        self.by_id = {span.id: span for span in self.spans}
        self.above = {span.id: self._ancestors(span) for span in self.spans}
        self.below: dict[str, list[Span]] = {span.id: [] for span in self.spans}
        for span in self.spans:
            for ancestor in self.above[span.id]:
                self.below[ancestor.id].append(span)

    def _ancestors(self, span: Span) -> list[Span]:
        found: list[Span] = []
        seen = {span.id}
        while span.parent in self.by_id and span.parent not in seen:
            span = self.by_id[span.parent]
            seen.add(span.id)
            found.append(span)
        return found

    def agent_of(self, span: Span) -> str | None:
        """Return the name of the agent that a span belongs to: its nearest agent's, else its own."""
        agents = [item.agent for item in self.above[span.id] if item.kind == "agent" and item.agent]
        return agents[0] if agents else span.agent

    def inside_tool(self, span: Span) -> bool:
        return any(item.kind == "tool" for item in self.above[span.id])


def build_trace(spans: Iterable[Span], trace_id: str, metadata: dict[str, Any] | None = None) -> Trace:
    """Return one trace of the spans of one run.

    `metadata` is kept; `case_id` and `trial` in it are read. What spans hold beyond it is kept under `spans`.

    Raises:
        Malformed: no span holds a message, a model call or a tool call.
    """
    tree = _Tree(spans)
    timeline = Timeline()
    models = _model_calls(tree)
    for _, act in sorted(_events(tree, timeline, models), key=lambda event: event[0]):
        act()
    top = [span for span in tree.spans if not tree.above[span.id]]
    _complete(tree, timeline, top)
    messages = timeline.messages()
    if not messages:
        raise Malformed("", f"{len(tree.spans)} spans without any", "a span of a model call, a tool or an agent")
    metadata = dict(metadata or {})
    usage = [span.usage for span in models if span.usage] or [span.usage for span in top if span.usage]
    started = min((span.start for span in tree.spans if span.start is not None), default=None)
    root = max(top, key=lambda span: span.latency_ms or 0.0, default=None)
    kept = [{"id": span.id, "name": span.name, **span.rest} for span in tree.spans if span.rest]
    return Trace(
        id=trace_id,
        case_id=_named(metadata, "case_id"),
        trial=_number(metadata.get("trial")),
        messages=messages,
        tools=_tools(tree.spans),
        error=next((span.error for span in top if span.error), None),
        model=next((span.model for span in [*models, *tree.spans] if span.model), None),
        started_at=None if started is None else iso(started),
        latency_ms=root.latency_ms if root else None,
        usage=_total(usage),
        metadata=metadata | ({"spans": kept} if kept else {}),
    )


def _named(metadata: dict[str, Any], name: str) -> str | None:
    value = metadata.get(name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _number(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _total(parts: list[Usage]) -> Usage | None:
    if not parts:
        return None
    given = [part.input_tokens for part in parts if part.input_tokens is not None]
    made = [part.output_tokens for part in parts if part.output_tokens is not None]
    return Usage(input_tokens=sum(given) if given else None, output_tokens=sum(made) if made else None)


def _tools(spans: list[Span]) -> tuple[ToolSpec, ...] | None:
    found = {tool.name: tool for span in spans for tool in span.tools or ()}
    return tuple(found.values()) or None


def _model_calls(tree: _Tree) -> list[Span]:
    """Return the model calls to read: of nested ones the innermost with messages, else the outermost."""
    chosen = []
    for span in tree.spans:
        if span.kind != "llm":
            continue
        nested = [item for item in tree.below[span.id] if item.kind == "llm"]
        around = [item for item in tree.above[span.id] if item.kind == "llm" and not _crosses(tree, span, item)]
        if span.has_messages:
            if not any(item.has_messages and not _crosses(tree, item, span) for item in nested):
                chosen.append(span)
        elif not around and not any(item.has_messages for item in nested):
            chosen.append(span)
    return chosen


def _crosses(tree: _Tree, inner: Span, outer: Span) -> bool:
    """Whether an agent or a tool stands between two spans, so that they are different model calls."""
    for item in tree.above[inner.id]:
        if item is outer:
            return False
        if item.kind in ("agent", "tool"):
            return True
    return False


_When = tuple[float, int, int]


def _events(tree: _Tree, timeline: Timeline, models: list[Span]) -> list[tuple[_When, Callable[[], None]]]:
    """Return what happened, with its time: model calls at their start, tools at their start and their end."""
    events: list[tuple[_When, Callable[[], None]]] = []
    last = 0.0
    asked = _asked(tree)
    chosen = {span.id for span in models}
    for number, span in enumerate(tree.spans):
        last = start = span.start if span.start is not None else last
        if span.id in chosen:
            events.append(((start, 0, number), _saying(tree, timeline, span)))
        elif span.call is not None and not _wraps(tree, span, asked) and not _repeats(tree, span, asked):
            end = span.end if span.end is not None else start
            begin, finish = _running(tree, timeline, span)
            events += [((start, 1, number), begin), ((max(end, start), 2, number), finish)]
    return events


def _asked(tree: _Tree) -> set[str]:
    spans = [span for span in tree.spans if span.kind in ("llm", "agent")]
    calls = [call for span in spans for message in (*span.inputs, *span.outputs) for call in message.tool_calls]
    return {name for call in calls for name in (call.name, call.id) if name}


def _is_asked(call: ToolCall, asked: set[str]) -> bool:
    return call.id in asked if call.id else call.name in asked


def _wraps(tree: _Tree, span: Span, asked: set[str]) -> bool:
    """Whether a tool span that no model asked for only runs another tool, which is then the call."""
    inner = [item.call for item in tree.below[span.id] if item.call is not None and not _crosses(tree, item, span)]
    if span.call is None or not inner or _is_asked(span.call, asked):
        return False
    return not any(call.name == span.call.name for call in inner)


def _repeats(tree: _Tree, span: Span, asked: set[str]) -> bool:
    """Whether the tool span around this one is the same call: same id, name, or arguments under another name."""
    outer = next((item for item in tree.above[span.id] if item.kind != "other"), None)
    if outer is None or outer.call is None or span.call is None or _wraps(tree, outer, asked):
        return False
    same_id = span.call.id is not None and span.call.id == outer.call.id
    same_arguments = bool(span.call.arguments) and span.call.arguments == outer.call.arguments
    return same_id or same_arguments or span.call.name == outer.call.name


def _saying(tree: _Tree, timeline: Timeline, span: Span) -> Callable[[], None]:
    history = list(span.inputs) or (fold("user", [span.asked]) if span.asked else [])
    answer = list(span.outputs) or (fold("assistant", [span.said]) if span.said else [])
    if tree.inside_tool(span):
        history = [_instruction(message, tree.agent_of(span)) for message in history]
    answer = _one_answer(answer, span)

    def act() -> None:
        timeline.say(history, answer, tree.agent_of(span))

    return act


def _instruction(message: Message, agent: str | None) -> Message:
    if message.role != "user":
        return message
    return message.model_copy(update={"role": "system", "agent": agent or message.agent})


def _one_answer(answer: list[Message], span: Span) -> list[Message]:
    """Return the answer of one model call with its usage; several choices with calls were made at once."""
    if len(answer) > 1 and all(message.role == "assistant" for message in answer):
        texts = [message.content for message in answer if message.content]
        calls = tuple(call for message in answer for call in message.tool_calls)
        answer = [answer[0].model_copy(update={"content": "\n".join(texts) or None, "tool_calls": calls})]
    measured = {"usage": span.usage, "latency_ms": span.latency_ms, "timestamp": span.timestamp}
    return [answer[0].model_copy(update=measured), *answer[1:]] if answer else []


def _running(tree: _Tree, timeline: Timeline, span: Span) -> tuple[Callable[[], None], Callable[[], None]]:
    started: list[Any] = []
    call, result = span.call, span.result

    def begin() -> None:
        if call is not None:
            started.append(timeline.ask(call, tree.agent_of(span), span.timestamp))

    def finish() -> None:
        if result is not None:
            timeline.answer(started[0], result, span.latency_ms, span.timestamp)

    return begin, finish


def _complete(tree: _Tree, timeline: Timeline, top: list[Span]) -> None:
    """Add what only agents recorded; where nobody recorded messages, the plain texts of the outermost span."""
    for span in tree.spans:
        if span.has_messages and (span.kind == "agent" or (span.kind == "other" and span in top)):
            history = list(span.inputs)
            if tree.inside_tool(span):
                history = [_instruction(message, tree.agent_of(span)) for message in history]
            timeline.say([*history, *span.outputs], [], span.agent)
    roles = {message.role for message in timeline.messages() if message.role != "assistant" or message.content}
    spans = [*top, *(span for span in tree.spans if span not in top)]
    texts = [span for span in spans if span.kind in ("agent", "other") and not tree.inside_tool(span)]
    ask = next((span.asked for span in texts if span.asked), None)
    say = next((span.said for span in texts if span.said), None)
    first = fold("user", [ask]) if ask and "user" not in roles else []
    last = fold("assistant", [say]) if say and "assistant" not in roles else []
    timeline.frame(first, last)

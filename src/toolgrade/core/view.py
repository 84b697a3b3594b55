"""What the checks see of a trace: calls paired with results, at their steps and turns, each derived once.

A *step* is the 1-based ordinal of an assistant message; calls made in one message share its step and are
unordered among themselves. A *turn* is the 1-based ordinal of the user message last seen (0 before any).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic_core import from_json

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import ToolCall, ToolResult, Trace, Usage


class CallView(NamedTuple):
    """A call with its place (`number` counts calls, `message` messages, both from 0) and its result.

    `name` and `arguments` are the call's own: they are asked for so often that they stand here too.
    """

    number: int
    step: int
    turn: int
    message: int
    name: str
    arguments: dict[str, Any] | None
    call: ToolCall
    result: ToolResult | None
    result_message: int | None


class Said(NamedTuple):
    """Words of one role: `message` is its 0-based index; `step` is 0 for other roles than assistant."""

    message: int
    step: int
    turn: int
    text: str


_NO_RESULT: tuple[None, None] = (None, None)


class TraceView:
    """A trace read once: the calls (also by tool, in `calls_of`), what each side said, and the tools on offer.

    `names` are the tools called, in the order of the calls. `tools` are those given by the caller, else those
    that the trace recorded, else empty; with `tools_are_recorded`, what is wrong with them is the trace's fault.
    `tokens` and `latency_ms` are the trace's own, else the sum over messages, None where neither is known.
    """

    def __init__(self, trace: Trace, tools: dict[str, ToolSpec] | None = None) -> None:
        self.trace = trace
        self.tools_are_recorded = tools is None
        self.tools = {tool.name: tool for tool in trace.tools or ()} if tools is None else tools
        self.calls_of: dict[str, list[CallView]] = {}
        self.unmatched_results: list[tuple[int, ToolResult]] = []
        messages = list(map(vars, trace.messages))  # dictionaries are looked up several times faster than models
        self.tokens = _tokens(trace.usage, messages)
        self.latency_ms = _latency(trace.latency_ms, messages)
        self._read(messages)

    def _read(self, messages: list[dict[str, Any]]) -> None:
        step = turn = 0
        raw: list[tuple[int, int, int, int, str, dict[str, Any] | None, ToolCall]] = []
        open_calls: dict[int, ToolCall] = {}
        by_id: dict[str | None, list[int]] = {}
        results: list[tuple[ToolResult, int] | tuple[None, None]] = []
        for number, message in enumerate(messages):
            role = message["role"]
            if role == "assistant":
                step += 1
                for call in message["tool_calls"]:
                    index = len(raw)
                    open_calls[index] = call
                    call_id = call.id
                    if call_id in by_id:
                        by_id[call_id].append(index)
                    else:
                        by_id[call_id] = [index]
                    raw.append((index, step, turn, number, call.name, call.arguments, call))
                    results.append(_NO_RESULT)
            elif role == "user":
                turn += 1
            elif (result := message["result"]) is not None:
                answered = _answered(result, open_calls, by_id)
                if answered is None:
                    self.unmatched_results.append((number, result))
                else:
                    del open_calls[answered]
                    results[answered] = (result, number)
        self.steps, self.turns = step, turn
        self.calls = [CallView._make(place + result) for place, result in zip(raw, results, strict=True)]
        self.names = [made.name for made in self.calls]
        for made in self.calls:
            self.calls_of.setdefault(made.name, []).append(made)

    def said(self, role: str) -> list[Said]:
        """Return the non-empty texts of one role, in order."""
        out: list[Said] = []
        step = turn = 0
        for number, message in enumerate(self.trace.messages):
            if message.role == "user":
                turn += 1
            elif message.role == "assistant":
                step += 1
            if message.role == role and message.content and message.content.strip():
                out.append(Said(number, step if role == "assistant" else 0, turn, message.content))
        return out


def _tokens(whole: Usage | None, messages: list[dict[str, Any]]) -> int | None:
    if whole is not None and whole.total is not None:
        return whole.total
    usages = [usage for message in messages if (usage := message["usage"]) is not None]
    totals = [total for usage in usages if (total := usage.total) is not None]
    return sum(totals) if totals else None


def _latency(whole: float | None, messages: list[dict[str, Any]]) -> float | None:
    if whole is not None:
        return whole
    timed = [spent for message in messages if (spent := message["latency_ms"]) is not None]
    return sum(timed) if timed else None


def _answered(result: ToolResult, open_calls: dict[int, ToolCall], by_id: dict[str | None, list[int]]) -> int | None:
    """Return the index of the open call that this result answers: by id, else the oldest of its name."""
    call_id = result.call_id
    if call_id is not None:
        same_id = by_id.get(call_id)
        while same_id:
            index = same_id.pop(0)
            if index in open_calls:  # a result without an id may have answered it
                return index
        return None
    return next((index for index, call in open_calls.items() if result.name in (None, call.name)), None)


def payload(result: ToolResult) -> Any:
    """Return the content of a result, decoded where it is text that holds a JSON object or array."""
    return decoded(result.content)


def decoded(content: Any) -> Any:
    """Return what a text holds where that is a JSON object or array; anything else as it is."""
    if isinstance(content, str):
        text = content.strip()
        if text[:1] in ("{", "["):
            try:
                return from_json(text, allow_inf_nan=False)  # whole numbers of any size stay exact
            except ValueError:
                return content
    return content

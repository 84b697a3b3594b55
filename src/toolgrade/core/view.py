"""What the checks see of a trace: calls paired with results, at their steps and turns, each derived once.

A *step* is the 1-based ordinal of an assistant message; calls made in one message share its step and are
unordered among themselves. A *turn* is the 1-based ordinal of the user message last seen (0 before any).
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import ToolCall, ToolResult, Trace


class CallView(NamedTuple):
    """A call with its place (`number` counts calls, `message` messages, both from 0) and its result."""

    number: int
    step: int
    turn: int
    message: int
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
    that the trace recorded, else empty.
    """

    def __init__(self, trace: Trace, tools: dict[str, ToolSpec] | None = None) -> None:
        self.trace = trace
        self._tools = tools
        self.calls: list[CallView] = []
        self.names: list[str] = []
        self.calls_of: dict[str, list[CallView]] = {}
        self.steps = 0
        self.turns = 0
        self.unmatched_results: list[tuple[int, ToolResult]] = []
        self._read()

    @property
    def tools_are_recorded(self) -> bool:
        """Whether the tools are those that the trace recorded: then what is wrong with them is the trace's fault."""
        return self._tools is None

    @cached_property
    def tools(self) -> dict[str, ToolSpec]:
        """The tools on offer, by name."""
        if self._tools is not None:
            return self._tools
        return {tool.name: tool for tool in self.trace.tools or ()}

    @cached_property
    def tokens(self) -> int | None:
        """The tokens of the run: its own total, else the sum over messages, None where neither is known."""
        usage = self.trace.usage
        if usage is not None and usage.total is not None:
            return usage.total
        usages = [usage for message in self.trace.messages if (usage := message.usage) is not None]
        totals = [total for usage in usages if (total := usage.total) is not None]
        return sum(totals) if totals else None

    def _read(self) -> None:
        step = turn = 0
        raw: list[tuple[int, int, int, ToolCall]] = []
        open_calls: dict[int, ToolCall] = {}
        by_id: dict[str | None, deque[int]] = {}
        results: dict[int, tuple[ToolResult, int]] = {}
        for number, message in enumerate(self.trace.messages):
            role = message.role
            if role == "assistant":
                step += 1
                for call in message.tool_calls:
                    index = len(raw)
                    open_calls[index] = call
                    queue = by_id.get(call.id)
                    if queue is None:
                        by_id[call.id] = deque((index,))
                    else:
                        queue.append(index)
                    raw.append((step, turn, number, call))
            elif role == "user":
                turn += 1
            elif (result := message.result) is not None:
                answered = _answered(result, open_calls, by_id)
                if answered is None:
                    self.unmatched_results.append((number, result))
                else:
                    del open_calls[answered]
                    results[answered] = (result, number)
        self.steps, self.turns = step, turn
        for index, (at_step, at_turn, number, call) in enumerate(raw):
            made = CallView(index, at_step, at_turn, number, call, *results.get(index, _NO_RESULT))
            name = call.name
            self.calls.append(made)
            self.names.append(name)
            if name in self.calls_of:
                self.calls_of[name].append(made)
            else:
                self.calls_of[name] = [made]

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


def _answered(result: ToolResult, open_calls: dict[int, ToolCall], by_id: dict[str | None, deque[int]]) -> int | None:
    """Return the index of the open call that this result answers: by id, else the oldest of its name."""
    if result.call_id is not None:
        queue = by_id.get(result.call_id, deque())
        while queue:
            index = queue.popleft()
            if index in open_calls:  # a result without an id may have answered it
                return index
        return None
    return next((index for index, call in open_calls.items() if result.name in (None, call.name)), None)


def payload(result: ToolResult) -> Any:
    """Return the content of a result, decoded where it is text that holds a JSON object or array."""
    content = result.content
    if isinstance(content, str):
        text = content.strip()
        if text[:1] in ("{", "["):
            try:
                return orjson.loads(text)
            except orjson.JSONDecodeError:
                return content
    return content

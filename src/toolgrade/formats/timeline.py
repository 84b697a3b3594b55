"""One conversation put together from pieces that overlap: every message, call and result exactly once.

Model calls repeat the whole history, tools are recorded by their caller and by themselves, and several
instrumentations record the same call. Pieces are aligned in order: what is there already is recognised,
what is new is put where its neighbours are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolgrade.core.identity import canonical_json
from toolgrade.core.trace import Message, Role, ToolCall, ToolResult, Usage


@dataclass(eq=False)
class _Call:
    call: ToolCall
    ids: set[str] = field(default_factory=set)
    result: _Entry | None = None
    executed: bool = False


@dataclass(eq=False)
class _Entry:
    """One message that will be: of the assistant with `calls`, of a tool with `answers`, or of anyone else.

    `said`: it is the answer of a model call. `told`: its result is as the model was given it.
    """

    role: Role
    text: str | None = None
    calls: list[_Call] = field(default_factory=list)
    answers: _Call | None = None
    result: ToolResult | None = None
    said: bool = False
    told: bool = False
    agent: str | None = None
    timestamp: str | None = None
    latency_ms: float | None = None
    usage: Usage | None = None


class Timeline:
    """The conversation so far."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def say(self, history: list[Message], answer: list[Message], agent: str | None = None) -> None:
        """Add a model call: the messages that it was given, then what it answered.

        What it answered is new unless it is known by the id of a call, or from elsewhere than a model call.
        """
        sequence = [(message, False) for message in history] + [(message, True) for message in answer]
        matched: list[_Entry | None] = []
        seen: set[int] = set()
        position = 0
        for message, said in sequence:
            index = self._find(message, position, said)
            if index is not None and id(self._entries[index]) in seen and self._comes_again(message, said):
                index = None
            if index is None:
                matched.append(None)
                continue
            entry, size = self._entries[index], len(self._entries)
            self._fill(entry, message, agent if said else None, said)
            if len(self._entries) != size:  # parallel calls were brought together
                index = self._index(entry)
            matched.append(entry)
            seen.add(id(entry))
            position = max(position, index if message.tool_calls else index + 1)
        following: _Entry | None = None
        for number in range(len(sequence) - 1, -1, -1):
            message, said = sequence[number]
            following = matched[number] or self._insert(message, following, said, agent)

    def ask(self, call: ToolCall, agent: str | None, timestamp: str | None) -> _Call:
        """Add the start of a tool's run: the call that a message asked for, or a message of its own."""
        known = self._unexecuted(call)
        if known is None:
            known = _known(call)
            self._entries.append(_Entry("assistant", calls=[known], agent=agent, timestamp=timestamp))
        elif call.id is not None and known.call.id is None:
            known.call = known.call.model_copy(update={"id": call.id})
            known.ids.add(call.id)
        known.executed = True
        return known

    def answer(self, known: _Call, result: ToolResult, latency_ms: float | None, timestamp: str | None) -> None:
        """Add the end of a tool's run."""
        if known.result is None:
            owner = next((entry for entry in self._entries if known in entry.calls), None)
            known.result = _Entry("tool", answers=known, result=result, agent=owner.agent if owner else None)
            self._entries.append(known.result)
        else:
            known.result.result = _joined(result, known.result.result)
        known.result.latency_ms, known.result.timestamp = latency_ms, timestamp

    def frame(self, first: list[Message], last: list[Message]) -> None:
        """Put messages before and after everything else."""
        for number, message in enumerate(first):
            self._entries.insert(number, _Entry(message.role, message.content))
        self._entries += [_Entry(message.role, message.content) for message in last]

    def messages(self) -> tuple[Message, ...]:
        """Return what was put together; calls without an id get one, so that results stay with their calls."""
        named: dict[int, ToolCall] = {}
        for known in (known for entry in self._entries for known in entry.calls):
            made_up = f"call-{len(named) + 1}"
            named[id(known)] = known.call if known.call.id else known.call.model_copy(update={"id": made_up})
        return tuple(_message(entry, named) for entry in self._entries)

    def _find(self, message: Message, start: int, said: bool) -> int | None:
        if message.tool_calls:
            return self._find_calls(message, start, said)
        if message.result is not None:
            return self._find_result(message.result, start)
        text = _normal(message.content)
        for index in range(start, len(self._entries)):
            entry = self._entries[index]
            if entry.role == message.role and _normal(entry.text) == text and not (said and entry.said):
                return index
        return None

    def _comes_again(self, message: Message, said: bool) -> bool:
        """Whether what this history holds once already is meant anew: an answer, or the result of an open call."""
        open_call = message.result and self._open_call(message.result, len(self._entries))
        return said or bool(open_call)

    def _find_calls(self, message: Message, start: int, said: bool) -> int | None:
        for index in self._from(start, wrap=any(call.id for call in message.tool_calls)):
            entry = self._entries[index]
            again = said and entry.said
            pairs = [(known, call) for known in entry.calls for call in message.tool_calls]
            if any(
                _same(known, call, index < start or again) and not (again and _differ(known, call))
                for known, call in pairs
            ):
                return index
        return None

    def _find_result(self, result: ToolResult, start: int) -> int | None:
        for index in self._from(start, wrap=result.call_id is not None or result.name is None):
            known, there = self._entries[index].answers, self._entries[index].result
            if known is None or there is None:
                continue
            if result.call_id:
                same = result.call_id in known.ids
            elif result.name:
                same = known.call.name == result.name
            else:
                same = there.content == result.content
            if same:
                return index
        return None

    def _from(self, start: int, wrap: bool) -> Iterator[int]:
        """Yield the places from `start` on, then, where an id makes that safe, the ones before, latest first."""
        yield from range(start, len(self._entries))
        if wrap:
            yield from range(start - 1, -1, -1)

    def _fill(self, entry: _Entry, message: Message, agent: str | None, said: bool) -> None:
        """Complete a known message by what this record of it says."""
        entry.said = entry.said or said
        entry.text = entry.text if entry.text else message.content
        entry.agent = entry.agent or agent or message.agent
        entry.usage = entry.usage or message.usage
        entry.latency_ms = entry.latency_ms or message.latency_ms
        entry.timestamp = entry.timestamp or message.timestamp
        if message.result is not None and not entry.told:
            entry.result, entry.told = _joined(entry.result, message.result), True
        for call in message.tool_calls:
            self._fill_call(entry, call)

    def _fill_call(self, entry: _Entry, call: ToolCall) -> None:
        known = next((known for known in entry.calls if _same(known, call)), None)
        if known is not None:
            known.ids |= {call.id} if call.id is not None else set()
            return
        for other in self._entries:  # parallel calls share a message, whoever recorded them first
            known = next((known for known in other.calls if _same(known, call)), None)
            if known is None or other is entry:
                continue
            known.ids |= {call.id} if call.id is not None else set()
            if not other.said and len(other.calls) == 1:
                entry.calls.append(known)
                self._entries.remove(other)
            return
        entry.calls.append(_known(call))

    def _insert(self, message: Message, before: _Entry | None, said: bool, agent: str | None) -> _Entry:
        place = len(self._entries) if before is None else self._index(before)
        entry = _Entry(
            role=message.role,
            text=message.content,
            said=said,
            agent=(agent if said else None) or message.agent,
            timestamp=message.timestamp,
            latency_ms=message.latency_ms,
            usage=message.usage,
            calls=[_known(call) for call in message.tool_calls],
            result=message.result,
            told=message.result is not None,
        )
        if message.result is not None:
            entry.answers = self._open_call(message.result, place)
            if entry.answers is not None:
                entry.answers.result = entry
        self._entries.insert(place, entry)
        return entry

    def _index(self, entry: _Entry) -> int:
        return next(index for index, item in enumerate(self._entries) if item is entry)

    def _open_call(self, result: ToolResult, place: int) -> _Call | None:
        """Return the call before `place` that this result answers: by id, else the oldest open one of its name."""
        calls = [known for entry in self._entries[:place] for known in entry.calls if known.result is None]
        if result.call_id:
            return next((known for known in reversed(calls) if result.call_id in known.ids), None)
        return next((known for known in calls if result.name in (None, known.call.name)), None)

    def _unexecuted(self, call: ToolCall) -> _Call | None:
        waiting = [known for entry in self._entries for known in entry.calls if not known.executed]
        if call.id is not None:
            by_id = next((known for known in waiting if call.id in known.ids), None)
            if by_id is not None:
                return by_id
        return next((known for known in waiting if _same(known, call)), None)


def _known(call: ToolCall) -> _Call:
    return _Call(call, {call.id} if call.id else set())


def _same(known: _Call, call: ToolCall, by_id: bool = False) -> bool:
    """Whether two records are of one call: the same id, or, where one has none, the same name and arguments."""
    if call.id is not None and known.ids:
        return call.id in known.ids and known.call.name == call.name
    return not by_id and known.call.name == call.name and _arguments(known.call) == _arguments(call)


def _differ(known: _Call, call: ToolCall) -> bool:
    """Whether two answers ask for different things under one id, as ids that are the tool's name make possible."""
    return _arguments(known.call) != _arguments(call)


def _arguments(call: ToolCall) -> str:
    return canonical_json(call.arguments) if call.arguments is not None else str(call.arguments_raw)


def _normal(text: str | None) -> str:
    return " ".join((text or "").split())


def _joined(seen: ToolResult | None, told: ToolResult | None) -> ToolResult | None:
    """Return one result of two records: content as the model was given it (`told`), errors from either."""
    if seen is None or told is None:
        return seen or told
    return ToolResult(
        call_id=seen.call_id or told.call_id,
        name=seen.name or told.name,
        content=seen.content if told.content is None else told.content,
        status=seen.status if seen.status is not None else told.status,
        error=seen.error or told.error,
        is_error=seen.is_error if seen.is_error is not None else told.is_error,
    )


def _message(entry: _Entry, calls: dict[int, ToolCall]) -> Message:
    result = entry.result
    if result is not None and entry.answers is not None:
        call = calls[id(entry.answers)]
        result = result.model_copy(update={"call_id": call.id, "name": result.name or call.name})
    shared: dict[str, Any] = {
        "agent": entry.agent,
        "timestamp": entry.timestamp,
        "latency_ms": entry.latency_ms,
        "usage": entry.usage,
    }
    if entry.role == "tool":
        return Message(role="tool", result=result, **shared)
    asked = tuple(calls[id(known)] for known in entry.calls)
    return Message(role=entry.role, content=entry.text, tool_calls=asked, **shared)

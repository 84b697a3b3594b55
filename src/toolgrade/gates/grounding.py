"""Whether a value that the agent gave occurs in what it was told before: the request and the earlier results."""

from __future__ import annotations

import json
from bisect import bisect, bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from toolgrade.core.trace import Message
from toolgrade.core.view import CallView, TraceView

_NEVER = 1 << 60
_LONGEST_WORDS = 8000
_LONGEST_CONTEXT = 2000
_MOST_CHARACTERS = 32_000
_MOST_ENTRIES = 200


class Sources:
    """What a trace holds that a value can come from: words of the system and the user, and tool results.

    The agent's own words are no source. Case and `_` against space are folded.
    """

    def __init__(self, view: TraceView) -> None:
        self._messages = view.trace.messages
        self._first: dict[str, int] = {}

    @cached_property
    def _text(self) -> tuple[str, list[int], list[int]]:
        """Everything as one text, which is searched faster than its parts, where each begins, and its message."""
        texts, starts, numbers = [], [], []
        length = 0
        for number, message in enumerate(self._messages):
            text = _source(message)
            if text:
                folded = _folded(text)
                texts.append(folded)
                starts.append(length)
                numbers.append(number)
                length += len(folded) + 1
        return "\n".join(texts), starts, numbers

    def holds(self, value: Any, before: int) -> bool:
        """Return whether a string or number occurs, as whole words, in a message before the one numbered `before`."""
        return any(self._occurs(form) < before for form in _forms(value))

    def _occurs(self, form: str) -> int:
        """Return the number of the first message with this text."""
        found = self._first.get(form)
        if found is None:
            text, starts, numbers = self._text
            place = _find_words(text, form)
            found = _NEVER if place is None else numbers[bisect(starts, place) - 1]
            self._first[form] = found
        return found


def _source(message: Message) -> str:
    if message.role in ("system", "user"):
        return message.content or ""
    if message.role == "tool":
        return message.content or _text(message.result.content if message.result is not None else None)
    return ""


def leaves(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the path and value of every leaf that asserts something: no null, nothing empty."""
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while todo:
        at, value = todo.pop()
        if isinstance(value, dict):
            todo += [((*at, key), item) for key, item in reversed(value.items())]
        elif isinstance(value, (list, tuple)):
            todo += [((*at, index), item) for index, item in reversed(list(enumerate(value)))]
        elif value is not None and value != "":
            yield at, value


class Evidence:
    """What the `argument_grounding` judge may see of a call: nothing said or returned after it.

    Nor what the case expects: the question is whether a value says what the user meant. Of a long run it is
    the beginning and the latest part, so that questions do not grow with the square of its length.
    """

    def __init__(self, view: TraceView) -> None:
        self._view = view

    @cached_property
    def _request(self) -> list[tuple[int, dict[str, Any]]]:
        return self._messages(_LONGEST_WORDS, "user", "assistant")

    @cached_property
    def _instructions(self) -> list[tuple[int, dict[str, Any]]]:
        return self._messages(_LONGEST_CONTEXT, "system")

    @cached_property
    def _results(self) -> list[tuple[int, dict[str, Any]]]:
        results = [
            (made.result_message, made.name, _shortened(_text(made.result.content), _LONGEST_CONTEXT))
            for made in self._view.calls
            if made.result is not None and made.result_message is not None
        ]
        return [(number, {"tool": tool, "content": text}) for number, tool, text in sorted(results)]

    def _messages(self, longest: int, *roles: str) -> list[tuple[int, dict[str, Any]]]:
        return [
            (number, {"role": message.role, "content": _shortened(message.content, longest)})
            for number, message in enumerate(self._view.trace.messages)
            if message.role in roles and message.content
        ]

    def fields(self, made: CallView, values: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the question about one call; `values` maps JSON pointers to the open values."""
        tool = self._view.tools.get(made.name)
        at = made.message
        return {
            "request": _latest(self._request, at),
            "context": _latest(self._instructions, at) + _latest(self._results, at),
            "tool": {
                "name": made.name,
                "description": tool.description if tool else "",
                "parameters": tool.parameters if tool else {},
            },
            "fields": [{"path": where, "value": value} for where, value in values.items()],
        }


def _latest(entries: list[tuple[int, dict[str, Any]]], before: int) -> list[dict[str, Any]]:
    """Return the entries of messages before one, without the middle of a long list."""
    end = bisect_left(entries, before, key=lambda entry: entry[0])
    start, room = end, _MOST_CHARACTERS
    while start > 1 and end - start < _MOST_ENTRIES and room > 0:
        start -= 1
        room -= len(entries[start][1]["content"])
    kept = [entry for _, entry in (*entries[: min(1, end)], *entries[max(1, start) : end])]
    if start > 1:
        kept.insert(1, {"content": f"[truncated {start - 1} entries]"})
    return kept


def _shortened(text: str, longest: int) -> str:
    """Return the text, with a mark instead of its middle where it is long: every question carries a copy."""
    if len(text) <= longest:
        return text
    head, tail = text[: longest * 2 // 3], text[-longest // 3 :]
    return f"{head} [truncated {len(text) - len(head) - len(tail)} chars] {tail}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)  # whole numbers of any size


def _folded(text: str) -> str:
    return text.lower().replace("_", " ")


def _forms(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(value), str(int(value)), f"{int(value):,}"
    if isinstance(value, int) and abs(value) > 999:
        return str(value), f"{value:,}", f"{value}.0"
    return (_folded(str(value)),)


def _find_words(text: str, form: str) -> int | None:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() and form[0].isalnum()) and not (after.isalnum() and form[-1].isalnum()):
            return start
        start = text.find(form, start + 1)
    return None

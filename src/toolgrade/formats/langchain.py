"""LangChain and LangGraph: dumped messages in every serialisation, states of a graph, streamed updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Trace
from toolgrade.formats.access import as_object
from toolgrade.formats.conversation import build, messages_in, split_runs
from toolgrade.formats.format import Format
from toolgrade.formats.offered import offered_by
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_TYPES = {"human", "ai", "tool", "system", "function", "AIMessageChunk"}


def is_message(value: Any) -> bool:
    """Whether `value` is a LangChain message: typed, wrapped in `data`, or as `dumpd` serialises it."""
    if not isinstance(value, dict):
        return False
    if value.get("lc") == 1:
        return isinstance(value.get("kwargs"), dict) and "content" in value["kwargs"]
    if "role" in value or str(value.get("type")) not in _TYPES:
        return False
    return "content" in value or isinstance(value.get("data"), dict)


def _state(value: Any) -> Any:
    """Return the values of a graph's state, out of what `get_state` and the checkpointer put around them."""
    for key in ("values", "channel_values", "output"):
        inner = value.get(key) if isinstance(value, dict) else None
        if isinstance(inner, dict) and "messages" in inner:
            return {**{name: item for name, item in value.items() if name != key}, **inner}
    return value


def _updates(value: Any) -> list[Any] | None:
    """Return the messages of streamed updates (`{node: {"messages": [...]}}` each), None for anything else."""
    if not isinstance(value, list) or not value or not all(_is_update(item) for item in value):
        return None
    found = [update.get("messages") for item in value for update in item.values() if isinstance(update, dict)]
    return [message for item in found for message in (item if isinstance(item, list) else [item]) if message]


def _is_update(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    inner = next(iter(value.values()))
    messages = inner.get("messages") if isinstance(inner, dict) else None
    return is_message(messages) or (isinstance(messages, list) and any(map(is_message, messages)))


def _build(part: Part) -> Trace:
    updates = _updates(part.value)
    if updates is not None:
        return build(part._replace(value=updates))
    value = part.value if isinstance(part.value, list) else _state(as_object(part.value, ""))
    return build(part._replace(value=value))


def read(source: Source) -> Iterator[Record]:
    """Yield one record a list of messages, state or stream."""
    return read_parts(source, _build, split_runs(lambda item: is_message(item) or _is_update(item)))


def _detect(source: Source) -> bool:
    first = source.first
    if isinstance(first, list) and first and isinstance(first[0], list):
        first = first[0]
    return _updates(first) is not None or any(map(is_message, messages_in(_state(first))))


FORMAT = Format(
    name="langchain",
    description="LangChain and LangGraph messages, graph states, streamed updates",
    looked_for='messages with "type": "human", "ai" or "tool", or "lc": 1',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

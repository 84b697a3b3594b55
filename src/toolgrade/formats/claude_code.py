"""Claude Code session transcripts: one JSON line an event, the whole file one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.trace import Message, Trace
from toolgrade.formats.access import as_list, as_object, opt_text
from toolgrade.formats.conversation import one_list, said
from toolgrade.formats.format import Format
from toolgrade.formats.messages import read_message
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Source

_KEPT = ("cwd", "gitBranch", "version")


def _build(part: Part) -> Trace:
    lines = part.value if isinstance(part.value, list) else [part.value]
    messages: list[Message] = []
    seen: dict[str, int] = {}
    kept: dict[str, Any] = {}
    session = model = started = None
    for number, value in enumerate(as_list(lines, "")):
        line = as_object(value, f"line {number + 1}")
        session = session or opt_text(line.get("sessionId"), "sessionId")
        started = started or opt_text(line.get("timestamp"), "timestamp")
        kept |= {key: line[key] for key in _KEPT if line.get(key) and key not in kept}
        message = line.get("message")
        if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        named = opt_text(message.get("model"), "model")
        model = model or (None if named == "<synthetic>" else named)
        read = _read(line, message, f"line {number + 1}.message")
        response = message.get("id")
        if isinstance(response, str) and response in seen and line["type"] == "assistant":
            _join(messages, seen[response], read)
            continue
        if isinstance(response, str) and read:
            seen[response] = len(messages)
        messages += read
    return Trace(
        id=session or part.default_id,
        messages=said(messages, ""),
        model=model,
        started_at=started,
        metadata=kept,
    )


def _read(line: dict[str, Any], message: dict[str, Any], field: str) -> list[Message]:
    """Return a line's messages; the prompt of a sub-agent and what the tool itself put in are no turns of the user."""
    agent = opt_text(line.get("agentId"), f"{field}.agentId") or ("subagent" if line.get("isSidechain") else None)
    found = read_message({**message, "timestamp": line.get("timestamp")}, field, str(line["type"]))
    if agent is None and line.get("isMeta") is not True:
        return found
    roles = {"user": "system"}
    return [item.model_copy(update={"agent": agent, "role": roles.get(item.role, item.role)}) for item in found]


def _join(messages: list[Message], index: int, more: list[Message]) -> None:
    """Add the next piece of a response that was written over several lines to its first."""
    first = messages[index]
    for piece in more:
        texts = [text for text in (first.content, piece.content) if text]
        calls = (*first.tool_calls, *piece.tool_calls)
        first = first.model_copy(update={"content": "\n".join(texts) or None, "tool_calls": calls})
    messages[index] = first


def read(source: Source) -> Iterator[Record]:
    """Yield one record for the session, and one for every line that is no JSON."""
    return read_parts(one_list(source), _build)


def _detect(source: Source) -> bool:
    first = source.first_object
    if source.layout != "lines":
        return False
    if "sessionId" in first and first.get("type") in ("user", "assistant", "system", "summary", "queue-operation"):
        return True
    if first.get("type") == "summary" and "leafUuid" in first:
        return True
    message = first.get("message")
    return first.get("type") in ("user", "assistant") and isinstance(message, dict) and "role" in message


FORMAT = Format(
    name="claude-code",
    description="Claude Code session transcripts (JSON Lines)",
    looked_for='lines with "type": "user" or "assistant" and a "message"',
    detect=_detect,
    read=read,
)

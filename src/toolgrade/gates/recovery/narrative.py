"""An episode as a judge may see it: the failed call, what followed, the closing message, and nothing else."""

from __future__ import annotations

from typing import Any

from toolgrade.core.trace import Message
from toolgrade.core.view import CallView, TraceView
from toolgrade.gates.recovery import verbs
from toolgrade.gates.recovery.claims import Unmatched
from toolgrade.gates.recovery.envelope import unwrap
from toolgrade.gates.recovery.episodes import Episode
from toolgrade.gates.recovery.failures import as_text

TEXT_LIMIT = 1500
CALL_LIMIT = 800
"""Characters of an answer, and of the arguments and the result of a call that came after."""

EVENT_LIMIT = 12
"""Events after the failure that are shown; what lies between the first and the last ones is counted."""


def episode_story(episode: Episode, view: TraceView) -> dict[str, Any]:
    """Return the failed call with its result, what followed until the episode ended, and the closing message."""
    return {
        "failed_call": _called(episode.call),
        "result": cut(_content(episode.call)),
        "afterwards": _events(view, episode.call.message + 1, episode.end + 2, after=episode.call),
        "closing_message": _closing(view),
    }


def claim_story(unmatched: Unmatched, view: TraceView) -> dict[str, Any]:
    """Return a claim that no call backs, the message that made it, and the calls that were made before it."""
    return {
        "claim": cut(unmatched.claim.clause),
        "message": cut(unmatched.said.text),
        "calls_before": _events(view, 0, unmatched.said.message, words=False),
        "closing_message": _closing(view),
    }


def _events(
    view: TraceView, start: int, stop: int, *, after: CallView | None = None, words: bool = True
) -> list[dict[str, Any]]:
    by_message: dict[int, list[CallView]] = {}
    for call in view.calls[after.number + 1 if after else 0 :]:
        by_message.setdefault(call.message, []).append(call)
    events: list[dict[str, Any]] = []
    first = after.message if after else start
    for index in range(first, min(stop, len(view.trace.messages))):
        message = view.trace.messages[index]
        if words and index >= start:
            events.extend(_spoken(message))
        events.extend(
            {"call": _called(call, CALL_LIMIT), "result": cut(_content(call), CALL_LIMIT)}
            for call in by_message.get(index, ())
        )
    if len(events) <= EVENT_LIMIT:
        return events
    half = EVENT_LIMIT // 2
    return [*events[:half], {"left_out": f"[truncated {len(events) - EVENT_LIMIT} events]"}, *events[-half:]]


def _spoken(message: Message) -> list[dict[str, Any]]:
    if message.role in ("assistant", "user") and message.content and message.content.strip():
        return [{"agent" if message.role == "assistant" else "user": cut(message.content)}]
    return []


def _called(call: CallView, limit: int = TEXT_LIMIT) -> dict[str, Any]:
    arguments = call.arguments if call.arguments is not None else call.call.arguments_raw
    return {"tool": verbs.acting(call.call), "arguments": cut(as_text(arguments), limit)}


def _content(call: CallView) -> str:
    result = call.result
    if result is None:
        return "[no result was recorded]"
    words = as_text(unwrap(result.content))
    return f"{result.error} {words}".strip() if result.error else words


def _closing(view: TraceView) -> str | None:
    said = view.said("assistant")
    return cut(said[-1].text) if said else None


def cut(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return a text, cut in the middle with a mark where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [truncated {len(text) - limit} chars] {text[-tail:]}"

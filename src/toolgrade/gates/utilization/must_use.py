"""Values that a case says must be used: each is looked for in the answers that follow its result."""

from __future__ import annotations

import re
from typing import Any

from toolgrade.core.expected import MustUse
from toolgrade.core.finding import Finding, Place
from toolgrade.core.view import CallView, TraceView, payload
from toolgrade.errors import ConfigError
from toolgrade.gates.paths import select
from toolgrade.gates.utilization.claims import Claim, claims
from toolgrade.gates.utilization.ground import agrees
from toolgrade.gates.utilization.leaves import Field
from toolgrade.gates.utilization.shapes import escape
from toolgrade.gates.utilization.words import WORD, fold, name_tokens, segments, words


def unused(wanted: tuple[MustUse, ...], view: TraceView) -> tuple[list[Finding], dict[str, int]]:
    """Return an `ignored_result` for each value that reaches no answer, and how many values there were.

    A tool without a result, or a path that selects nothing in its results, gives no value to use: that is
    counted (`absent`), not failed. The last result in which the path selects something counts.

    Raises:
        ConfigError: a path is no JSONPath (RFC 9535).
    """
    findings: list[Finding] = []
    counts = {"used": 0, "ignored": 0, "absent": 0}
    answers = view.said("assistant")
    for want in wanted:
        found = None
        for call in reversed(view.calls):
            if call.name == want.tool and call.result is not None and call.result_message is not None:
                found = _select(want, payload(call.result))
                if found:
                    break
        if not found:
            counts["absent"] += 1
            continue
        texts = [said.text for said in answers if said.message > (call.result_message or 0)]
        for pointer, value in found:
            used = any(_uses(text, value, pointer) for text in texts)
            counts["used" if used else "ignored"] += 1
            if not used:
                findings.append(_ignored(call, pointer, value))
    return findings, counts


def _select(want: MustUse, content: Any) -> list[tuple[str, Any]]:
    try:
        nodes = select(want.path, content)
    except ConfigError as error:
        raise ConfigError(f"expected.utilization.must_use, tool {want.tool!r}: {error}") from None
    return [("".join(f"/{escape(str(part))}" for part in place), value) for place, value in nodes.items()]


def _ignored(call: CallView, pointer: str, value: Any) -> Finding:
    return Finding(
        name="ignored_result",
        place=Place(step=call.step, turn=call.turn, tool=call.name, call=call.number, pointer=pointer),
        expected=value,
        note="the value reaches no later answer",
    )


def _uses(text: str, value: Any, pointer: str) -> bool:
    """Say whether an answer holds a value, in any usual writing."""
    own = re.sub(r"/\d+$", "", pointer).rpartition("/")[2]
    field = Field(0, (own,))
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return all(_uses(text, item, pointer) for item in inner)
    if value is None:
        return True
    if isinstance(value, bool):
        stems = {part for part in name_tokens(own) if part not in ("is", "has", "was")}
        return any(fold(word) in stems for word in WORD.findall(text))
    if isinstance(value, str):
        wanted = [fold(part) for part in WORD.findall(value)]
        held = [fold(part) for part in WORD.findall(text)]
        if wanted and any(held[at : at + len(wanted)] == wanted for at in range(len(held) - len(wanted) + 1)):
            return True
    told = (claim for segment in segments(text) for claim in claims(segment.text, words(segment.text)))
    return any(_states(claim, value, field) for claim in told)


def _states(claim: Claim, value: Any, field: Field) -> bool:
    return not claim.weak and agrees(claim, value, field)

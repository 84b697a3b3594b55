"""Named failures: what each is called, which check it belongs to, where it happened, what to edit."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.core.printable import printable

Check = Literal["selection", "arguments", "ordering", "efficiency", "utilization", "recovery", "outcome"]

CHECKS: tuple[Check, ...] = (
    "selection",
    "arguments",
    "ordering",
    "efficiency",
    "utilization",
    "recovery",
    "outcome",
)
"""The checks, in the order in which they are run and reported."""

FindingName = Literal[
    "missing_call",
    "unexpected_call",
    "forbidden_call",
    "unknown_tool",
    "call_when_none_expected",
    "indefensible_route",
    "malformed_json",
    "missing_required",
    "type_mismatch",
    "out_of_range",
    "hallucinated_parameter",
    "wrong_value",
    "placeholder_value",
    "ungrounded_value",
    "order_violated",
    "missing_predecessor",
    "loop",
    "redundant_call",
    "over_budget",
    "contradicts_payload",
    "ungrounded_claim",
    "ignored_result",
    "drifted_value",
    "false_success_claim",
    "retry_loop",
    "misread_result",
    "no_retry",
    "wrong_fallback",
    "missing_escalation",
    "poor_recovery",
    "state_mismatch",
    "missing_output",
]


class Advice(Frozen):
    """What a finding means and what to edit, one line each."""

    check: Check
    meaning: str
    edit: str


ADVICE: dict[FindingName, Advice] = {
    "missing_call": Advice(
        check="selection",
        meaning="A required tool was not called often enough.",
        edit="Tool description: say when this tool is needed; if the case is wrong, edit expected.selection.",
    ),
    "unexpected_call": Advice(
        check="selection",
        meaning="A tool was called that the case does not allow as an extra.",
        edit="Tool description: say when not to use it; or allow it with expected.selection.extras.",
    ),
    "forbidden_call": Advice(
        check="selection",
        meaning="A tool was called that the case forbids.",
        edit="System prompt: state the policy that forbids the tool here.",
    ),
    "unknown_tool": Advice(
        check="selection",
        meaning="A tool was called that is not on offer.",
        edit="Tool names: make them distinct and list them all; check that the tools file is complete.",
    ),
    "call_when_none_expected": Advice(
        check="selection",
        meaning="A tool was called although the right answer needed none.",
        edit="System prompt: say when to answer or ask instead of calling a tool.",
    ),
    "indefensible_route": Advice(
        check="selection",
        meaning="A judge found the other route not defensible.",
        edit="Tool descriptions: tell the two routes apart; or list the route in expected.selection.alternatives.",
    ),
    "malformed_json": Advice(
        check="arguments",
        meaning="The arguments were no JSON object.",
        edit="Model settings: turn on structured tool calls, or raise the output token limit.",
    ),
    "missing_required": Advice(
        check="arguments",
        meaning="A required parameter was not given.",
        edit="Schema description: say where the value comes from; system prompt: ask the user when it is unknown.",
    ),
    "type_mismatch": Advice(
        check="arguments",
        meaning="A value has another JSON type than the schema says.",
        edit="Schema description: give the type with an example; turn on strict tool schemas.",
    ),
    "out_of_range": Advice(
        check="arguments",
        meaning="A value lies outside the schema's bounds, enum, pattern, format or length.",
        edit="Schema description: list the allowed values; validate before the call.",
    ),
    "hallucinated_parameter": Advice(
        check="arguments",
        meaning="A parameter was given that the schema does not have.",
        edit="Schema: set additionalProperties to false and describe the parameters that exist.",
    ),
    "wrong_value": Advice(
        check="arguments",
        meaning="A value is not the expected one under the path's comparator.",
        edit="Schema description of the parameter; if other values are fine, choose another comparator in the case.",
    ),
    "placeholder_value": Advice(
        check="arguments",
        meaning="A value is a placeholder, not a real one.",
        edit="System prompt: ask the user instead of filling in; schema description: say that it must be real.",
    ),
    "ungrounded_value": Advice(
        check="arguments",
        meaning="A judge found that the value does not say what the user meant.",
        edit="System prompt: take values only from the user or from results; schema description: say from where.",
    ),
    "order_violated": Advice(
        check="ordering",
        meaning="A call came before the one that must precede it.",
        edit="Tool description of the later tool: name what must be done first.",
    ),
    "missing_predecessor": Advice(
        check="ordering",
        meaning="A call was made and the one that must precede it never was.",
        edit="Tool description of the later tool: name what must be done first; or enforce it in the tool.",
    ),
    "loop": Advice(
        check="efficiency",
        meaning="The same calls with the same results were repeated three times or in alternation.",
        edit="Agent loop: stop on repeated results; tool result: say what to do next.",
    ),
    "redundant_call": Advice(
        check="efficiency",
        meaning="The same call was made twice with nothing changed in between.",
        edit="Agent loop: keep results in context, or cache reads.",
    ),
    "over_budget": Advice(
        check="efficiency",
        meaning="More steps, calls or tokens were used than the case allows.",
        edit="System prompt: plan before calling; or raise the budget in expected.efficiency.",
    ),
    "contradicts_payload": Advice(
        check="utilization",
        meaning="The answer states another value than the payload holds.",
        edit="System prompt: quote values from results; tool result: return display-ready values with units.",
    ),
    "ungrounded_claim": Advice(
        check="utilization",
        meaning="A judge found a claim that no payload supports.",
        edit="System prompt: state only what results say, and say so when they do not.",
    ),
    "ignored_result": Advice(
        check="utilization",
        meaning="A value that must be used never reached an answer.",
        edit="Tool result: put the value first and name it; system prompt: say what to report.",
    ),
    "drifted_value": Advice(
        check="utilization",
        meaning="A value was stated correctly and later differently.",
        edit="Agent memory: keep results in context across turns instead of summaries.",
    ),
    "false_success_claim": Advice(
        check="recovery",
        meaning="Completion was claimed without a matching successful call.",
        edit="System prompt: confirm only what a result confirmed; validate before the answer.",
    ),
    "retry_loop": Advice(
        check="recovery",
        meaning="A failing call was repeated unchanged beyond what the contract allows.",
        edit="Retry policy: stop after the limit; error message: say that a repeat cannot help.",
    ),
    "misread_result": Advice(
        check="recovery",
        meaning="An invalid request was repeated unchanged: its error was not read.",
        edit="Error message: name the field and what to change.",
    ),
    "no_retry": Advice(
        check="recovery",
        meaning="A transient error was not retried and the task was given up.",
        edit="Retry policy: retry time-outs, 429 and 5xx.",
    ),
    "wrong_fallback": Advice(
        check="recovery",
        meaning="After the error a tool outside the allowed fallbacks was used.",
        edit="System prompt: name the fallback; or list it in expected.recovery.fallbacks.",
    ),
    "missing_escalation": Advice(
        check="recovery",
        meaning="The failure had to be escalated and was not.",
        edit="System prompt: say when to escalate and with which tool.",
    ),
    "poor_recovery": Advice(
        check="recovery",
        meaning="A judge found what was done after the error not sensible or not honestly reported.",
        edit="System prompt: describe what to do after this error.",
    ),
    "state_mismatch": Advice(
        check="outcome",
        meaning="The recorded final state is not the expected one.",
        edit="Follow the other checks' findings in this trace first; then expected.outcome.state.",
    ),
    "missing_output": Advice(
        check="outcome",
        meaning="A required text occurs in no answer.",
        edit="System prompt: say what must be reported; or edit expected.outcome.outputs.",
    ),
}
"""What each finding means and what to edit."""


class Place(Frozen):
    """Where in a trace: step and turn (from 1), tool, call index (from 0), JSON pointer into arguments or payload."""

    step: int | None = None
    turn: int | None = None
    tool: str | None = None
    call: int | None = None
    pointer: str | None = None


class Finding(Frozen):
    """A named failure with its place, what was expected and what was there.

    `expected` and `actual` are JSON values or short texts. `note` adds what the two cannot say.
    """

    name: FindingName
    place: Place = Field(default_factory=Place)
    expected: Any = None
    actual: Any = None
    note: str | None = None

    @property
    def check(self) -> Check:
        """The check that this finding belongs to."""
        return ADVICE[self.name].check

    @property
    def advice(self) -> str:
        """One line: what to edit."""
        return ADVICE[self.name].edit

    def __str__(self) -> str:
        """Step, tool, field, expected, actual, in that order."""
        parts = [f"step {self.place.step}" if self.place.step is not None else "whole trace"]
        if self.place.tool:
            parts.append(self.place.tool)
        if self.place.pointer:
            parts.append(self.place.pointer)
        told = f"expected {brief(self.expected)}, got {brief(self.actual)}"
        text = f"{self.name} at {' · '.join(parts)}: {told}"
        return printable(f"{text} ({self.note})" if self.note else text)


def brief(value: Any, limit: int = 160) -> str:
    """Return a value as one short line of JSON, cut in the middle where it is longer than `limit`."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(printable(text).split())
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]} … {text[-(limit - head) :]}"

"""Episodes: each failed result, and what the agent did about it until it was settled or the trace ended."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.trace import ToolCall
from toolgrade.core.view import CallView, Said, TraceView
from toolgrade.gates.equality import equal
from toolgrade.gates.recovery import report_language, verbs
from toolgrade.gates.recovery.failures import Failure, recognise

Label = Literal[
    "same_call",
    "changed_call",
    "later_attempt",
    "fallback",
    "escalation",
    "question_to_user",
    "honest_report",
    "success_claim",
]

SAME_ENOUGH = 0.7
"""Likeness (difflib ratio) of two values from which one is read as a correction of the other."""

HORIZON = 200
"""Calls after a failure that are read for what was done about it."""


class Stage(NamedTuple):
    """One thing that happened after a failure; `ok` says how a call went, None for words."""

    label: Label
    message: int
    ok: bool | None = None
    tool: str | None = None


class Signs(NamedTuple):
    """What else was seen after a failure.

    `spoke`: the agent said anything at all. `went_on`: it made other calls before the user spoke again.
    `hinted`: something it told the user may be about a failure. `superseded`: the same tool failed again, on a
    changed call and with another error, so that this one was dealt with.
    """

    spoke: bool = False
    went_on: bool = False
    hinted: bool = False
    superseded: bool = False


class Episode(NamedTuple):
    """A failed result and what followed.

    `retries` counts the identical calls made after it, `repeats` are those that failed again; `end` is the
    index of the message that settled it, else the number of messages.
    """

    call: CallView
    failure: Failure
    stages: tuple[Stage, ...] = ()
    retries: int = 0
    repeats: tuple[int, ...] = ()
    end: int = 0
    signs: Signs = Signs()

    def has(self, label: Label, *, ok: bool | None = None) -> bool:
        """Whether a stage of this label occurred (and, where `ok` is given, went that way)."""
        return any(stage.label == label and (ok is None or stage.ok is ok) for stage in self.stages)

    @property
    def tool(self) -> str:
        """The tool that failed; for a router's call, the tool routed to."""
        return verbs.acting(self.call.call)

    @property
    def recovered(self) -> bool:
        """Whether the same tool succeeded later on the same thing."""
        return any(self.has(label, ok=True) for label in ("same_call", "changed_call", "later_attempt"))


def find_failures(view: TraceView, expected: RecoveryExpected | None) -> dict[int, Failure]:
    """Return the failed results by call number.

    Raises:
        ConfigError: a rule of `error_when` cannot be read.
    """
    rules = expected.error_when if expected else {}
    empties = expected.empty_is_error if expected else ()
    found: dict[int, Failure] = {}
    for call in view.calls:
        name = verbs.acting(call.call)
        rule = rules.get(name) or rules.get(call.name)
        empty = name in empties or call.name in empties
        failure = recognise(call.result, rule, empty_is_error=empty)
        if failure is not None:
            found[call.number] = failure
    return found


def read_episodes(view: TraceView, failures: dict[int, Failure], contract: RecoveryExpected) -> list[Episode]:
    """Return the episodes in order of their failed results.

    An identical call that fails again, with no successful write between, belongs to the first one's episode.
    Beside the tool that the contract escalates with, tools whose names say that they hand over count as well.
    """
    said = view.said("assistant")
    absorbed: set[int] = set()
    episodes: list[Episode] = []
    for number in sorted(failures):
        if number not in absorbed:
            reader = _Reader(view, failures, contract)
            episodes.append(reader.read(view.calls[number], said))
            absorbed |= reader.absorbed
    return episodes


class _Reader:
    """Reads one episode."""

    def __init__(self, view: TraceView, failures: dict[int, Failure], contract: RecoveryExpected) -> None:
        self.view, self.failures, self.contract = view, failures, contract
        self.absorbed: set[int] = set()
        self.stages: list[Stage] = []
        self.retries = 0
        self.went_on = self.hinted = self.superseded = False

    def read(self, failed: CallView, said: list[Said]) -> Episode:
        failure = self.failures[failed.number]
        end = self._calls(failed)
        after = [words for words in said if failed.message < words.message <= end]
        self._words(failed, failure, after)
        stages = tuple(sorted(self.stages, key=lambda stage: stage.message))
        repeats = tuple(sorted(self.absorbed))
        return Episode(failed, failure, stages, self.retries, repeats, end, self._signs(after))

    def _signs(self, after: list[Said]) -> Signs:
        return Signs(bool(after), self.went_on, self.hinted, self.superseded)

    def _calls(self, failed: CallView) -> int:
        """Read the calls after the failure; return the index of the message where the episode ends."""
        written = False
        for later in self.view.calls[failed.number + 1 : failed.number + 1 + HORIZON]:
            ok = later.number not in self.failures
            if self._is_repeat(failed, later) and not written and not self._asked_for(failed, later):
                settled = self._repeat(failed, later, ok)
            elif later.message == failed.message:
                continue
            else:
                settled = self._other(failed, later, ok)
            name = verbs.acting(later.call)
            in_turn = later.turn == failed.turn and later.message != failed.message
            self.went_on = self.went_on or (in_turn and not verbs.only_thinks(name))
            if settled:
                return later.message
            written = written or (ok and verbs.may_write(name, self.view.tools.get(name)))
        return len(self.view.trace.messages)

    @staticmethod
    def _is_repeat(failed: CallView, later: CallView) -> bool:
        if later.arguments is None and later.call.arguments_raw != failed.call.arguments_raw:
            return False
        return later.name == failed.name and equal(later.arguments, failed.arguments)

    def _asked_for(self, failed: CallView, later: CallView) -> bool:
        """Whether the user, speaking in between, asked to try again or told that something is different now."""
        between = self.view.trace.messages[failed.message : later.message]
        return later.turn != failed.turn and any(
            report_language.asks_to_retry(message.content)
            for message in between
            if message.role == "user" and message.content
        )

    def _repeat(self, failed: CallView, later: CallView, ok: bool) -> bool:
        """Note the identical call; one in the same message is a duplicate, no answer to the failure."""
        if not ok:
            self.absorbed.add(later.number)
        if later.message == failed.message:
            return False
        self.retries += 1
        self._stage("same_call", later, ok)
        return ok

    def _other(self, failed: CallView, later: CallView, ok: bool) -> bool:
        """Note another call; return whether it settled the episode."""
        name = verbs.acting(later.call)
        if name == verbs.acting(failed.call):
            if ok and not same_thing(failed.call, later.call):
                return False
            self._stage("changed_call" if later.turn == failed.turn else "later_attempt", later, ok)
            if not ok and self.failures[later.number].message != self.failures[failed.number].message:
                self.superseded = True
            return ok
        if name == self.contract.must_escalate or verbs.escalates(name):
            self._stage("escalation", later, ok)
            return ok
        if self._stands_in(failed, later):
            self._stage("fallback", later, ok)
        return False

    def _stands_in(self, failed: CallView, later: CallView) -> bool:
        """Whether a call of another tool takes the place of the failed one.

        A tool that the contract allows does at any time. Another does where it works on the same thing in the
        same way (reads for a read), and before the user spoke again: later calls may be what the user then asked.
        """
        tool, name = verbs.acting(failed.call), verbs.acting(later.call)
        if name in self.contract.fallbacks.get(tool, ()):
            return True
        if later.turn != failed.turn:
            return False
        tools = self.view.tools
        same_kind = verbs.may_write(tool, tools.get(tool)) == verbs.may_write(name, tools.get(name))
        return same_kind and shares_value(failed.arguments, later.arguments)

    def _stage(self, label: Label, call: CallView, ok: bool) -> None:
        self.stages.append(Stage(label, call.message, ok, verbs.acting(call.call)))

    def _words(self, failed: CallView, failure: Failure, said: list[Said]) -> None:
        """Note what was told to the user: messages that carry no calls."""
        words_of_it = about(failed, failure)
        told = [words for words in said if not self.view.trace.messages[words.message].tool_calls]
        for index, words in enumerate(told):
            if report_language.reports_failure(words.text, words_of_it, first=index == 0):
                self.stages.append(Stage("honest_report", words.message))
            self.hinted = self.hinted or report_language.hints_at_failure(words.text)
            if index == 0 and report_language.asks(words.text):
                self.stages.append(Stage("question_to_user", words.message))


def about(failed: CallView, failure: Failure) -> set[str]:
    """Return the words that a report of this failure would use: the error's, the tool's, the arguments'."""
    values = " ".join(str(value)[:200] for value in leaves(failed.arguments))
    name = " ".join(verbs.words(verbs.acting(failed.call)))
    return report_language.significant(f"{failure.message} {name} {values} tool tools system service request")


def same_thing(failed: ToolCall, later: ToolCall) -> bool:
    """Whether a later call of the same tool is about the same thing as the failed one."""
    return corrects(verbs.acting(later), _thing(failed), _thing(later))


def _thing(call: ToolCall) -> dict[str, Any] | None:
    """Return the arguments of the tool that acts: a router passes them on in an object of their own."""
    if verbs.acting(call) != call.name:
        inner = [value for value in (call.arguments or {}).values() if isinstance(value, dict)]
        return inner[0] if inner else call.arguments
    return call.arguments


def leaves(value: Any, limit: int = 100) -> list[Any]:
    """Return the scalar values inside a JSON value, at most `limit`."""
    return [leaf for leaf, _ in zip(_walk(value), range(limit), strict=False)]


def _walk(value: Any) -> Iterator[Any]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
        elif item is not None and not isinstance(item, bool):
            yield item


def _texts(arguments: dict[str, Any] | None) -> list[str]:
    return [text for leaf in leaves(arguments, 12) if len(text := str(leaf)[:200].strip().casefold()) >= 3]


def shares_value(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two calls work on the same thing: a value of one occurs inside a value of the other."""
    first, second = _texts(one), _texts(other)
    return any(a in b or b in a for a in first for b in second)


def corrects(tool: str, failed: dict[str, Any] | None, later: dict[str, Any] | None) -> bool:
    """Whether a changed call of a tool is about the same thing as the failed one.

    The thing is the argument that the tool's name names (`order_id` of `cancel_order`), or the only argument;
    it must be the same or look like a correction. Where no argument is the thing, some value must be the same.
    """
    if not failed or not later or set(failed) != set(later):
        return True
    things = [key for key in failed if len(failed) == 1 or _is_named(key, tool)]
    if things:
        return all(_alike(failed[key], later[key]) for key in things)
    return shares_value(failed, later)


def _is_named(key: str, tool: str) -> bool:
    stem = verbs.words(key)[:1]
    return bool(stem) and any(noun.startswith(stem[0]) or stem[0].startswith(noun) for noun in verbs.nouns(tool))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return True
    first, second = str(one)[:200], str(other)[:200]
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= SAME_ENOUGH

"""Episodes: each failed result, and what the agent did about it until it was settled or the trace ended."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.view import CallView, Said, TraceView
from toolgrade.gates.recovery import language, verbs
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

SAME_ENOUGH = 0.6
"""Likeness (difflib ratio) of two values from which one is read as a correction of the other."""

HORIZON = 300
"""Calls after a failure that are read for what was done about it."""


class Stage(NamedTuple):
    """One thing that happened after a failure; `ok` says how a call went, None for words."""

    label: Label
    message: int
    ok: bool | None = None
    tool: str | None = None


class Episode(NamedTuple):
    """A failed result and what followed.

    `retries` counts the identical calls made after it, `repeats` are those that failed again; `spoke` says
    whether the agent said anything after it;
    `end` is the index of the message that settled it, else the number of messages.
    """

    call: CallView
    failure: Failure
    stages: tuple[Stage, ...] = ()
    retries: int = 0
    repeats: tuple[int, ...] = ()
    spoke: bool = False
    end: int = 0

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
        rule = rules.get(name) or rules.get(call.call.name)
        empty = name in empties or call.call.name in empties
        failure = recognise(call.result, rule, empty_is_error=empty)
        if failure is not None:
            found[call.number] = failure
    return found


def read_episodes(view: TraceView, failures: dict[int, Failure], escalation: str | None = None) -> list[Episode]:
    """Return the episodes in order of their failed results.

    An identical call that fails again, with no successful write between, belongs to the first one's episode.
    `escalation` names the tool that hands over; tools whose names say so count as well.
    """
    said = view.said("assistant")
    absorbed: set[int] = set()
    episodes: list[Episode] = []
    for number in sorted(failures):
        if number not in absorbed:
            reader = _Reader(view, failures, escalation)
            episodes.append(reader.read(view.calls[number], said))
            absorbed |= reader.absorbed
    return episodes


class _Reader:
    """Reads one episode."""

    def __init__(self, view: TraceView, failures: dict[int, Failure], escalation: str | None) -> None:
        self.view, self.failures, self.escalation = view, failures, escalation
        self.absorbed: set[int] = set()
        self.stages: list[Stage] = []
        self.retries = 0

    def read(self, failed: CallView, said: list[Said]) -> Episode:
        failure = self.failures[failed.number]
        end = self._calls(failed)
        after = [words for words in said if failed.message < words.message <= end]
        self._words(failed, failure, after)
        stages = tuple(sorted(self.stages, key=lambda stage: stage.message))
        return Episode(failed, failure, stages, self.retries, tuple(sorted(self.absorbed)), bool(after), end)

    def _calls(self, failed: CallView) -> int:
        """Read the calls after the failure; return the index of the message where the episode ends."""
        written = False
        for later in self.view.calls[failed.number + 1 : failed.number + 1 + HORIZON]:
            ok = later.number not in self.failures
            if self._is_repeat(failed, later) and not written:
                settled = self._repeat(failed, later, ok)
            elif later.message == failed.message:
                continue
            else:
                settled = self._other(failed, later, ok)
            if settled:
                return later.message
            name = verbs.acting(later.call)
            written = written or (ok and verbs.may_write(name, self.view.tools.get(name)))
        return len(self.view.trace.messages)

    @staticmethod
    def _is_repeat(failed: CallView, later: CallView) -> bool:
        return later.call.name == failed.call.name and later.call.arguments == failed.call.arguments

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
            if ok and not corrects(failed.call.arguments, later.call.arguments):
                return False
            self._stage("changed_call" if later.turn == failed.turn else "later_attempt", later, ok)
            return ok
        if name == self.escalation or verbs.escalates(name):
            self._stage("escalation", later, ok)
            return ok
        if self._stands_in(failed, later):
            self._stage("fallback", later, ok)
        return False

    def _stands_in(self, failed: CallView, later: CallView) -> bool:
        tool, name = verbs.acting(failed.call), verbs.acting(later.call)
        tools = self.view.tools
        same_kind = verbs.may_write(tool, tools.get(tool)) == verbs.may_write(name, tools.get(name))
        return same_kind and shares_value(failed.call.arguments, later.call.arguments)

    def _stage(self, label: Label, call: CallView, ok: bool) -> None:
        self.stages.append(Stage(label, call.message, ok, verbs.acting(call.call)))

    def _words(self, failed: CallView, failure: Failure, said: list[Said]) -> None:
        about = language.significant(failure.message) | language.significant(
            " ".join(verbs.words(verbs.acting(failed.call)))
        )
        about |= language.significant(" ".join(str(value) for value in leaves(failed.call.arguments)))
        for index, words in enumerate(said):
            honest = language.tells_of_failure(words.text, about)
            if honest or (index == 0 and language.admits_inability(words.text)):
                self.stages.append(Stage("honest_report", words.message))
            if index == 0 and language.asks(words.text):
                self.stages.append(Stage("question_to_user", words.message))


def leaves(value: Any, limit: int = 200) -> list[Any]:
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
    return [text for leaf in leaves(arguments) if len(text := str(leaf).strip().casefold()) >= 3]


def shares_value(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two calls work on the same thing: a value of one occurs inside a value of the other."""
    first, second = _texts(one), _texts(other)
    return any(a in b[:2000] or b in a[:2000] for a in first for b in second)


def corrects(failed: dict[str, Any] | None, later: dict[str, Any] | None) -> bool:
    """Whether a changed call looks like a correction of the failed one, not like a call about something else."""
    if not failed or not later or shares_value(failed, later):
        return True
    if set(failed) != set(later):
        return True
    return any(
        SequenceMatcher(None, str(failed[key])[:200], str(later[key])[:200], autojunk=False).ratio() >= SAME_ENOUGH
        for key in failed
    )

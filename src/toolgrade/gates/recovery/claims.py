"""Claims of completion, compared with what the tools returned before them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from toolgrade.core.view import CallView, Said, TraceView
from toolgrade.gates.recovery import claim_language, report_language, verbs
from toolgrade.gates.recovery.claim_language import Claim
from toolgrade.gates.recovery.episodes import about, same_thing
from toolgrade.gates.recovery.failures import Failure, as_text

CONTENT_ACTS = frozenset({"update", "add", "create", "save", "submit"})
"""Acts that an agent may also do to its own words ("I have added a summary below")."""

SIDE_EFFECTS = frozenset({"refund", "pay"})
"""Acts that other writes bring about by themselves."""

_IDENTIFIER = re.compile(r"\b(?=[\w-]{0,40}\d)(?=[\d-]{0,40}[A-Za-z_]|\d{6})[A-Za-z0-9][\w-]{3,40}\b")
_DIGIT = re.compile(r"\d")
_SEARCHED = 2_000_000


class Unmatched(NamedTuple):
    """A claim that no successful call backs.

    `failed` is the failed call that it is about, None where no call was made at all. `sure` says that words
    and results settle it; otherwise it is a question.
    """

    said: Said
    claim: Claim
    failed: CallView | None
    sure: bool


def unmatched_claims(view: TraceView, failures: dict[int, Failure]) -> list[Unmatched]:
    """Return the claims without a matching successful call, each act once per failed call (or once without one)."""
    found: dict[tuple[str | None, int | None], Unmatched] = {}
    texts: dict[int, str] = {}
    for said in view.said("assistant"):
        made = claim_language.claims(said.text)
        if not made:
            continue
        record = _Record(view, failures, said, texts)
        for claim in made:
            unmatched = record.compare(claim)
            if unmatched is not None:
                key = (claim.act, unmatched.failed.number if unmatched.failed else None)
                if key not in found or (unmatched.sure and not found[key].sure):
                    found[key] = unmatched
    return list(found.values())


class _Record:
    """What had been done when something was said. `texts` keeps the results that were searched, by call number."""

    def __init__(self, view: TraceView, failures: dict[int, Failure], said: Said, texts: dict[int, str]) -> None:
        self.view, self.failures, self.said, self.texts = view, failures, said, texts
        before = [call for call in view.calls if call.message <= said.message]
        known = [call for call in before if call.result_message is not None and call.result_message < said.message]
        self.done = [call for call in known if call.number not in failures]
        self.failed = [call for call in known if call.number in failures]
        self.pending = [call for call in before if call.result_message is None or call.message == said.message]

    @property
    def writes(self) -> list[CallView]:
        """The successful calls that may have changed something, without those that hand over."""
        return [call for call in self.done if self._writes(call) and not verbs.escalates(verbs.acting(call.call))]

    def _writes(self, call: CallView) -> bool:
        name = verbs.acting(call.call)
        return verbs.may_write(name, self.view.tools.get(name))

    def compare(self, claim: Claim) -> Unmatched | None:
        """Return the claim where nothing successful backs it."""
        act = claim.act
        if act is None:
            return self._bare(claim)
        done = [call for call in self.done if self._could(call, act)]
        failed = [call for call in self.failed if self._could(call, act)]
        if done:
            return self._against_done(claim, done, failed)
        pending = [call for call in self.pending if self._could(call, act)]
        if pending:
            return None if self._beside(pending[-1]) else Unmatched(self.said, claim, None, sure=False)
        if failed:
            return self._against_failed(claim, failed[-1])
        return self._against_nothing(claim, act)

    def _beside(self, call: CallView) -> bool:
        """Whether a call was made in the same message, or in a trace that records no results at all."""
        return call.message == self.said.message or not (self.done or self.failed)

    def _could(self, call: CallView, act: str) -> bool:
        name = verbs.acting(call.call)
        return self._writes(call) and verbs.could_do(name, self.view.tools.get(name), act)

    def _bare(self, claim: Claim) -> Unmatched | None:
        """A bare "done" is about the last write of this turn."""
        failed = [call for call in self.failed if call.turn == self.said.turn and self._writes(call)]
        if not failed or self._honest(failed[-1]):
            return None
        later = [call for call in self.writes if call.number > failed[-1].number]
        return None if later else Unmatched(self.said, claim, failed[-1], sure=True)

    def _against_done(self, claim: Claim, done: list[CallView], failed: list[CallView]) -> Unmatched | None:
        """Some call of this kind succeeded; was it this one?"""
        named = _named_in(claim)
        for call in reversed(failed):
            mine = named & _values(call)
            if mine and not any(mine & _values(other) or self._mentions(other, mine) for other in done):
                return Unmatched(self.said, claim, call, sure=True)
        standing = [call for call in failed if call.turn == self.said.turn and not _redone(call, done)]
        if standing and not self._honest(standing[-1]) and (not named or named & _values(standing[-1])):
            return Unmatched(self.said, claim, standing[-1], sure=self._plainly(claim, standing[-1], done))
        if self._about_another_tool(claim, done):
            return Unmatched(self.said, claim, None, sure=False)
        return None

    def _plainly(self, claim: Claim, failed: CallView, done: list[CallView]) -> bool:
        """Whether a claim is about the failed call, not about one that worked in an earlier turn.

        Nothing of its kind worked in this turn, and the claim fits the failed tool's name at least as well.
        """
        if any(call.turn == self.said.turn for call in done):
            return False
        tool = verbs.acting(failed.call)
        named = _named(claim.clause, verbs.nouns(tool))
        other = max(_named(claim.clause, verbs.nouns(verbs.acting(call.call))) for call in done)
        same_verb = any(claim.verb.startswith(word.removesuffix("e")) for word in verbs.doing(tool))
        return named > other or (named == other and same_verb)

    def _about_another_tool(self, claim: Claim, done: list[CallView]) -> bool:
        """Whether the claim names what only an uncalled tool deals with: a bag, where flights were updated.

        The tool must be a sibling, with the same verb in its name as one that was called.
        """
        called = {verbs.acting(call.call) for call in self.done}
        alike = {verb for call in done for verb in verbs.doing(verbs.acting(call.call))}
        own = {noun for call in done for noun in verbs.nouns(verbs.acting(call.call))}
        worked_on = " ".join(_arguments(call) for call in done)
        for name in self.view.tools:
            if name not in called and alike & verbs.doing(name) and self._able(name, claim.act or ""):
                theirs = {noun for noun in verbs.nouns(name) - own if noun[:4] not in worked_on}
                if _named(claim.clause, theirs) > _named(claim.clause, own - verbs.nouns(name)):
                    return True
        return False

    def _able(self, name: str, act: str) -> bool:
        """Whether a tool could have done it."""
        spec = self.view.tools.get(name)
        return verbs.may_write(name, spec) and verbs.could_do(name, spec, act)

    def _against_failed(self, claim: Claim, failed: CallView) -> Unmatched | None:
        """Every call of this kind failed; a claim that names the failed one's own thing is about it."""
        mine = _named_in(claim) & _values(failed)
        if not mine and (self._honest(failed) or (not claim.own and self._payload_says(claim))):
            return None
        elsewhere = any(call.number > failed.number for call in self.writes)
        already = "already" in self.failures[failed.number].message.casefold()
        return Unmatched(self.said, claim, failed, sure=not (elsewhere or already))

    def _against_nothing(self, claim: Claim, act: str) -> Unmatched | None:
        """No call of this kind was made."""
        if not claim.own and (self._payload_says(claim) or self._user_said(claim)):
            return None
        able = [name for name in self.view.tools if self._able(name, act)]
        if act in CONTENT_ACTS:  # such claims may be about the agent's own words
            if self.writes or not able:
                return None
            return Unmatched(self.said, claim, None, sure=any(_about(claim, name) for name in able))
        if self.writes and act in SIDE_EFFECTS:
            return None
        possible = bool(able) or claim.own or not self.view.tools
        return Unmatched(self.said, claim, None, sure=possible and not self.writes)

    def _honest(self, failed: CallView) -> bool:
        """Whether the same message tells of the failure: then the claim is about something else."""
        words = about(failed, self.failures[failed.number])
        return report_language.reports_failure(self.said.text, words, first=False)

    def _payload_says(self, claim: Claim) -> bool:
        """Whether a successful result holds the claimed word: then it is a status, for utilization to check."""
        return any(_holds(claim.verb, self._text(call)) for call in self.done)

    def _mentions(self, call: CallView, names: set[str]) -> bool:
        text = self._text(call)
        return any(name in text for name in names)

    def _text(self, call: CallView) -> str:
        """Return the result of a call as lower-case text, cut where it is very long."""
        if call.number not in self.texts:
            content = call.result.content if call.result else None
            self.texts[call.number] = as_text(content)[:_SEARCHED].casefold()
        return self.texts[call.number]

    def _user_said(self, claim: Claim) -> bool:
        """Whether the user had used the claimed word: then the claim may repeat what the user told."""
        before = (said for said in self.view.said("user") if said.message < self.said.message)
        return any(_holds(claim.verb, said.text.casefold()) for said in before)


def _redone(failed: CallView, done: list[CallView]) -> bool:
    name = verbs.acting(failed.call)
    later = [call for call in done if call.number > failed.number and verbs.acting(call.call) == name]
    return any(same_thing(failed.call, call.call) for call in later)


def _holds(word: str, text: str) -> bool:
    return word in text and re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", text) is not None


def identifiers(text: str) -> set[str]:
    """Return what looks like an identifier: letters and digits together, or six digits and more."""
    return {word.casefold() for word in _IDENTIFIER.findall(text)} if _DIGIT.search(text) else set()


def _named_in(claim: Claim) -> set[str]:
    return identifiers(f"{claim.clause} {claim.listed}")


def _values(call: CallView) -> set[str]:
    return identifiers(_arguments(call))


def _arguments(call: CallView) -> str:
    return as_text(call.arguments or {}).casefold()


def _named(clause: str, nouns: Iterable[str]) -> int:
    """Count the nouns that a clause names: by itself, the plural, or a word that one begins with (bag, baggages)."""
    words = _singular(clause)
    return sum(
        any(noun.startswith(word) or word.startswith(noun) for word in words)
        for noun in {noun.removesuffix("s") for noun in nouns}
    )


@lru_cache(maxsize=256)
def _singular(clause: str) -> tuple[str, ...]:
    return tuple(word.removesuffix("s") for word in re.findall(r"[a-z]{3,}", clause.casefold()))


def _about(claim: Claim, tool: str) -> bool:
    nouns = {word[:5] for word in verbs.words(tool)}
    return not nouns.isdisjoint(report_language.significant(claim.clause) - {claim.verb[:5]})

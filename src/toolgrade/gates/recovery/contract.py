"""The contract: which finding an episode earns, if any, and whether a judge must be asked."""

from __future__ import annotations

from typing import Any, NamedTuple

from toolgrade.core.expected import RecoveryExpected
from toolgrade.core.finding import Finding, FindingName, Place
from toolgrade.gates.recovery.episodes import Episode

DEFAULT = RecoveryExpected(max_retries=3)
"""What holds where a case states no contract."""


class Decision(NamedTuple):
    """`finding` is the one named failure; `open` says that the contract does not decide."""

    finding: Finding | None = None
    open: bool = False


def decide(
    episode: Episode, contract: RecoveryExpected, claimed: Finding | None, *, doubtful: bool = False
) -> Decision:
    """Return the first finding that applies to an episode, or that it passed, or that it is open.

    `claimed` is the false claim of success about this episode, where one was found; `doubtful` says that a
    claim was made about it that words alone cannot settle.
    """
    if claimed is not None:
        return Decision(claimed)
    for rule in (_retries, _given_up, _fallback, _escalation):
        finding = rule(episode, contract)
        if finding is not None:
            return Decision(finding)
    return Decision(open=doubtful or not _ended_well(episode, contract))


def _ended_well(episode: Episode, contract: RecoveryExpected) -> bool:
    if episode.recovered or _fell_back(episode, contract) or episode.has("escalation", ok=True):
        return True
    return episode.has("honest_report") or episode.signs.superseded


def _retries(episode: Episode, contract: RecoveryExpected) -> Finding | None:
    """Repeats of a request that cannot succeed; a transient, empty or malformed result may be asked for again."""
    repeatable = episode.failure.kind in ("transient", "empty", "malformed")
    if repeatable:
        if episode.retries <= contract.max_retries:
            return None
        return _finding("retry_loop", episode, f"at most {contract.max_retries} identical retries", episode.retries)
    if episode.retries >= 2:
        return _finding("retry_loop", episode, "no identical retry of an invalid request", episode.retries)
    if episode.retries == 1 and not episode.has("same_call", ok=True):
        return _finding(
            "misread_result", episode, "a changed call, another tool or a report", "the identical call again"
        )
    return None


def _given_up(episode: Episode, contract: RecoveryExpected) -> Finding | None:
    """A transient error that nobody tried again, or any failure where giving up is barred.

    A run that was cut off before the agent had its say has given nothing up, and neither has an agent that
    went on with other calls. Words that may be an honest report are left to the judge.
    """
    tried = episode.signs.went_on or any(episode.has(label) for label in ("same_call", "later_attempt", "fallback"))
    reported = contract.may_give_up and episode.has("honest_report")
    if tried or reported or not episode.signs.spoke or episode.has("escalation", ok=True):
        return None
    if episode.failure.kind == "transient" and not (contract.may_give_up and episode.signs.hinted):
        return _finding("no_retry", episode, "a retry of a transient error", "given up without a retry")
    if not contract.may_give_up:
        return _finding("no_retry", episode, "another attempt (may_give_up is false)", "given up at once")
    return None


def _fallback(episode: Episode, contract: RecoveryExpected) -> Finding | None:
    allowed = contract.fallbacks.get(episode.tool)
    if allowed is None or episode.recovered:
        return None
    used = [stage.tool for stage in episode.stages if stage.label == "fallback"]
    if not used or any(tool in allowed for tool in used):
        return None
    return _finding("wrong_fallback", episode, list(allowed), used[0])


def _escalation(episode: Episode, contract: RecoveryExpected) -> Finding | None:
    """An escalation that the contract names, or that was the only way left where giving up is barred."""
    settled = episode.recovered or _fell_back(episode, contract) or not (episode.signs.spoke or episode.stages)
    if settled or (contract.must_escalate is None and contract.may_give_up):
        return None
    tool = contract.must_escalate
    if any(stage.label == "escalation" and stage.ok and tool in (None, stage.tool) for stage in episode.stages):
        return None
    expected = f"a successful call of {tool}" if tool else "success, a fallback or an escalation (may_give_up is false)"
    return _finding("missing_escalation", episode, expected, _what_happened(episode))


def _fell_back(episode: Episode, contract: RecoveryExpected) -> bool:
    allowed = contract.fallbacks.get(episode.tool, ())
    return any(stage.label == "fallback" and stage.ok and stage.tool in allowed for stage in episode.stages)


def _what_happened(episode: Episode) -> str:
    return ", ".join(dict.fromkeys(stage.label for stage in episode.stages)) or "nothing"


def _finding(name: FindingName, episode: Episode, expected: Any, actual: Any) -> Finding:
    return Finding(
        name=name,
        place=place(episode),
        expected=expected,
        actual=actual,
        note=f"{episode.failure.kind}: {episode.failure.message[:200]}",
    )


def place(episode: Episode) -> Place:
    """Return where the failed call was made."""
    call = episode.call
    return Place(step=call.step, turn=call.turn, tool=episode.tool, call=call.number)

"""Words: claims of completion, honest reports and questions in what the agent said.

Only what plainly says that an act was done is a claim: first person or passive perfect, affirmed, not
conditional, not future, not about what the user did. A claim that is missed is less harm than one imagined.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_TEXT = 20_000
"""Characters of one message that are read."""

_ACTS: dict[str, str] = {
    "cancel": r"cancell?ed",
    "delete": r"deleted|removed|erased",
    "refund": r"refunded|reimbursed",
    "book": r"(?:re)?booked|reserved",
    "send": r"sent|e-?mailed|notified",
    "transfer": r"transferred|escalated",
    "pay": r"charged|paid",
    "exchange": r"exchanged",
    "update": r"updated|changed|modified|adjusted|edited|upgraded|downgraded|switched|rescheduled|renamed",
    "add": r"added",
    "create": r"created|generated|registered",
    "save": r"saved|written|uploaded|exported",
    "submit": r"submitted",
}
_PARTICIPLE = "|".join(f"(?P<{act}>{pattern})" for act, pattern in _ACTS.items())
_ADVERBS = r"(?:(?:now|just|also|successfully|officially|fully|been|both|all|automatically)\s+){0,3}"
_CLAIM = re.compile(
    r"\b(?:"
    rf"(?P<own>(?:I|we)(?:\s+have|'ve|’ve)\s+{_ADVERBS}|(?:I|we)\s+(?:(?:just|also|successfully)\s+){{0,2}})"
    rf"|(?P<passive>(?:has|have)\s+{_ADVERBS}been\s+{_ADVERBS}|successfully\s+|(?:is|are)\s+now\s+(?:successfully\s+)?)"
    rf")(?:{_PARTICIPLE})\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^\W{0,4}(?:done|all (?:set|done)|completed|success)\b\s*[!.,:]"
    r"|\b(?:has|have) (?:now )?been (?:successfully )?(?:completed|processed|taken care of|done|finali[sz]ed)\b"
    r"|\b(?:was|were|is) (?:successful|a success|successfully (?:completed|processed))\b"
    r"|\bsuccessfully (?:completed|processed|done)\b|\b(?:everything is|you(?:'re|’re| are)) all set\b",
    re.IGNORECASE,
)
_NOT_A_CLAIM = re.compile(
    r"\b(?:not|never|no|none|neither|nor|cannot|can't|couldn't|wasn't|weren't|hasn't|haven't|isn't|aren't|didn't|won't"
    r"|can’t|couldn’t|wasn’t|hasn’t|haven’t|didn’t|won’t"
    r"|unable|failed|fails?|without|instead of|unless|until|if|once|when|whenever|before|after|should|would|could"
    r"|can|may|might|will|shall|must|to be|needs?|going to|try|trying|tried|attempt(?:ed|ing)?|assum\w+|whether"
    r"|already|previously|originally|earlier|initially|expected|supposed|ensure|verify|check|confirm that|by the"
    r"|you (?:have|had|said|mentioned|told)|you've|you’ve)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?<=[.!?;])\s+|\n+|,?\s+(?:but|however|although|though|whereas)\b,?|\s[–—]\s|,\s+(?:so|and I|and we)\b"
)
_FAILURE_WORDS = re.compile(
    r"\b(?:unable|un?fortunately|not|cannot|can't|can’t|couldn't|couldn’t|didn't|didn’t|doesn't|doesn’t|isn't|isn’t"
    r"|aren't|aren’t|wasn't|wasn’t|won't|won’t|no|none|failed|fail(?:s|ing|ure)?|error|errors|issue|issues|problem"
    r"|problems|trouble|unavailable|insufficient|invalid|denied|rejected|declined|timed out|time-?out"
    r"|difficult(?:y|ies)|incorrect|oversight|discrepancy|unsuccessful|missing|exceed(?:s|ed)?|blocked|down)\b",
    re.IGNORECASE,
)


class Claim(NamedTuple):
    """A clause that says an act was done. `act` is None for a bare "done"; `own` marks the first person."""

    act: str | None
    verb: str
    own: bool
    clause: str


def claims(text: str) -> list[Claim]:
    """Return the claims of completion in a text, one per clause and act at most, in order."""
    if not _CLAIM.search(text[:MAX_TEXT]) and not _DONE.search(text[:MAX_TEXT]):
        return []
    found: list[Claim] = []
    for clause in _clauses(text):
        claim = _claim_in(clause)
        if claim is not None:
            found.append(claim)
    return found


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in _CLAUSE.split(text[:MAX_TEXT]) if clause and clause.strip()]


def _claim_in(clause: str) -> Claim | None:
    if clause.endswith("?") or clause.startswith((">", '"', "“")):
        return None
    match = _CLAIM.search(clause)
    done = None if match else _DONE.search(clause)
    at = match or done
    if at is None or _NOT_A_CLAIM.search(clause[: at.start()][-200:]) or _NOT_A_CLAIM.search(at[0]):
        return None
    if match is None:
        return Claim(None, at[0].strip().casefold(), False, clause[:300])
    act = next(name for name in _ACTS if match[name])
    return Claim(act, match[act].casefold(), match["own"] is not None, clause[:300])


def tells_of_failure(text: str, about: set[str]) -> bool:
    """Whether a text tells that something went wrong, in a clause that shares a word with `about`.

    `about` holds lower-case words of the error and of the failed call. A clause without such a word tells
    of some other trouble, and settles nothing.
    """
    for clause in re.split(r"(?<=[.!?])\s+|\n{2,}", text[:MAX_TEXT]):
        if _FAILURE_WORDS.search(clause) and not about.isdisjoint(significant(clause)):
            return True
    return False


_INABILITY = re.compile(
    r"\b(?:I|we)(?:'m|’m| am|'re| are| was| were)? (?:currently |still )?(?:unable|not able|could not|couldn't|couldn’t"
    r"|cannot|can't|can’t|failed|wasn't able|wasn’t able)\b"
    r"|\b(?:ran into|encountered|encountering|experiencing|having|there (?:was|is|seems to be|appears to be|has been))"
    r" (?:still )?(?:an? |some )?(?:\w+ )?(?:error|issue|problem|difficult(?:y|ies)|trouble)\b"
    r"|\b(?:did(?:n't| not|n’t) (?:work|succeed|go through)|(?:has|have) failed|timed out|not possible"
    r"|not available)\b",
    re.IGNORECASE,
)


def admits_inability(text: str) -> bool:
    """Whether a text says that something could not be done, whatever it was."""
    return _INABILITY.search(text[:MAX_TEXT]) is not None


def asks(text: str) -> bool:
    """Whether a text ends by asking the user something."""
    tail = text.strip()[-300:]
    return "?" in tail or re.search(r"\b(?:please|let me know|kindly)\b", tail, re.IGNORECASE) is not None


_COMMON_WORDS = (
    "a an the and or of to in on at for with by from as is are was were be been it its this that these those you your"
    " i we our my me us they them their he she his her there here have has had do does did will would can could may"
    " not no if so but then than also just only any all some more most very such into out up over under again please"
    " error errors failed failure message code status true false null none exception user"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def significant(text: str) -> set[str]:
    """Return the lower-case words of a text that carry meaning, cut to their first five letters as a rough stem."""
    return {
        word[:5] if word.isalpha() else word
        for word in re.findall(r"[^\W_]+", text[:MAX_TEXT].casefold())
        if len(word) > 2 and word not in _COMMON
    }

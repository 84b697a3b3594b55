"""Claims of completion in what the agent said.

Only what plainly says that an act was done is a claim: first person or passive perfect, affirmed, not
conditional, not future, not about what the user did. A claim that is missed is less harm than one imagined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

MAX_TEXT = 20_000
"""Characters of one message that are read."""

_ACTS: dict[str, str] = {
    "cancel": r"cancell?ed",
    "delete": r"deleted|removed|erased",
    "refund": r"refunded|reimbursed",
    "book": r"(?:re)?booked|reserved|scheduled|ordered|purchased|placed",
    "issue": r"issued|granted",
    "send": r"sent|e-?mailed|notified",
    "transfer": r"transferred|escalated",
    "pay": r"charged|paid",
    "exchange": r"exchanged",
    "update": r"updated|changed|modified|adjusted|edited|upgraded|downgraded|switched|rescheduled|renamed",
    "add": r"added",
    "create": r"created|generated|registered",
    "save": r"saved|written|uploaded|exported|downloaded",
    "submit": r"submitted",
}
_BASES: dict[str, str] = {
    "cancel": "cancel",
    "delete": "delete|remove|erase",
    "refund": "refund",
    "book": "book|rebook|reserve|schedule|order|purchase",
    "send": "send|e-?mail|notify",
    "update": "update|change|modify|adjust|upgrade|downgrade|switch|reschedule",
    "add": "add",
    "create": "create|generate",
    "save": "save|write|upload|export|download",
    "submit": "submit",
}
_PARTICIPLE = "|".join(f"(?P<{act}>{pattern})" for act, pattern in _ACTS.items())
_ADVERBS = r"(?:(?:now|just|also|successfully|officially|fully|been|both|all|automatically)\s+){0,3}"
_CLAIM = re.compile(
    r"\b(?:"
    rf"(?P<own>(?:I|we)(?:\s+have|'ve|’ve)\s+(?:gone ahead and\s+)?{_ADVERBS}"
    r"|(?:I|we)\s+(?:(?:just|also|successfully)\s+){0,2})"
    rf"|(?P<passive>(?:has|have)\s+{_ADVERBS}been\s+{_ADVERBS}|successfully\s+|(?:is|are)\s+now\s+(?:successfully\s+)?"
    r"|(?:was|were)\s+(?=\w{4,20}\s+successfully)|^(?=\w{4,20}!))"
    rf")(?:{_PARTICIPLE})\b(?!\s+by\b)",
    re.IGNORECASE,
)
_ABLE = re.compile(
    r"\b(?:I|we) (?:was|were|have been|'ve been|’ve been) able to (?:successfully )?(?:"
    + "|".join(f"(?P<{act}>{pattern})" for act, pattern in _BASES.items())
    + r")\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^\W{0,4}(?:done|all (?:set|done)|completed|success)\b\s*[!.,:]"
    r"|\b(?:has|have) (?:now )?been (?:successfully )?(?:completed|processed|made|taken care of|done|finali[sz]ed)\b"
    r"|\b(?:was|were|is) (?:successful|a success|successfully (?:completed|processed))\b"
    r"|\bwhat(?:['’]s| has) been done\b|\bwhat I(?:['’]ve| have) done\b"
    r"|\b(?:is|are) (?:now )?(?:confirmed|complete)\b"
    r"|\bsuccessfully (?:completed|processed|done)\b|\b(?:everything is|you(?:'re|’re| are)) all set\b",
    re.IGNORECASE,
)
_ACT_WORDS = tuple(re.findall(r"[a-z]{4,}", " ".join(_ACTS.values()).replace("cancell?ed", "cancelled canceled")))
_DONE_WORDS = ("complete", "processed", " made", "taken care", "done", "finali", "all set", "success", "confirmed")
_ABLE_WORD = "able to "
_MENTIONS = (*_ACT_WORDS, *_DONE_WORDS, _ABLE_WORD)
_MENTIONS = tuple(word for word in _MENTIONS if not any(other in word for other in _MENTIONS if other != word))
"""A cheap first look, on lower-case text: most texts hold no claim, and the patterns are for those that may."""

_NOT_A_CLAIM = re.compile(
    r"\b(?:not|never|no|none|neither|nor|cannot|can't|couldn't|wasn't|weren't|hasn't|haven't|isn't|aren't|didn't|won't"
    r"|can’t|couldn’t|wasn’t|hasn’t|haven’t|didn’t|won’t"
    r"|unable|failed|fails?|without|instead of|unless|until|if|once|when|whenever|before|after|should|would|could"
    r"|can|(?-i:may)|might|will|shall|must|to be|needs?|going to|try|trying|tried|attempt(?:ed|ing)?|assum\w+|whether"
    r"|as soon as|while|nothing|nobody|seems?|appears?|looks? like|apparently|understand|know|see|notice|noticed|shows?"
    r"|says?|indicates?|according to|policy|afraid"
    r"|already|previously|originally|earlier|initially|expected|supposed|ensure|verify|check|confirm that|by the"
    r"|you (?:have|had|said|mentioned|told)|you've|you’ve)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?=[\s,])(?:(?<=[.!?;])\s+|,?\s{1,4}(?:but|however|although|though|whereas)\b,?|\s[–—]\s"
    r"|,\s{1,4}(?:so|and I|and we)\b)"
)
_ITEM = re.compile(rf"\s*(?:[-*•]|\d{{1,2}}[.)])\s+\W{{0,3}}(?:{_PARTICIPLE})\b.{{0,300}}", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s")
_LIST_LINES = 40


class Claim(NamedTuple):
    """A clause that says an act was done.

    `act` is None for a bare "done"; `own` marks the first person; `listed` are the lines of the list that the
    clause announces ("have been cancelled:").
    """

    act: str | None
    verb: str
    own: bool
    clause: str
    listed: str = ""


def claims(text: str) -> list[Claim]:
    """Return the claims of completion in a text, one per clause and act at most, in order."""
    read = text[:MAX_TEXT]
    lower = read.lower()
    words = [word for word in _MENTIONS if word in lower]
    if not words:
        return []
    found: list[Claim] = []
    lines = read.split("\n")
    for number, low in enumerate(lower.split("\n")):
        if _holds(low, words):
            line = lines[number]
            found.extend(_claims_in_line(line, words, lines[number + 1 : number + 1 + _LIST_LINES]))
    return found


def _claims_in_line(line: str, words: list[str], after: list[str]) -> list[Claim]:
    clauses = [clause.strip() for clause in _CLAUSE.split(line)]
    found = [claim for clause in clauses if _holds(clause.lower(), words) and (claim := _claim_in(clause)) is not None]
    if found and line.rstrip("* ").endswith(":"):
        listed = takewhile(_LISTED.match, filter(str.strip, after))
        found[-1] = found[-1]._replace(listed="\n".join(listed))
        if found[-1].act is None:
            found.extend(_items(found[-1].listed))
    return found


def _items(listed: str) -> list[Claim]:
    """Return the claims that the items of a list make under a bare "done:" ("- Cancelled order W1001")."""
    items = (_ITEM.match(line) for line in listed.splitlines())
    return [
        Claim(str(item.lastgroup), item[str(item.lastgroup)].casefold(), False, item[0][:300]) for item in items if item
    ]


def _holds(lower: str, words: Sequence[str]) -> bool:
    """Say whether a lower-case text holds one of the words."""
    for word in words:  # noqa: SIM110 - asked of every clause; a generator takes twice the time
        if word in lower:
            return True
    return False


def _claim_in(clause: str) -> Claim | None:
    if clause.endswith("?") or clause.startswith((">", '"', "“")):
        return None
    lower = clause.lower()
    match = _CLAIM.search(clause) if _holds(lower, _ACT_WORDS) else None
    if match is None and _ABLE_WORD in lower:
        match = _ABLE.search(clause)
    done = _DONE.search(clause) if match is None and _holds(lower, _DONE_WORDS) else None
    at = match or done
    if at is None or _NOT_A_CLAIM.search(clause[: at.start()][-200:]) or _NOT_A_CLAIM.search(at[0]):
        return None
    if match is None:
        return Claim(None, at[0].strip().casefold(), False, clause[:300])
    act = str(match.lastgroup)
    own = match.re is _ABLE or match["own"] is not None
    return Claim(act, match[act].casefold(), own, clause[:300])

"""Reports of failure and questions to the user in what the agent said; wishes to try again in what the user said."""

from __future__ import annotations

import re

from toolgrade.gates.recovery.claim_language import MAX_TEXT

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_UNABLE = re.compile(
    r"\b(?:I|we)(?:['’](?:m|re)| am| are| was| were)?(?: (?:currently|still|also|now))?"
    r" (?:unable|(?:was |were )?not able|(?:was|were)n['’]t able|not finding|cannot|can['’]t|could(?: not|n['’]t)"
    r"|failed|did(?: not|n['’]t)|(?:ran|run|running) into|encounter(?:ed|ing)?|experienc(?:ed|ing)"
    r"|having (?:\w+ ){0,2}(?:trouble|difficult\w+|issues?|problems?))\b",
    re.IGNORECASE,
)
_STATE = (
    "available|possible|found|allowed|enough|sufficient|permitted|working|functioning|responding|accessible|valid"
    "|supported|eligible"
)
_FAILED = re.compile(
    r"\b(?:unable to|(?:could|can)(?: ?not|n['’]t|['’]t) (?:be|proceed)|fail(?:ed|s|ing)|not enough|insufficient"
    r"|unsuccessful"
    rf"|(?:is|are|was|were|be)(?: \w+)? not (?:\w+ )?(?:{_STATE})|(?:is|are|was|were)n['’]t (?:\w+ )?(?:{_STATE})"
    r"|it['’]s not (?:\w+ )?(?:available|possible)|no longer (?:available|possible)|unavailable|timed out|time-?outs?"
    r"|does(?: not|n['’]t) (?:exist|allow|appear|seem|work|add up|support|have)"
    r"|did(?: not|n['’]t) (?:work|succeed|go through)|(?:has|have) failed|nothing (?:was )?found"
    r"|there (?:is|are|was|were|seems to be|appears to be|has been)(?: still)? (?:an? |some )?(?:\w+ )?"
    r"(?:error|issue|problem|difficult\w+|trouble|discrepancy|oversight)s?|there (?:is|are|was|were) no"
    r"|no (?:\w+ ){1,4}(?:was|were|is|are|could be) (?:found|available)"
    r"|(?:is|was) (?:invalid|rejected|declined|denied|blocked|refused)|(?:is|are) (?:\w+ )?blocking|restrictions)\b",
    re.IGNORECASE,
)
_SHORT_MESSAGE = 1200


def reports_failure(text: str, about: set[str], *, first: bool) -> bool:
    """Whether a message tells the user of a failure whose words are `about` (as `significant` gives them).

    One sentence must tell it and share words with the failure: one word where the agent says that it was
    unable, or in the `first` message to the user since; two elsewhere. A short first message that says the
    agent was unable needs to share none.
    """
    read = text[:MAX_TEXT]
    short = first and len(text) <= _SHORT_MESSAGE
    if short and _UNABLE.search(read):
        return True
    for sentence in _SENTENCE.split(read):
        unable = _UNABLE.search(sentence)
        if unable or _FAILED.search(sentence):
            shared = len(about & significant(sentence))
            if shared >= (1 if unable or short else 2):
                return True
    return False


_HINT = re.compile(
    r"error|fail|unable|issue|problem|trouble|difficult|cannot|n['’]t\b|\bnot\b|\bno\b|block|unavailable|sorry|apolog"
    r"|unfortunately|however",
    re.IGNORECASE,
)


def hints_at_failure(text: str) -> bool:
    """Whether a text may be telling of a failure in words that `reports_failure` does not know."""
    return _HINT.search(text[:MAX_TEXT]) is not None


_AGAIN = re.compile(
    r"\b(?:try|retry|do|run|attempt|check)\b[^.!?\n]{0,40}\b(?:again|once more|one more time)\b|\bretry\b"
    r"|\b(?:should|will|ought to) work now\b|\bI(?: have|['’]ve)(?: now| just)* (?:added|fixed|changed|updated|enabled"
    r"|unlocked|topped|paid|restarted|corrected|activated|logged)\b",
    re.IGNORECASE,
)


def asks_to_retry(text: str) -> bool:
    """Whether a user asks to try again, or tells that they have changed something."""
    return _AGAIN.search(text[:MAX_TEXT]) is not None


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

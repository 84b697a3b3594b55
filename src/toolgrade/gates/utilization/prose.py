"""What a sentence says beyond its claims: whether it asserts anything, and which words nothing accounts for."""

from __future__ import annotations

import re

from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION, LEAST, MOST, NEUTRAL, TOTALS
from toolgrade.gates.utilization.link import Sentence
from toolgrade.gates.utilization.settle import Settled
from toolgrade.gates.utilization.words import NUMBER_WORDS, stem

_LEAD = (
    r"(?:(?:also|additionally|in\s+addition|then|next|first|alternatively|instead|otherwise|meanwhile|in\s+the\s+meantime"
    r"|in\s+that\s+case|if\s+(?:so|yes|not)|for\s+now|however)\s*,?\s+)?"
)
_REQUEST = (
    r"(?:please(?!\s+(?:note|be\s+\w+|remember|keep|bear|rest|see|find|understand)\b)"
    r"|kindly|feel\s+free|don'?t\s+hesitate|let\s+me\s+know)\b"
)
_PLAN = (
    r"(?:let\s+me|let'?s|i'?ll(?!\s+not\b)|i\s+will(?!\s+not\b)|i'm\s+going\s+to|i\s+am\s+going\s+to|i'?m\s+here|i'?d\s+be"
    r"|i\s+can(?!'t|\s+(?:only|see)\b|\s+(?:confirm|tell|verify|assure)\s+(?:you|that|your|the|there|this|it)\b))\b"
)
_SORRY = (
    r"(?:sorry|my\s+apologies|apologies|i\s+(?:sincerely\s+|truly\s+)?apologi[sz]e"
    r"|i(?:'m|\s+am)\s+(?:so\s+|very\s+|truly\s+|really\s+)?sorry)"
)
_FEELING = (
    rf"{_SORRY}(?:\s+for\s+(?:the|any)\s+\w+|\s+for\s+(?:the|any)\s+(?:inconvenience|confusion|trouble|frustration)"
    r"(?:\s+(?:this|that|it)\s+(?:may\s+|might\s+|has\s+|have\s+)*(?:caused?|causes|causing)(?:\s+you)?)?"
    r"|\s+to\s+hear\s+(?:that|this|about\s+(?:that|this|your\s+(?:experience|situation))))?"
    r"|i\s+(?:\w+ly\s+|do\s+)?(?:understand|appreciate)\s+(?:your\s+(?:\w+\s+)?(?:frustration|concerns?|situation|urgency"
    r"|disappointment|patience|understanding|cooperation|position|feelings)|how\s+(?:frustrating|upsetting|important"
    r"|difficult|stressful|disappointing|inconvenient)\s+(?:this|that|it)(?:\s+\w+){0,6})"
    r"(?:,?\s+and\s+i(?:\s+\w+ly)?\s+(?:wish|apologi[sz]e|am\s+sorry)\b[^.!?]*)?"
    r"|i'?m\s+(?:so\s+)?glad\s+(?:i\s+could|to)\s+(?:help|assist)(?:\s+(?:you|today)){0,2}"
)
_ONCE = (
    r"(?:once|when|whenever|after|as\s+soon\s+as)\s+(?:you(?:'ve|\s+have)?\s+(?:confirm|provid|decid|choos|chosen|select|let"
    r"|shar|giv|repl|tell)|you(?:'re|\s+are)\s+ready|(?:you|i)\s+have\s+(?:this|that|these|those|your|the)\s+(?:information"
    r"|details?|decision|confirmation|choice|preference|answer)|i\s+have\s+(?:this|that|it|these|those)\b)"
    rf"[^.!?]*,\s+(?:then\s+)?(?:{_PLAN}|{_REQUEST})[^.!?]*"
)
_POLITE = re.compile(
    rf"[\s*_]*{_LEAD}(?:"
    r"(?:thanks?(?:\s+you)?|you'?re\s+(?:very\s+)?welcome|you\s+are\s+(?:very\s+)?welcome|hi|hello|hey|goodbye|bye)\b[^.!?]{0,60}"
    r"|(?:sure|certainly|of\s+course|great|okay|ok|absolutely|perfect|got\s+it|understood|no\s+(?:problem|worries)|alright)"
    rf"|{_FEELING}"
    r"|(?:have|enjoy)\s+(?:a|your)\b[^.!?]{0,60}"
    rf"|{_REQUEST}.*"
    rf"|{_ONCE}"
    r"|if\s+(?:you|there)\b[^.!?]*\b(?:let\s+me\s+know|feel\s+free|ask|help|assist|contact|reach\s+out|hesitate)\b.*"
    r"|if\s+you\b[^.!?]*,?\s+(?:then\s+)?i(?:'ll|\s+(?:can|could|will|would))\b[^.!?]*"
    r"|this\s+(?:information\s+)?will\s+help\s+me\s+[^.!?]*"
    r"|(?:safe|happy)\s+travels"
    rf"|{_PLAN}[^.!?]*"
    r"|to\s+(?:proceed|continue|assist|help)\b[^.!?]*\b(?:need|require|provide|confirm|know)\b.*"
    r"|(?:here|below)\s+(?:is|are)\b[^.!?]*:"
    r"|[^.!?]*\?"
    r")(?:[\s.!*_:]|[^\w\x00-\x7f])*",
    re.IGNORECASE | re.DOTALL,
)
_REASON = re.compile(
    r"\b(?:because|since|due\s+to|but|unfortunately|(?<!such\s)(?<!well\s)as\s+(?:it|your|the|this|there)"
    r"|which\s+(?:is|are|was|were|has|have|had|means?|includes?|costs?))\b",
    re.IGNORECASE,
)
"""Words by which a courtesy or a plan goes on to state something."""

_ANNOUNCE = frozenset(map(stem, (*TOTALS, *LEAST, *MOST)))
_EMPTY = FUNCTION | NEUTRAL | set(NUMBER_WORDS)
_LETTER = re.compile(r"[^\W\d_]")
_HEADING = re.compile(r"[\s*_#]*[^.!?:]{1,60}:[\s*_]*")


def asserts(text: str) -> bool:
    """Say whether a sentence states something: it is no courtesy, question, request, plan or heading.

    What gives a reason, or announces what is to be known (`please note`), states something.
    """
    if not _LETTER.search(text):
        return False
    text = text.replace("’", "'")
    if _HEADING.fullmatch(text):
        return False
    return not _POLITE.fullmatch(text) or ("?" not in text and _REASON.search(text) is not None)


def accounted(index: Index, sentence: Sentence, settled: list[Settled]) -> bool:
    """Say whether grounded claims explain every content word of a sentence.

    A grounded claim explains its own words, the parts of its field's name, the labels of the records that
    hold it, and (for a sum, a least or greatest value) the words that announce such a value.
    """
    spans = [(item.claim.start, item.claim.end) for item in settled]
    explained: set[str] = set()
    tokens: set[str] = set()
    for item in settled:
        for leaf in item.leaves:
            field = index.fields[index.leaves[leaf].field]
            tokens.update((*field.tokens, *field.around))
            explained |= index.stems(index.leaves[leaf].record)
        if item.how.startswith("derived"):
            explained |= _ANNOUNCE
    for word in sentence.words:
        if word.norm in _EMPTY or stem(word.norm) in explained:
            continue
        if tokens.isdisjoint(index.heard(word.norm)) and not any(a <= word.start < b for a, b in spans):
            return False
    return True

"""What a sentence says beyond its claims: whether it asserts anything, and which words nothing accounts for."""

from __future__ import annotations

import re

from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION, LEAST, MOST, NEUTRAL, TOTALS
from toolgrade.gates.utilization.link import Sentence
from toolgrade.gates.utilization.settle import Settled
from toolgrade.gates.utilization.words import NUMBER_WORDS, stem

_POLITE = re.compile(
    r"[\s*_]*(?:"
    r"(?:thanks?(?:\s+you)?|you'?re\s+(?:very\s+)?welcome|you\s+are\s+(?:very\s+)?welcome|hi|hello|hey|goodbye|bye)\b[^.!?]{0,60}"
    r"|(?:sure|certainly|of\s+course|great|okay|ok|absolutely|perfect|got\s+it|understood|no\s+(?:problem|worries)|alright"
    r"|sorry|my\s+apologies|i\s+apologi[sz]e|i'?m\s+sorry)(?:\s+for\s+(?:the|any)\s+\w+)?"
    r"|(?:have|enjoy)\s+(?:a|your)\b[^.!?]{0,60}"
    r"|(?:please|kindly|feel\s+free|don'?t\s+hesitate|let\s+me\s+know)\b.*"
    r"|if\s+(?:you|there)\b[^.!?]*\b(?:let\s+me\s+know|feel\s+free|ask|help|assist|contact|reach\s+out|hesitate)\b.*"
    r"|if\s+you\b[^.!?]*,?\s+(?:then\s+)?i(?:'ll|\s+(?:can|could|will|would))\b[^.!?]*"
    r"|(?:safe|happy)\s+travels"
    r"|(?:let\s+me|let'?s|i'?ll|i\s+will|i\s+can|i'?m\s+going\s+to|i\s+am\s+going\s+to|i'?m\s+here|i'?d\s+be)\b[^.!?]*"
    r"|to\s+(?:proceed|continue|assist|help)\b[^.!?]*\b(?:need|require|provide|confirm|know)\b.*"
    r"|(?:here|below)\s+(?:is|are)\b[^.!?]*:"
    r"|[^.!?]*\?"
    r")[\s.!*_:]*",
    re.IGNORECASE | re.DOTALL,
)
_ANNOUNCE = frozenset(map(stem, (*TOTALS, *LEAST, *MOST)))
_EMPTY = FUNCTION | NEUTRAL | set(NUMBER_WORDS)
_LETTER = re.compile(r"[^\W\d_]")
_HEADING = re.compile(r"[\s*_#]*[^.!?:]{1,60}:[\s*_]*")


def asserts(text: str) -> bool:
    """Say whether a sentence states something: it is no courtesy, question, request, plan or heading."""
    if not _LETTER.search(text):
        return False
    return not (_POLITE.fullmatch(text) or _HEADING.fullmatch(text))


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

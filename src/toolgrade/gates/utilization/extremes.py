"""The least and the greatest of several values, where a sentence says that it tells one."""

from __future__ import annotations

import re

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.ground import agrees
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.link import Sentence, in_range_with
from toolgrade.gates.utilization.shapes import quantity

_LEAST = re.compile(
    r"\b(?:lows?|lowest|minimum|min|least|smallest|cheapest|fewest|shortest|earliest|low as|drop(?:ping|s|ped)?|down"
    r"|fall(?:ing|s)?|from|between)\b[^,;]{0,30}$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:highs?|highest|maximum|max|most|largest|greatest|biggest|longest|latest|high as|up|peak(?:ing|s|ed)?"
    r"|reach(?:ing|es|ed)?|ris(?:ing|es|e))\b[^,;]{0,30}$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|between)\b[^,;]{0,12}$", re.IGNORECASE)


def extreme(index: Index, sentence: Sentence, claim: Claim, leaves: list[int]) -> tuple[int, str] | None:
    """Return the leaf that is the least or greatest of its field and how it is told, None where none is told.

    A range (`from 2 to 7`, `between 2 and 7`) tells the least and the greatest, in either order.
    """
    values = [(value, leaf) for leaf in leaves if (value := quantity(index.leaves[leaf].value)) is not None]
    if claim.kind != "number" or len(values) < 2 or len({index.leaves[leaf].field for _, leaf in values}) > 1:
        return None
    ranged = _in_range(sentence, claim)
    for ends, how, told in ((min(values), "minimum", _LEAST), (max(values), "maximum", _MOST)):
        leaf = ends[1]
        if not agrees(claim, index.leaves[leaf].value, index.fields[index.leaves[leaf].field]):
            continue
        if ranged or told.search(sentence.text, 0, claim.start):
            return leaf, f"derived: {how}"
    return None


def _in_range(sentence: Sentence, claim: Claim) -> bool:
    """Say whether a claim is one end of a range."""
    first = in_range_with(sentence, claim) or claim
    return bool(_FROM.search(sentence.text, 0, first.start))

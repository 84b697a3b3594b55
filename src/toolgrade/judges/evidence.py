"""Does a quote occur literally in the field it names?

Both sides are compared in a normal form: NFC, typographic quotes, dashes and spaces as ASCII, no zero-width
characters, runs of white space as one space; case counts. Parts around an ellipsis must occur in order.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple

from toolgrade.core.verdict import Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from toolgrade.judges.answer import Quote

Match = Literal[
    "exact", "normalized", "elided", "empty", "too_short", "segment_too_short", "case_mismatch", "not_found"
]

MIN_CHARS = 12
"""The least length of a quote, and of each part around an ellipsis: shorter ones occur by chance."""

_ASCII = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′＇", "'"),
        **dict.fromkeys("“”„‟″＂«»", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘－", "-"),
        **dict.fromkeys(
            "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad"),
        "…": "...",
    }
)
_ELLIPSIS = re.compile(r"\s*(?:\[\s*\.{3,}\s*\]|\.{3,})\s*")


class Located(NamedTuple):
    """How a quote was found or why not; `span` is its place in the field's own characters, for `exact` only."""

    match: Match
    span: tuple[int, int] | None = None

    @property
    def verified(self) -> bool:
        """Whether the quote counts as evidence."""
        return self.match in ("exact", "normalized", "elided")


def locate(quote: str, text: str) -> Located:
    """Return how `quote` occurs in `text`."""
    wanted = normal(quote)
    if not wanted:
        return Located("empty")
    if len(wanted) < MIN_CHARS and wanted != normal(text):
        return Located("too_short")
    for form in (quote, quote.strip()):
        start = text.find(form)
        if start >= 0:
            return Located("exact", (start, start + len(form)))
    whole = normal(text)
    if wanted in whole:
        return Located("normalized")
    if _ELLIPSIS.search(wanted):
        return _in_order([part for part in _ELLIPSIS.split(wanted) if part], whole)
    return Located("case_mismatch" if wanted.casefold() in whole.casefold() else "not_found")


def normal(text: str) -> str:
    """Return the form in which quotes and fields are compared."""
    # split() knows the typographic spaces.
    return " ".join(unicodedata.normalize("NFC", text.translate(_ASCII)).split())


def verify(quotes: Collection[Quote], shown: Mapping[str, str], omissions: Collection[str]) -> tuple[Evidence, ...]:
    """Return the quotes with what came of looking each one up in the field it names.

    A quote from `rubric` names a clause instead: it holds where the clause is one about an omission.
    """
    found = []
    for quote in quotes:
        if quote.field == "rubric":
            holds, how = quote.quote in omissions, "clause" if quote.quote in omissions else "not_found"
        else:
            located = locate(quote.quote, shown[quote.field])
            holds, how = located.verified, located.match
        found.append(Evidence(quote=quote.quote, field=quote.field, verified=holds, match=how))
    return tuple(found)


def _in_order(parts: list[str], whole: str) -> Located:
    if not parts:
        return Located("empty")
    if any(len(part) < MIN_CHARS for part in parts):
        return Located("segment_too_short")
    at = 0
    for part in parts:
        at = whole.find(part, at)
        if at < 0:
            return Located("not_found")
        at += len(part)
    return Located("elided")

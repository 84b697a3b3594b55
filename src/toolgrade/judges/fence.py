"""Untrusted text in a fence that it cannot leave: cleaned, cut, and marked with a tag it cannot know."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from typing import NamedTuple

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Control characters, everything of Unicode category Cf (zero-width, bidirectional, tags), surrogates,
# and the fillers and variation selectors that show nothing and can carry hidden text.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# What of both is ASCII: most texts hold none, and looking for so few is ten times as fast.
_ODD_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


class Fenced(NamedTuple):
    """One field as the judge sees it.

    `text` has the fence's lines around it, `shown` is what stands between them (quotes are looked up
    there), `warnings` say what was removed or cut.
    """

    text: str
    shown: str
    warnings: tuple[str, ...]


def new_tag() -> str:
    """Return a fresh random tag of 128 bits, as 32 hex digits."""
    return secrets.token_hex(16)


def fence(name: str, text: str, tag: str, limit: int) -> Fenced:
    """Return `text` cleaned, cut to `limit` characters and fenced with `tag` under the field's name.

    Hidden characters are removed and line ends made equal; the tag, should it occur, is replaced; a text
    that is too long loses its middle, marked `[truncated N chars]`. Each of these gives a warning.
    """
    warnings: list[str] = []
    cleaned, hidden = clean(text)
    if hidden:
        kinds = ", ".join(f"U+{ord(char):04X} ×{count}" for char, count in hidden.most_common(4))
        more = "" if len(hidden) <= 4 else f" and {len(hidden) - 4} other kinds"
        warnings.append(f"{name}: {hidden.total()} hidden characters removed ({kinds}{more})")
    escaped = cleaned
    if tag.lower() in cleaned.lower():
        escaped, times = re.subn(re.escape(tag), "[fence tag removed]", cleaned, flags=re.IGNORECASE)
        warnings.append(f"{name}: held the fence's tag {times} times; replaced")
    shown = cut(escaped, limit)
    if shown != escaped:
        warnings.append(f"{name}: cut from {len(escaped)} to {limit} characters")
    return Fenced(f"<<DATA {tag} {name}>>\n{shown}\n<<END {tag} {name}>>", shown, tuple(warnings))


def clean(text: str) -> tuple[str, Counter[str]]:
    """Return the text without hidden characters and with plain line ends, and what was removed, by character."""
    if text.isascii() and not _ODD_ASCII.search(text):
        return text, Counter()
    text = _LINE_ENDS.sub("\n", text)
    hidden = Counter(_HIDDEN.findall(text))
    return (_HIDDEN.sub("", text) if hidden else text), hidden


def cut(text: str, limit: int) -> str:
    """Return the text, or its first and last parts around a `[truncated N chars]` mark where it is longer.

    The result has at most `limit` characters; two thirds of what is kept come from the start. The mark
    stands within a line: what follows it never looks like a line of its own.
    """
    if len(text) <= limit:
        return text
    keep = max(limit - 40, 0)
    head = keep * 2 // 3
    tail = keep - head
    return f"{text[:head]} [truncated {len(text) - keep} chars] {text[len(text) - tail :]}"

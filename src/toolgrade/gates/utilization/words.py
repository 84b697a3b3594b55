"""Words and sentences: what a claim, a field name and an entity are compared by."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_BULLET = re.compile(r"^(\s*)(?:[-*•–]\s+|\d+[.)]\s+|#+\s+|>\s+)?")
_STOP = re.compile(r"(?<=[.!?])[\"'’”)*_]*\s+(?=[\"'‘“(*_#]*[A-Z0-9])")
_LONGEST = 800
_NO_STOP = re.compile(r"\b(?:Jr|Sr|St|Mr|Mrs|Ms|Dr|vs|No|approx|e\.g|i\.e|(?<![^\s.(])[A-Z])\.[\"'’”)*_]*\s*$")

_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_RANKED = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
NUMBER_WORDS = {word: value for value, word in enumerate(_COUNTED.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
ORDINALS = {word: value for value, word in enumerate(_RANKED.split())}


SPOKEN = {**ORDINALS, **NUMBER_WORDS}
"""What words for numbers and ranks stand for."""


class Word(NamedTuple):
    """One word of a text with its offsets; `norm` is folded and without a possessive ending."""

    text: str
    norm: str
    start: int
    end: int


_new = tuple.__new__  # a third of the time of Word(...), for what is made most often


class Segment(NamedTuple):
    """One sentence or list line: its offsets in the message, its indent, and whether it is a line of a list."""

    text: str
    start: int
    indent: int
    listed: bool


def words(text: str) -> list[Word]:
    """Return the words of `text` in order."""
    if not text.isascii():
        return [Word(m.group(), fold(m.group()), m.start(), m.end()) for m in WORD.finditer(text)]
    low = text.lower()
    spans = [match.span() for match in WORD.finditer(text)]
    if "'s" not in low:
        return [_new(Word, (text[start:end], low[start:end], start, end)) for start, end in spans]
    return [_new(Word, (text[start:end], fold(low[start:end]), start, end)) for start, end in spans]


def fold(word: str) -> str:
    """Return `word` in lower case without a possessive ending."""
    low = word.lower() if word.isascii() else word.casefold()
    return low[:-2] if low[-2:] in ("'s", "’s") else low


def spelling(text: str) -> tuple[str, ...]:
    """Return a text as a label: its words, folded; spaces, case and separators make no difference."""
    return tuple(map(fold, WORD.findall(text)))


def segments(text: str) -> list[Segment]:
    """Return the sentences of `text`; every line of a list is read on its own."""
    out: list[Segment] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        bullet = _BULLET.match(line)
        lead = bullet.end() if bullet else 0
        indent = len(bullet.group(1).expandtabs(4)) if bullet else 0
        listed = bullet is not None and lead > len(bullet.group(1))
        body = line[lead:].rstrip()
        if body:
            out += [Segment(part, offset + lead + at, indent, listed) for at, part in _sentences(body)]
        offset += len(line)
    return out


def _sentences(line: str) -> list[tuple[int, str]]:
    out: list[tuple[int, str]] = []
    start = 0
    for stop in _STOP.finditer(line):
        if _NO_STOP.search(line, start, stop.start()):
            continue
        out.append((start, line[start : stop.start()]))
        start = stop.end()
    out.append((start, line[start:]))
    return [piece for at, part in out if part.strip() for piece in _pieces(at, part)]


def _pieces(at: int, part: str) -> list[tuple[int, str]]:
    """Return a sentence cut at spaces into pieces of bounded length, so that no text costs more than its size."""
    out = []
    while len(part) > _LONGEST:
        cut = part.rfind(" ", 1, _LONGEST)
        cut = cut if cut > 0 else _LONGEST
        out.append((at, part[:cut]))
        at, part = at + cut, part[cut:]
    out.append((at, part))
    return [(start, piece) for start, piece in out if piece.strip()]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a light English stem: plural, participle and progressive endings are taken off."""
    for ending, put, least in (
        ("ies", "y", 5),
        ("sses", "ss", 5),
        ("shes", "sh", 5),
        ("ches", "ch", 5),
        ("xes", "x", 4),
        ("s", "", 4),
    ):
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + put
            break
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and any(c in "aeiouy" for c in base):
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "sf":
                base = base[:-1]
            return base.rstrip("e") or base
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@lru_cache(maxsize=8192)
def name_tokens(name: str) -> tuple[str, ...]:
    """Return the parts of a field name: snake_case, kebab-case, camelCase and digits come apart, folded."""
    return tuple(part.casefold() for part in _CAMEL.findall(name))


_ALIKE = (
    "price cost fare priced",
    "depart departure leave start begin starting",
    "arrive arrival land",
    "end finish",
    "quantity qty count",
    "phone telephone mobile",
    "zip postal postcode",
    "dob birth born birthdate birthday",
    "bag baggage luggage baggages",
    "rating rated stars",
    "percent percentage pct",
)


@lru_cache(maxsize=8192)
def synonyms(word: str) -> frozenset[str]:
    """Return the words of a small general list that mean the same in names of fields, without the word itself."""
    groups = [group.split() for group in _ALIKE]
    found = next((group for group in groups if any(stem(other) == stem(word) for other in group)), [])
    return frozenset(other for other in found if stem(other) != stem(word))


@lru_cache(maxsize=65536)
def names(word: str, token: str) -> float:
    """Return how well a word of a text names a part of a field name, in [0, 1].

    1 for equal stems, digits in words and ordinals; 0.9 for a truncation (`temp`, `min`) or a synonym; 0.8 for an
    abbreviation that keeps the first letter and drops others (`pts`, `qty`); 0 for no relation.
    """
    if word == token or stem(word) == stem(token):
        return 1.0
    if token in synonyms(word):
        return 0.9
    if token.isdigit():
        value = NUMBER_WORDS.get(word, ORDINALS.get(word))
        return 1.0 if value is not None and value == int(token[:6]) else 0.0
    if len(word) < 3 or len(token) < 2 or word[0] != token[0] or word in ORDINALS or word in NUMBER_WORDS:
        return 0.0
    if len(token) >= 3 and word.startswith(token):
        return 0.9
    if len(word) >= 4 and token.startswith(stem(word)) and len(stem(word)) >= 4:
        return 0.9
    if 3 <= len(token) <= 4 and len(word) >= len(token) + 2 and _abbreviates(word, token):
        return 0.8
    return 0.0


def _abbreviates(word: str, token: str) -> bool:
    """Say whether `token` is `word` without most of its vowels: `pts` of points, `blk` of blocks, `qty`.

    Its letters come in the word's order, and are at least 60 % of the word's first letter and consonants.
    """
    if sum(c in "aeiou" for c in token[1:]) > (1 if len(token) == 3 else 0):
        return False
    for whole in (word, word + "s"):
        rest = iter(whole[1:])
        if all(letter in rest for letter in token[1:]):
            single = whole[:-1] if whole.endswith("s") and not token.endswith("s") else whole
            heard = [c for at, c in enumerate(single) if at == 0 or (c not in "aeiou" and c != single[at - 1])]
            return len(token) >= 0.6 * len(heard)
    return False

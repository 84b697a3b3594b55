"""Which values the words around a claim name: fields by their names, records by their labels."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION, UNITS, listed
from toolgrade.gates.utilization.words import Word

_WIDE = 400
DAY = ("day",)
_BREAKS = frozenset(",;:()[]|=—–/")
_LABEL = frozenset(" :*_`(=-|")
_EMPTY = FUNCTION | UNITS
_FAR = 80
_PLACE = itemgetter(2)
_JOINS = listed("and or but while with for in on at to from by as after before over against than")


_RANGE = re.compile(r"\s*(?:°?\s?[A-Za-z]{0,8}(?:/\w{1,2})?)?\s*(?:to|and|-|–|through|until)\s*")


class Mention(NamedTuple):
    """A label of one or more records that a sentence names.

    `naming`: the label tells records apart (a name, a code, a key), it is no category that many share.
    """

    start: int
    end: int
    records: tuple[int, ...]
    label: tuple[str, ...]
    naming: bool


class Sentence:
    """A sentence read once: where it begins, its words, its claims and the records that it names.

    `firm` are its claims without the weak ones.
    """

    __slots__ = ("_after", "_names", "_said", "_starts", "claims", "firm", "mentions", "start", "text", "words")

    def __init__(
        self, text: str, start: int, words: list[Word], claims: list[Claim], mentions: Sequence[Mention]
    ) -> None:
        self.text = text
        self.start = start
        self.words = words
        self.claims = claims
        self.mentions = mentions
        self.firm = [claim for claim in claims if not claim.weak]
        self._starts: list[int] | None = None
        self._names: frozenset[int] | None = None
        self._said: frozenset[str] | None = None
        self._after: dict[int, list[Word]] = {}

    @property
    def said(self) -> frozenset[str]:
        """Its words, folded."""
        if self._said is None:
            self._said = frozenset(word.norm for word in self.words)
        return self._said

    def word_at(self, place: int) -> int:
        """Return the number of the first word that begins at or after a place."""
        if self._starts is None:
            self._starts = [word.start for word in self.words]
        return bisect_left(self._starts, place)

    def is_name(self, word: Word) -> bool:
        """Say whether a word is part of the name of a record."""
        if self._names is None:
            spans = [(m.start, m.end) for m in self.mentions if m.naming]
            self._names = frozenset(w.start for a, b in spans for w in self.words if a <= w.start and w.end <= b)
        return word.start in self._names

    def after(self, claim: Claim) -> list[Word]:
        """Return the content words of the noun phrase that follows a claim: `38 points`, `14-point`, `20 seats`."""
        known = self._after.get(claim.start)
        if known is None:
            known = self._after[claim.start] = _after(self, claim)
        return known


def mentions(index: Index, text: list[Word], claims: list[Claim], known: set[tuple[str, ...]]) -> list[Mention]:
    """Return the records that a sentence names, by full label, by a capitalised part of one, or by day.

    `known` collects the labels that were given in full: a later part of such a label means that label.
    """
    out: list[Mention] = []
    longest, parts = index.longest, index.parts
    end = -1
    for at in [at for at, word in enumerate(text) if word.norm in longest or word.norm in parts]:
        if at < end:
            continue
        word = text[at]
        size = _full(index, text, at) if word.norm in longest else 0
        if size:
            key = tuple(word.norm for word in text[at : at + size])
            if size > 1:
                known.add(key)
            out.append(
                Mention(text[at].start, text[at + size - 1].end, tuple(index.labels[key]), key, index.names_one(key))
            )
            end = at + size
        elif word.norm in parts:
            part = _part(index, word, known)
            if part is not None:
                out.append(part)
    for claim in claims:
        if claim.kind == "day":
            held = _on_day(index, claim)
            if held:
                out.append(Mention(claim.start, claim.end, held, DAY, False))
    return sorted(out, key=attrgetter("start")) if len(out) > 1 else out


def _full(index: Index, text: list[Word], at: int) -> int:
    first = text[at].norm
    for size in range(min(index.longest[first], len(text) - at), 0, -1):
        if tuple(word.norm for word in text[at : at + size]) in index.labels:
            plain = first in FUNCTION or len(first) < 2 or (first.isdigit() and len(first) < 4)
            return 0 if size == 1 and plain else size
    return 0


def _part(index: Index, word: Word, known: set[tuple[str, ...]]) -> Mention | None:
    keys = index.parts[word.norm]
    if not word.text[:1].isupper() or word.norm in FUNCTION:
        return None
    records = sorted({record for key in (keys & known or keys) for record in index.labels[key]})
    if len(records) > _WIDE:
        return None
    return Mention(
        word.start, word.end, tuple(records), (word.norm,), any(index.names_one(key) for key in keys & known or keys)
    )


def _on_day(index: Index, claim: Claim) -> tuple[int, ...]:
    out: set[int] = set()
    for day in (claim.value, claim.other):
        if isinstance(day, tuple):
            key = (day.month, day.day)
            out |= {record for other, record, _ in index.days.get(key, ()) if other.agrees(day)}
            out |= {record for other, record in index.called_days.get(key, ()) if other.agrees(day)}
    return tuple(sorted(out)) if len(out) <= _WIDE else ()


def _after(sentence: Sentence, claim: Claim) -> list[Word]:
    stop = next_claim(sentence, claim)
    out: list[Word] = []
    last = claim.end
    for at in range(sentence.word_at(claim.end), len(sentence.words)):
        word = sentence.words[at]
        if word.end > stop or not _BREAKS.isdisjoint(sentence.text[last : word.start]) or len(out) == 3:
            break
        if word.norm in _JOINS and (out or word.norm != "of"):
            break
        if word.norm not in _EMPTY and not sentence.is_name(word):
            out.append(word)
        last = word.end
    return out


def before(sentence: Sentence, claim: Claim, most: int = 6) -> list[Word]:
    """Return the content words that lead to a claim, nearest first: `total cost: $239`, `a temperature of 21`."""
    start = last_claim(sentence, claim)
    out: list[Word] = []
    last = claim.start
    for at in range(sentence.word_at(claim.start) - 1, -1, -1):
        word = sentence.words[at]
        if word.end > claim.start:
            continue
        gap = sentence.text[word.end : last]
        if word.start < start or len(out) == most:
            break
        if not (gap == " " or _BREAKS.isdisjoint(gap)) and (out or not _LABEL.issuperset(gap)):
            break
        if word.norm not in FUNCTION and not sentence.is_name(word):
            out.append(word)
        last = word.start
    return out


def phrase(sentence: Sentence, claim: Claim) -> list[Word]:
    """Return the words that say what a claim is about: up to the next claim, and before it where it comes first."""
    stop = next_claim(sentence, claim)
    start = last_claim(sentence, claim)
    later = sentence.words[sentence.word_at(claim.end) : sentence.word_at(stop)]
    earlier = sentence.words[sentence.word_at(start) : sentence.word_at(claim.start)]
    if start and any(w.norm not in FUNCTION for w in later):
        return later
    return earlier + later


def in_range_with(sentence: Sentence, claim: Claim) -> Claim | None:
    """Return the claim that begins the range which this one ends: `from 2 to 7`, `between 2 m/s and 7 m/s`."""
    first = next((c for c in reversed(sentence.firm) if c.end <= claim.start), None)
    if first is None or first.kind != claim.kind or claim.start - first.end > _FAR:
        return None
    return first if _RANGE.fullmatch(sentence.text, first.end, claim.start) else None


def last_claim(sentence: Sentence, claim: Claim) -> int:
    """Return where the value before ends; codes and days between name what a claim is about and do not count."""
    return max([c.end for c in sentence.firm if c.end <= claim.start and c.kind in ("number", "time")], default=0)


def next_claim(sentence: Sentence, claim: Claim) -> int:
    """Return where the next claim begins, or the end of the sentence."""
    return min([c.start for c in sentence.firm if c.start >= claim.end], default=len(sentence.text))


def candidates(index: Index, fields: dict[int, float], named: Sequence[Mention]) -> list[tuple[float, float, int]]:
    """Return `(entity score, field score, leaf)` for the values of the fields in the named records.

    The mention nearest to the claim counts 1, the next 1/2, and so on; a record counts in full for its own
    values and less for what lies deeper.
    """
    scores: dict[int, float] = {}
    share = 1.0
    for mention in named[:8]:
        held = index.held(mention.records, mention.label)
        found = [values for field in fields if (values := held.of(field))]
        if len(found) > 1 and len(mention.records) > 1:
            found = [sorted(chain.from_iterable(found), key=_PLACE)]
        for values in found:
            for leaf, weight, _ in values:
                scores[leaf] = scores.get(leaf, 0.0) + weight * share
        share *= 0.5
    leaves = index.leaves
    return [(score, fields[leaves[leaf].field], leaf) for leaf, score in scores.items()]

"""Which values the words around a claim name: fields by their names, records by their labels."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION, UNITS, listed
from toolgrade.gates.utilization.words import Word

_WIDE = 400
DAY = ("day",)
_BREAKS = frozenset(",;:()[]|=—–/")
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


class Sentence(NamedTuple):
    """A sentence read once: where it begins, its words, its claims and the records that it names."""

    text: str
    start: int
    words: list[Word]
    claims: list[Claim]
    mentions: list[Mention]


def mentions(index: Index, text: list[Word], claims: list[Claim], known: set[tuple[str, ...]]) -> list[Mention]:
    """Return the records that a sentence names, by full label, by a capitalised part of one, or by day.

    `known` collects the labels that were given in full: a later part of such a label means that label.
    """
    out: list[Mention] = []
    at = 0
    while at < len(text):
        size = _full(index, text, at) if text[at].norm in index.longest else 0
        if size:
            key = tuple(word.norm for word in text[at : at + size])
            if size > 1:
                known.add(key)
            out.append(
                Mention(text[at].start, text[at + size - 1].end, tuple(index.labels[key]), key, index.names_one(key))
            )
            at += size
            continue
        if text[at].norm in index.parts:
            part = _part(index, text[at], known)
            if part is not None:
                out.append(part)
        at += 1
    for claim in claims:
        if claim.kind == "day":
            held = _on_day(index, claim)
            if held:
                out.append(Mention(claim.start, claim.end, held, DAY, False))
    return sorted(out, key=lambda mention: mention.start)


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


def after(sentence: Sentence, claim: Claim) -> list[Word]:
    """Return the content words of the noun phrase that follows a claim: `38 points`, `14-point`, `20 free seats`."""
    stop = next_claim(sentence, claim)
    out: list[Word] = []
    last = claim.end
    for word in sentence.words:
        if word.start < claim.end:
            continue
        if word.end > stop or _BREAKS.intersection(sentence.text[last : word.start]) or len(out) == 3:
            break
        if word.norm in _JOINS and (out or word.norm != "of"):
            break
        if word.norm not in FUNCTION and word.norm not in UNITS and not is_name(sentence, word):
            out.append(word)
        last = word.end
    return out


def before(sentence: Sentence, claim: Claim) -> list[Word]:
    """Return the content words that lead to a claim, nearest first: `total cost: $239`, `a temperature of 21`."""
    start = last_claim(sentence, claim)
    out: list[Word] = []
    last = claim.start
    for word in reversed(sentence.words):
        if word.end > claim.start:
            continue
        gap = sentence.text[word.end : last]
        label = not out and set(gap) <= set(" :*_`(=-|")
        if word.start < start or (_BREAKS.intersection(gap) and not label) or len(out) == 6:
            break
        if word.norm not in FUNCTION and not is_name(sentence, word):
            out.append(word)
        last = word.start
    return out


def phrase(sentence: Sentence, claim: Claim) -> list[Word]:
    """Return the words that say what a claim is about: up to the next claim, and before it where it comes first."""
    stop = next_claim(sentence, claim)
    start = last_claim(sentence, claim)
    later = [w for w in sentence.words if claim.end <= w.start < stop]
    earlier = [w for w in sentence.words if start <= w.start < claim.start]
    if start and any(w.norm not in FUNCTION for w in later):
        return later
    return earlier + later


def in_range_with(sentence: Sentence, claim: Claim) -> Claim | None:
    """Return the claim that begins the range which this one ends: `from 2 to 7`, `between 2 m/s and 7 m/s`."""
    earlier = [c for c in sentence.claims if c.end <= claim.start and not c.weak]
    if not earlier or earlier[-1].kind != claim.kind:
        return None
    joined = _RANGE.fullmatch(sentence.text, earlier[-1].end, claim.start)
    return earlier[-1] if joined else None


def last_claim(sentence: Sentence, claim: Claim) -> int:
    """Return where the value before ends; codes and days between name what a claim is about and do not count."""
    ends = [c.end for c in sentence.claims if c.end <= claim.start and not c.weak and c.kind in ("number", "time")]
    return max(ends, default=0)


def next_claim(sentence: Sentence, claim: Claim) -> int:
    """Return where the next claim begins, or the end of the sentence."""
    return min((c.start for c in sentence.claims if c.start >= claim.end and not c.weak), default=len(sentence.text))


def is_name(sentence: Sentence, word: Word) -> bool:
    """Say whether a word is part of the name of a record."""
    return any(m.naming and m.start <= word.start and word.end <= m.end for m in sentence.mentions)


def candidates(index: Index, fields: dict[int, float], named: list[Mention]) -> list[tuple[float, float, int]]:
    """Return `(entity score, field score, leaf)` for the values of the fields in the named records.

    The mention nearest to the claim counts 1, the next 1/2, and so on; a record counts in full for its own
    values and less for what lies deeper.
    """
    scores: dict[int, float] = {}
    of_field: dict[int, float] = {}
    held = [(index.fields[field].leaves, score) for field, score in fields.items()]
    records, depths = index.records, index.depths
    for rank, mention in enumerate(named[:8]):
        best: dict[int, float] = {}
        for number in mention.records[:_WIDE]:
            record = records[number]
            first, last, depth = record.first, record.last, record.depth
            own = 1.1 if record.key is not None and mention.label == record.label else 1.0
            for leaves, score in held:
                if leaves[-1] < first or leaves[0] >= last:
                    continue
                start = bisect_left(leaves, first)
                for leaf in leaves[start : bisect_left(leaves, last, start)][:_WIDE]:
                    away = depths[leaf] - depth
                    weight = 0.6 / away if away else own
                    if weight > best.get(leaf, 0.0):
                        best[leaf] = weight
                    of_field[leaf] = score
        for leaf, weight in best.items():
            scores[leaf] = scores.get(leaf, 0.0) + weight * 0.5**rank
    return [(score, of_field[leaf], leaf) for leaf, score in scores.items()]

"""Two numbers told as one: `7 of 9`, `32-18`, `113-107`. Their fields are a pair, or one field of two records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.fields import fit, partly, spread
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.leaves import Field, name_of
from toolgrade.gates.utilization.lexicon import FUNCTION, PARTS, listed
from toolgrade.gates.utilization.link import Mention, Sentence, candidates, phrase
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import Word, name_tokens, names, stem

_JOIN = re.compile(r"\s?[-–]\s?(?P<part>(?:of|for)\s?[-–]\s?)?|\s(?P<of>of|out of|for)\s")
_OUTCOMES = listed("win won winn los loss lost beat defeat outscor")
_PART = (("m", "a"), ("made", "attempted"), ("made", "attempts"), ("successful", "total"), ("used", "total"))


class Pair(NamedTuple):
    """Two claims joined by a dash or `of`; `part` where the first is a part of the second."""

    first: Claim
    second: Claim
    part: bool


class Told(NamedTuple):
    """What one member of a pair is compared with: leaves (one, or several that add up) and their value."""

    leaves: tuple[int, ...]
    value: float


def pairs(text: str, claims: list[Claim]) -> list[Pair]:
    """Return the neighbouring plain numbers of a sentence that are told as one."""
    out: list[Pair] = []
    plain = [c for c in claims if c.kind == "number" and not c.weak]
    for a, b in pairwise(plain):
        join = _JOIN.fullmatch(text, a.end, b.start)
        taken = out and out[-1].second is a
        if join and not taken and a.unit == b.unit == "" and a.step == b.step == 1:
            out.append(Pair(a, b, bool(join["part"] or join["of"])))
    return out


def compare_pair(index: Index, sentence: Sentence, pair: Pair) -> list[tuple[Claim, bool | None, tuple[int, ...], str]]:
    """Return `(claim, agrees, leaves, how)` for both members; `agrees` is None where nothing is linked firmly."""
    named = [m for m in reversed(sentence.mentions) if m.end <= pair.first.start] or sentence.mentions
    bracketed = not pair.part and _in_brackets(sentence, pair)
    told = _parts(index, sentence, pair, named)
    if len({index.leaves[t[0].leaves[0]].record for t in told}) > 1:
        told = []
    if not told and not pair.part and not bracketed:
        told = _sides(index, sentence, pair, named)
    if not told:
        return [(claim, None, (), "no pair of values is linked") for claim in pair[:2]]
    both = [t for t in told if _same(pair, t)]
    if both and len(told) > 1 and pair.second.number < 5:
        return [(claim, None, both[0][at].leaves, "several pairs are linked") for at, claim in enumerate(pair[:2])]
    if both:
        a, b = both[0]
        how = "linked" if len(a.leaves) == 1 else "derived: sum"
        return [(pair.first, True, a.leaves, how), (pair.second, True, b.leaves, how)]
    out: list[tuple[Claim, bool | None, tuple[int, ...], str]] = []
    for claim, at in ((pair.first, 0), (pair.second, 1)):
        leaves = tuple(leaf for t in told for leaf in t[at].leaves)
        hit = any(abs(t[at].value - claim.number) < 0.5 for t in told)
        out.append(
            (claim, None if hit else False, leaves, "the other number of the pair is wrong" if hit else "linked")
        )
    return out


def _same(pair: Pair, told: tuple[Told, Told]) -> bool:
    return abs(told[0].value - pair.first.number) < 0.5 and abs(told[1].value - pair.second.number) < 0.5


def _parts(index: Index, sentence: Sentence, pair: Pair, named: Sequence[Mention]) -> list[tuple[Told, Told]]:
    """Return the values of paired fields of the record that is named: made of attempted, wins and losses."""
    about = _about(sentence, pair)
    context = spread(about)
    bracketed = not pair.part and _in_brackets(sentence, pair)
    if bracketed:
        named = [m for m in named if not sentence.text[m.end : pair.first.start].strip(" (")][:1]
    ranked: list[tuple[float, tuple[Told, Told]]] = []
    for a, b, base, part in _paired(index):
        tokens = name_tokens(base)
        if part == bracketed or (pair.part and not part):
            continue
        score = sum(max((partly(w, t) for w in context), default=0.0) or -0.25 for t in tokens)
        if part and not pair.part and score < 0.5:
            continue
        for left, right in _values(index, named, a, b):
            ranked.append((score, (left, right)))
    if not ranked:
        return []
    best = max(score for score, _ in ranked)
    top = [told for score, told in ranked if score >= best - 1e-6]
    if not any(_same(pair, t) for t in top) and any(_same(pair, t) for _, t in ranked):
        return []
    return top


def _about(sentence: Sentence, pair: Pair) -> list[Word]:
    if not pair.part:
        return sentence.after(pair.second)
    return [w for w in phrase(sentence, pair.second) if w.norm not in FUNCTION and w.start >= pair.second.end]


def _in_brackets(sentence: Sentence, pair: Pair) -> bool:
    left = sentence.text[: pair.first.start].rstrip()
    right = sentence.text[pair.second.end :].lstrip()
    return left.endswith("(") and right.startswith(")")


def _paired(index: Index) -> Iterator[tuple[int, int, str, bool]]:
    known = {field.path: field.number for field in index.fields}
    for field in index.fields:
        if not field.path:
            continue
        own = field.path[-1]
        for one, two in _PART:
            if own.casefold().endswith(one):
                base = own[: len(own) - len(one)]
                other = known.get((*field.path[:-1], base + (two.upper() if own.isupper() else two)))
                if other is not None:
                    yield field.number, other, base, True
        for one, two in PARTS:
            if field.tokens and stem(field.tokens[-1]) == stem(one):
                for path, number in known.items():
                    if (
                        path[:-1] == field.path[:-1]
                        and path
                        and stem((name_tokens(path[-1]) or ("",))[-1]) == stem(two)
                    ):
                        yield field.number, number, "", False


def _values(index: Index, named: Sequence[Mention], a: int, b: int) -> list[tuple[Told, Told]]:
    found = candidates(index, {a: 0.0, b: 0.0}, named)
    if not found:
        return []
    best = max(entity for entity, _, _ in found)
    top = [leaf for entity, _, leaf in found if entity >= best - 1e-6]
    out = []
    for leaf in top:
        held = index.leaves[leaf]
        other = [x for x in top if index.leaves[x].field == b and index.leaves[x].record == held.record]
        if held.field == a and other:
            left, right = quantity(held.value), quantity(index.leaves[other[0]].value)
            if left is not None and right is not None:
                out.append((Told((leaf,), left), Told((other[0],), right)))
    return out


def _sides(index: Index, sentence: Sentence, pair: Pair, named: Sequence[Mention]) -> list[tuple[Told, Told]]:
    """Return the values of one field in the two records of a kind that the sentence names: a score."""
    sides = _rivals(index, named)
    if sides is None:
        return []
    first, second = sides
    about = _clause(sentence, pair)
    context = index.heard_in(spread(about))
    halves = _halves(index, [w.norm for w in about], first, second)
    if halves is not None:
        return _nearer(pair, halves, [(b, a) for a, b in halves]) if halves else []
    return _best(pair, sentence, _values_of_two(index, context, first, second))


def _values_of_two(index: Index, context: dict[str, float], first: int, second: int) -> list[tuple[float, Told, Told]]:
    """Return the fields that both records have once, with how well the context names them."""
    scored: list[tuple[float, Told, Told]] = []
    for field in index.fields:
        left, right = index.within(field.number, first), index.within(field.number, second)
        if len(left) == len(right) == 1:
            a, b = quantity(index.leaves[left[0]].value), quantity(index.leaves[right[0]].value)
            if a is not None and b is not None:
                scored.append((fit(index, field, context), Told((left[0],), a), Told((right[0],), b)))
    return scored + _keyed(index, context, first, second)


def _best(pair: Pair, sentence: Sentence, scored: list[tuple[float, Told, Told]]) -> list[tuple[Told, Told]]:
    """Return the values that a score is about: of the named field, else of the only field that half fits.

    Nothing where an unnamed part of the game is spoken of, or where another field holds just this score.
    """
    named = [item for item in scored if item[0] > 0]
    if not named and any(word.norm in ("half", "quarter", "period") for word in sentence.words):
        return []
    best = max((item[0] for item in named), default=0.0)
    top = [(a, b) for score, a, b in named or scored if not named or score >= best - 1e-6]
    turned = [(b, a) for a, b in top]
    for order in (top, turned):
        if any(_same(pair, told) for told in order):
            return order
    if any(_same(pair, (a, b)) or _same(pair, (b, a)) for _, a, b in scored):
        return []
    if named:
        return _nearer(pair, top, turned) if len(top) == 1 else []
    half = [_nearer(pair, [a], [b])[0] for a, b in zip(top, turned, strict=True) if _hits(pair, a) + _hits(pair, b)]
    return half if len(half) == 1 else []


def _keyed(index: Index, context: dict[str, float], first: int, second: int) -> list[tuple[float, Told, Told]]:
    """Return the values under the keys of the two records elsewhere: `goals: {home}` beside `teams: {home}`."""
    one, two = index.records[first], index.records[second]
    if one.key is None or two.key is None:
        return []
    known = {field.path: field.number for field in index.fields}
    out = []
    for path, number in known.items():
        other = known.get((*path[:-1], two.key)) if path and path[-1] == one.key else None
        left = index.within(number, one.parent) if other is not None else []
        right = index.within(other, one.parent) if other is not None else []
        if len(left) == len(right) == 1:
            a, b = quantity(index.leaves[left[0]].value), quantity(index.leaves[right[0]].value)
            if a is not None and b is not None:
                held = Field(number, path, name_of(path[-2:-1]))
                out.append((fit(index, held, context), Told((left[0],), a), Told((right[0],), b)))
    return out


def _clause(sentence: Sentence, pair: Pair) -> list[Word]:
    """Return the words of the clause that a pair stands in; commas right beside the pair do not end it."""
    text = sentence.text
    cuts = [m.start() for m in re.finditer(r"[,;]|\b(?:while|but)\b", text)]
    start = max((at for at in cuts if text[at + 1 : pair.first.start].strip() and at < pair.first.start), default=0)
    end = min((at for at in cuts if at > pair.second.end and text[pair.second.end : at].strip()), default=len(text))
    return [w for w in sentence.words if start <= w.start < end and _tells(sentence, w)]


def _tells(sentence: Sentence, word: Word) -> bool:
    return word.norm not in FUNCTION and stem(word.norm) not in _OUTCOMES and not sentence.is_name(word)


def _nearer(pair: Pair, top: list[tuple[Told, Told]], turned: list[tuple[Told, Told]]) -> list[tuple[Told, Told]]:
    return top if _hits(pair, top[0]) >= _hits(pair, turned[0]) else turned


def _hits(pair: Pair, told: tuple[Told, Told]) -> int:
    return sum(abs(value.value - claim.number) < 0.5 for value, claim in zip(told, pair[:2], strict=True))


def _rivals(index: Index, named: Sequence[Mention]) -> tuple[int, int] | None:
    """Return the two sibling records that the sentence names, the one named first first."""
    seen: list[int] = []
    for mention in reversed(named):
        for record in mention.records:
            if record not in seen:
                seen.append(record)
    for at, one in enumerate(seen):
        for other in seen[at + 1 :]:
            a, b = index.records[one], index.records[other]
            if a.parent == b.parent >= 0 and a.shape == b.shape and len(index.siblings(one)) == 2:
                return one, other
    for one in seen:
        beside = index.siblings(one)
        if len(beside) == 2:
            other = beside[0] if beside[1] == one else beside[1]
            return one, other
    return None


def _halves(index: Index, about: list[str], first: int, second: int) -> list[tuple[Told, Told]] | None:
    """Return the sums of two quarters where the sentence speaks of a half; None where it does not."""
    if "half" not in about:
        return None
    at = about.index("half") - 1
    which = {"first": (1, 2), "opening": (1, 2), "second": (3, 4)}.get(about[at] if at >= 0 else "")
    if which is None:
        return []
    sums = []
    for record in (first, second):
        leaves = [
            leaf
            for field in index.fields
            if any(names("quarter", t) for t in field.tokens) and any(str(n) in field.tokens for n in which)
            for leaf in index.within(field.number, record)
        ]
        values = [quantity(index.leaves[leaf].value) for leaf in leaves]
        if len(leaves) != 2 or None in values:
            return []
        sums.append(Told(tuple(leaves), sum(v for v in values if v is not None)))
    return [(sums[0], sums[1])]

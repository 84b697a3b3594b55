"""Which fields the words around a claim name."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.leaves import Field
from toolgrade.gates.utilization.lexicon import FUNCTION, NEUTRAL, PER_HUNDRED, PERCENT, UNITS
from toolgrade.gates.utilization.link import Sentence, before, in_range_with, phrase
from toolgrade.gates.utilization.words import Word, name_tokens, names


class Named(NamedTuple):
    """The fields that a claim's words name, each with a score.

    `word` stands beside the claim and names them; None where only the unit or words further off do.
    `others` are the words between that word and the claim, and those that qualify it (`extra fee`).
    """

    scores: dict[int, float]
    word: Word | None
    others: tuple[Word, ...]


def fields_named(index: Index, sentence: Sentence, claim: Claim) -> Named:
    """Return the fields that a claim is linked to by the words beside it, else by its unit or its phrase."""
    first = in_range_with(sentence, claim)
    later, earlier = sentence.after(claim), before(sentence, first or claim)
    if claim.weak:
        later, earlier = [w for w in later[:1] if w.start - claim.end <= 1], []
    plain = claim.kind == "number" and claim.unit != "money"
    found: dict[int, float] = {}
    word: Word | None = None
    others: tuple[Word, ...] = ()
    for run in (later, earlier) if plain else (earlier, later):
        at = _naming(index, claim, run)
        if at is not None:
            word, found = run[at], _right_kind(index, claim, index.named_by(run[at].norm))
            others = tuple(run[:at]) + (_qualifiers(sentence, run, at) if run is earlier else ())
            if run is earlier and plain:
                others += tuple(later)
            elif run is later and "-" not in sentence.text[claim.end : word.start]:
                others += tuple(run[at + 1 :])
            break
    if word is not None:
        found = found | _in_full(index, claim, earlier if word in earlier else later)
    about = _about(sentence, claim, plain, earlier)
    if claim.unit == "percent":
        return Named(_shares(index, found, about), word if found else None, others if found else ())
    if not found:
        word, others = None, ()
        found = _by_unit(index, claim, about)
    if len(found) == 1:
        return Named(found, word, others)
    context = index.heard_in(spread(about))
    return Named({f: weight + fit(index, index.fields[f], context) for f, weight in found.items()}, word, others)


def _in_full(index: Index, claim: Claim, run: list[Word]) -> dict[int, float]:
    """Return the fields of several parts whose every part is said (`feels like` temperature)."""
    if len(run) < 2:
        return {}
    counts: dict[int, int] = {}
    for word in {word.norm for word in run}:
        for field, weight in index.named_by(word).items():
            if weight > 0.5:
                counts[field] = counts.get(field, 0) + 1
    full = {f: 1.2 for f, count in counts.items() if 1 < len(set(index.fields[f].tokens)) <= count}
    return _right_kind(index, claim, full)


def _naming(index: Index, claim: Claim, run: list[Word]) -> int | None:
    """Return which word names fields: the nearest that says a field's own name, else the nearest of any."""
    any_name = None
    for at, word in enumerate(run):
        found = _right_kind(index, claim, index.named_by(word.norm))
        if any(weight > 0.5 for weight in found.values()):
            return at
        if found and any_name is None:
            any_name = at
    return any_name


def _about(sentence: Sentence, claim: Claim, plain: bool, earlier: list[Word]) -> list[Word]:
    words = phrase(sentence, claim) if plain or not earlier else sorted(earlier, key=lambda word: word.start)
    return [w for w in words if w.norm not in FUNCTION and w.norm not in UNITS and not sentence.is_name(w)]


def _by_unit(index: Index, claim: Claim, about: list[Word]) -> dict[int, float]:
    if claim.weak:
        return {}
    found: dict[int, float] = {}
    for word in about:
        for field, weight in _right_kind(index, claim, index.named_by(word.norm)).items():
            found[field] = max(weight * 0.5, found.get(field, 0.0))
    return found or (dict.fromkeys([f.number for f in index.fields if f.money], 0.0) if claim.unit == "money" else {})


def _qualifiers(sentence: Sentence, run: list[Word], at: int) -> tuple[Word, ...]:
    """Return the words right before a naming word that make its name longer than the field's."""
    out = []
    last = run[at].start
    for word in run[at + 1 :]:
        if sentence.text[word.end : last].strip("*_ "):
            break
        out.append(word)
        last = word.start
    return tuple(out)


def unmatched(index: Index, named: Named, leaves: list[int]) -> list[str]:
    """Return the words around a field's name that neither the field nor the records that hold it explain."""
    tokens: set[str] = set()
    for leaf in leaves:
        held = index.leaves[leaf]
        tokens.update((*index.fields[held.field].tokens, *index.fields[held.field].around))
        for record in index.chain(held.record):
            tokens.update(index.about(record))
    left = [w.norm for w in named.others if w.norm not in NEUTRAL]
    return [word for word in left if not any(names(word, token) for token in tokens)]


def _shares(index: Index, found: dict[int, float], local: list[Word]) -> dict[int, float]:
    """Return the fields that hold shares: those that words tell apart from the rest, else all of them alike."""
    context = spread(local)
    held = found or {f.number: 0.5 for f in index.fields if not PER_HUNDRED.isdisjoint((*f.tokens, *f.around))}
    told = {
        number: sum(
            max((partly(word, token) for word in context), default=0.0) or -0.25
            for token in index.fields[number].tokens
            if token not in PERCENT and token not in index.common(index.fields[number])
        )
        for number in held
    }
    return told if any(score > 0 for score in told.values()) else dict.fromkeys(held, 0.0)


def partly(word: str, token: str) -> float:
    """Return how well a word names a part of a field name, or at least the first of two initials (`field`: `fg`)."""
    return names(word, token) or (0.4 if len(token) == 2 and len(word) > 3 and word[0] == token[0] else 0.0)


def _right_kind(index: Index, claim: Claim, fields: dict[int, float]) -> dict[int, float]:
    """Return the fields that can hold what the claim speaks of, by their names: money for money, shares for shares."""
    if claim.kind != "number" or not fields:
        return fields
    known = index.fields
    if claim.unit == "money":
        return {f: w for f, w in fields.items() if known[f].money}
    if claim.unit == "percent":
        return {f: w for f, w in fields.items() if known[f].own_share} or fields
    if claim.unit == "year":
        return {f: w for f, w in fields.items() if known[f].year}
    return {f: w for f, w in fields.items() if not known[f].per_hundred}


def spread(local: list[Word]) -> set[str]:
    """Return words with the parts of mixed ones (`3pt`) and the initials of neighbours (`free throw`: `ft`)."""
    out = {word.norm for word in local}
    for word in local:
        if any(c.isdigit() for c in word.norm):
            out.update(name_tokens(word.norm))
    for a, b in pairwise(local):
        if 0 < b.start - a.end <= 3 and a.norm.isalpha() and b.norm.isalpha():
            out.add(a.norm[0] + b.norm[0])
    return out


def fit(index: Index, field: Field, context: dict[str, float]) -> float:
    """Return how many parts of a field's name the context names (`index.heard_in`), less those that it does not.

    The names of what holds the field count half, and cost nothing where they are not said.
    """
    score = 0.0
    common = index.common(field)
    for token in field.tokens:
        held = context.get(token)
        if held:
            score += 0.5 * held
        elif token not in common:
            score -= 0.25
    return score + sum([0.25 for token in set(field.around) if token in context]) if field.around else score

"""Why a claim that differs from the values it is linked to may still be right."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.fields import Named, spread, unmatched
from toolgrade.gates.utilization.ground import agrees, comparable
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.leaves import Field, Leaf
from toolgrade.gates.utilization.lexicon import (
    BLURS,
    CHANGES,
    CODES,
    DENIES,
    FORECASTS,
    FUNCTION,
    GENERIC,
    MINOR,
    MONEY,
    NARROWS,
    PERCENT,
    RELATES,
    SUPPOSES,
    UNITS,
)
from toolgrade.gates.utilization.link import DAY, Mention, Sentence
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import name_tokens, names

_QUIET = GENERIC | MINOR | UNITS | PERCENT
_WIDE = 200
_TIMES = re.compile(
    r"\b(?:last|past|previous|next|over)\s+(?:\w+\s+)?(?:games?|contests?|outings?|days?|weeks?|months?|years?)\b"
)
_SHARED = re.compile(r"\b(?:former|latter|respectively|each other)\b")
_OF_TWO = re.compile(r"\b(?:pair|both|duo|each|trio)\b")
_TOGETHER = re.compile(r"\W*(?:,|and|or|&|through|to)\W*")
_OTHER_UNIT = re.compile(
    r"\s*(?:°\s?F|F\b|degrees?\s+F|mph|miles|knots|k(?:m/h|ph|mh)|in(?:ch|ches|\b)|feet|ft\b|mm\b|cm\b|lbs?\b)",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"[\s*_`(:=–-]*(?:is|was|costs?|at|for)?[\s(:]*")
_PRONOUN = re.compile(r"\W*(?:he|she|it|they|his|her|its|their|this|that)\b", re.IGNORECASE)


class Case:
    """One claim beside the values that it is linked to, with how it is linked.

    `level` tells where the record is named: 0 in the sentence or list, 2 in the sentence before, 3 nowhere.
    """

    def __init__(self, index: Index, sentence: Sentence, claim: Claim, named: Named) -> None:
        self.index = index
        self.sentence = sentence
        self.claim = claim
        self.named = named
        self.mentions: list[Mention] = []
        self.level = 3


def doubt(case: Case, linked: list[int]) -> str | None:
    """Return the reason not to call a differing claim a contradiction, None where there is none."""
    return (
        _loose(case, linked)
        or _ambiguous(case, linked)
        or unsaid(case.sentence, case.claim)
        or narrowed(case.sentence, case.claim, told(case.index, case.sentence, linked))
        or _elsewhere(case, linked)
        or _added_up(case)
    )


def _loose(case: Case, linked: list[int]) -> str | None:
    index, word = case.index, case.named.word
    if _OTHER_UNIT.match(case.sentence.text, case.claim.end):
        return "it is told in a unit of its own"
    if any(_is_code(case, leaf) for leaf in linked):
        return "the field holds a code"
    if word is None and case.claim.unit != "percent" and not in_sole_field(case, linked):
        return "no field is named beside it"
    if case.claim.weak and case.level:
        return "the record is named elsewhere"
    if word is not None:
        beside = _BESIDE.fullmatch(case.sentence.text, word.end, case.claim.start)
        if case.claim.unit == "money" and not beside and not MONEY.intersection(_words(case)):
            return "no word for money names it"
        own = [index.fields[index.leaves[leaf].field].tokens for leaf in linked]
        group = _names_group(case, linked)
        if not group and not all(_names_it(index, case, tokens) for tokens in own):
            return "the field is named by a word that is not its own"
        left = unmatched(index, case.named, linked)
        if left:
            return f"its name says more than the field's: {left[0]!r}"
    return _other_field(case, linked)


def _other_field(case: Case, linked: list[int]) -> str | None:
    """Say whether the linked fields hold another thing than is told, by their names."""
    index = case.index
    held = [index.fields[index.leaves[leaf].field] for leaf in linked]
    if case.claim.unit == "percent" and not all(f.share for f in held):
        return "the field is no share"
    if case.claim.unit == "percent" or _names_group(case, linked):
        return None
    more = next((part for f in held for part in _not_said(case, f)), None)
    return f"the field's name says more than is told: {more!r}" if more else None


def _is_code(case: Case, leaf: int) -> bool:
    tokens = case.index.fields[case.index.leaves[leaf].field].tokens
    return case.claim.kind == "number" and bool(tokens) and tokens[-1] in CODES


def in_sole_field(case: Case, linked: list[int]) -> bool:
    """Say whether a sentence names a row of a table that has one column of numbers: it can mean no other."""
    sole = case.index.sole(case.index.documents[-1])
    return sole is not None and case.level == 0 and all(case.index.leaves[leaf].field == sole for leaf in linked)


def _words(case: Case) -> list[str]:
    """Return the word that names the field and those that belong to it."""
    return [] if case.named.word is None else [word.norm for word in (case.named.word, *case.named.others)]


def _names_group(case: Case, linked: list[int]) -> bool:
    """Say whether an amount is told of a group of amounts by the group's name: one of the `prices`."""
    index = case.index
    groups = {index.fields[index.leaves[leaf].field].path[:-1] for leaf in linked}
    if case.claim.unit != "money" or len(groups) != 1 or not (group := groups.pop()):
        return False
    alike = [f for f in index.beside[group] if quantity(index.leaves[f.leaves[0]].value) is not None]
    if len(alike) < 2:
        return False
    return any(names(word, token) >= 0.9 for word in _words(case) for token in name_tokens(group[-1]))


def _not_said(case: Case, field: Field) -> list[str]:
    """Return the telling parts of a field's name that its sentence does not hold (`original` slide count)."""
    common = case.index.common(field)
    heard = case.index.heard_in(spread(case.sentence.words))
    return [t for t in field.tokens if t not in _QUIET and t not in common and t not in heard]


def _names_it(index: Index, case: Case, tokens: tuple[str, ...]) -> bool:
    """Say whether a field's own name is said: a part that tells something, or all of its parts."""
    assert case.named.word is not None  # noqa: S101
    heard = index.heard_in(word.norm for word in (case.named.word, *case.named.others))
    held = [token for token in tokens if token in heard]
    telling = [token for token in tokens if token not in MINOR]
    return any(token not in GENERIC for token in held) or (bool(held) and len(held) == len(telling))


def _ambiguous(case: Case, linked: list[int]) -> str | None:
    held = [case.index.leaves[leaf] for leaf in linked]
    differ = any(len({str(o.value) for o in held if o.field == leaf.field}) > 1 for leaf in held[:_WIDE])
    several = differ and len({leaf.record for leaf in held}) > 1
    if several and not (_beyond(case, linked) or _quotes_none(case, held)):
        return "several values are linked"
    own = sorted((m for m in case.mentions[:2] if m in case.sentence.mentions), key=lambda m: m.start)
    if len(own) == 2 and _TOGETHER.fullmatch(case.sentence.text, own[0].end, own[1].start):
        return "several records are named together"
    days = [m for m in case.sentence.mentions if m.label == DAY]
    if any(_TOGETHER.fullmatch(case.sentence.text, a.end, b.start) for a, b in pairwise(days)):
        return "several days are named together"
    if days and all(m.start > case.claim.end and "," in case.sentence.text[case.claim.end : m.start] for m in days):
        return "the day is named in another part of the sentence"
    if _names_another(case):
        return "it names something that the payload does not"
    if elsewhere := elsewhere_named(case):
        return elsewhere
    said = case.sentence.mentions
    telling = {r for m in case.mentions if m.naming or (m.label == DAY and m in said) for r in m.records}
    if case.level < 2 and not all(telling.intersection(case.index.chain(leaf.record)) for leaf in held):
        return "no record is named"
    return None


def elsewhere_named(case: Case) -> str | None:
    """Say whether the record is named in the sentence before, and no pronoun takes it up."""
    taken_up = not case.sentence.mentions and _PRONOUN.match(case.sentence.text)
    return "the record is named in another sentence" if case.level == 2 and not taken_up else None


def _names_another(case: Case) -> bool:
    """Say whether a sentence names a thing that the linked values do not belong to: a name that no field explains."""
    if any(mention.naming for mention in case.sentence.mentions):
        return case.level == 3
    text = case.sentence.text
    for word in case.sentence.words:
        first = not text[: word.start].strip(" *_#(\"'`")
        heads = ":" in text[word.end : case.claim.start] and "." not in text[word.end : case.claim.start]
        proper = word.text[:1].isupper() and (not first or heads) and word.norm not in FUNCTION | UNITS
        inside = any(claim.start <= word.start < claim.end for claim in case.sentence.claims)
        if proper and not inside and not case.index.named_by(word.norm):
            return True
    return False


def _beyond(case: Case, linked: list[int]) -> bool:
    """Say whether a number lies outside everything that the named fields hold in these payloads."""
    index, claim = case.index, case.claim
    if claim.kind != "number" or claim.unit == "money" or _OTHER_UNIT.match(case.sentence.text, claim.end):
        return False
    within = {record for mention in case.mentions for record in mention.records[:_WIDE]}
    if within and not within.intersection(index.leaves[leaf].record for leaf in linked):
        return False
    within = within or {index.documents[index.leaves[leaf].document].root for leaf in linked}
    values = [
        value
        for field in case.named.scores
        for record in within
        for leaf in index.within(field, record)
        if (value := quantity(index.leaves[leaf].value)) is not None
    ]
    if len(values) < 3:
        return False
    margin = max(claim.step, 0.05 * (max(values) - min(values)))
    return not min(values) - margin <= claim.number <= max(values) + margin


def _quotes_none(case: Case, held: list[Leaf]) -> bool:
    """Say whether a number is told as exactly as the payload tells it, of a named record, and is none of its values."""
    if (
        case.claim.kind != "number"
        or case.claim.unit
        or case.level
        or _OTHER_UNIT.match(case.sentence.text, case.claim.end)
    ):
        return False
    finest = min((10.0 ** -len(repr(leaf.value).partition(".")[2].strip("'")) for leaf in held), default=1.0)
    return case.claim.step < 1 and case.claim.step <= finest * 1.01


def _elsewhere(case: Case, linked: list[int]) -> str | None:
    """Say whether another value of the named records agrees: money with money, a time with a time, else by field."""
    index, claim = case.index, case.claim
    named = [mention for mention in case.mentions if mention.naming][:4]
    bare = claim.kind == "number" and claim.unit != "money"
    if bare and named and named[0] in case.sentence.mentions:
        named = named[:1]
    naming = [record for mention in named for record in mention.records[:_WIDE]]
    for record in naming or [document.root for document in index.documents]:
        for field in index.fields:
            alike = claim.kind != "number" or (claim.unit == "money" and field.money)
            if not (alike or field.number in case.named.scores):
                continue
            for leaf in index.within(field.number, record)[:_WIDE]:
                value = index.leaves[leaf].value
                if comparable(claim, value, field) and agrees(claim, value, field):
                    other = all(index.leaves[leaf].document != index.leaves[held].document for held in linked)
                    near = alike or other or index.leaves[leaf].record == record
                    if near and leaf not in linked:
                        return "another value of the record agrees"
    return None


def _added_up(case: Case) -> str | None:
    """Say whether an amount is the sum of two amounts of records that are named around it: the legs of a trip."""
    index, claim = case.index, case.claim
    if claim.unit != "money":
        return None
    named = [mention for mention in case.mentions if mention.naming][:4]
    for field in (field for field in index.fields if field.money):
        sides = [
            {leaf for r in mention.records[:40] for leaf in index.within(field.number, r)[:40]} for mention in named
        ]
        values = [{v for leaf in side if (v := quantity(index.leaves[leaf].value)) is not None} for side in sides]
        for one, other in combinations(values, 2):
            if any(abs(a + b - claim.number) <= claim.step / 2 for a in one for b in other):
                return "two values of the named records add up to it"
    return None


def told(index: Index, sentence: Sentence, linked: list[int]) -> set[str]:
    """Return the words of a sentence that the names of the linked fields hold."""
    tokens = {token for leaf in linked for token in index.fields[index.leaves[leaf].field].tokens}
    return {word for word in sentence.said if not tokens.isdisjoint(index.heard(word))}


def unsaid(sentence: Sentence, claim: Claim, relates: bool = True) -> str | None:
    """Say whether a claim is asked, denied, supposed, a bound, or a relation between two values."""
    said = sentence.said
    if sentence.text.rstrip().endswith("?"):
        return "it is asked"
    hedges = SUPPOSES if claim.kind != "number" else SUPPOSES - FORECASTS
    if said & DENIES or said & hedges:
        return "it is denied or supposed"
    if said & CHANGES:
        return "it tells of a change"
    close = {w.norm for w in sentence.words if claim.start - 20 <= w.start <= claim.start}
    if close & BLURS:
        return "it is a bound or an estimate"
    beside = sentence.after(claim) if relates else []
    if any(w.norm in RELATES for w in beside):
        return "it relates two values"
    return None


def narrowed(sentence: Sentence, claim: Claim, held: set[str]) -> str | None:
    """Say whether words that are not in `held` make a claim speak of a part, a sum or another time."""
    if claim.kind != "number":
        return None
    if narrowed_to_a_time(sentence):
        return "it is narrowed to a time"
    if _SHARED.search(sentence.text) or _OF_TWO.search(sentence.text, max(0, claim.start - 30), claim.start):
        return "it is told of one of several"
    narrow = [word for word in _clause(sentence, claim) if word in NARROWS and word not in held]
    return f"it is narrowed by {narrow[0]!r}" if narrow else None


def narrowed_to_a_time(sentence: Sentence) -> bool:
    """Say whether a sentence speaks of a stretch of time: `over his last two games`."""
    return bool(_TIMES.search(sentence.text))


def _clause(sentence: Sentence, claim: Claim) -> list[str]:
    cuts = [w for w in sentence.words if w.norm in ("while", "whereas", "but")]
    start = max((w.end for w in cuts if w.end <= claim.start), default=0)
    end = min((w.start for w in cuts if w.start >= claim.end), default=len(sentence.text))
    out = [w for w in sentence.words if start <= w.start < end]
    return [w.norm for w, later in zip(out, [*out[1:], None], strict=True) if later is None or later.norm != "high"]

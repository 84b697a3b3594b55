"""What becomes of one claim: grounded, contradicted or open, at which values, and why."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.doubt import Case, doubt, elsewhere_named, in_sole_field, narrowed, told, unsaid
from toolgrade.gates.utilization.extremes import extreme
from toolgrade.gates.utilization.fields import Named, fields_named
from toolgrade.gates.utilization.ground import agrees, comparable
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import TOTALS
from toolgrade.gates.utilization.link import Mention, Sentence, candidates, in_range_with
from toolgrade.gates.utilization.named_values import name_or_value
from toolgrade.gates.utilization.pairs import compare_pair, pairs
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import name_tokens, names

_FEW = 12
_CLAUSE = re.compile(r"\b(?:while|whereas|but|and|with)\b(?=\s+(?:the\s+)?[A-Z])|;")
_BESIDE = re.compile(r"[\s*_(:–-]*(?:for|at|is|was|costs?|has|had)?[\s(:]*")
_PASSING = re.compile(r"[\s\d–-]*(?:lead|advantage|deficit)\b")
_OF_NUMBER = re.compile(r"\s+(?:of|at|around|near)\b")
_ASIDE = re.compile(
    r"\b(?:for|against|over|than|versus|vs\.?|past|visiting|host)\s+(?:the\s+)?(?:\w+\s+)?$", re.IGNORECASE
)


_ASIDES = frozenset({"for", "against", "over", "than", "versus", "vs", "past", "visiting", "host"})


class Settled(NamedTuple):
    """A claim with its verdict. `leaves` are the values it was compared with, best linked first."""

    sentence: Sentence
    claim: Claim
    verdict: Literal["grounded", "contradicted", "open"]
    how: str
    leaves: tuple[int, ...] = ()
    paired: bool = False

    @property
    def at(self) -> int:
        """Where the sentence begins in the message."""
        return self.sentence.start


class Around(NamedTuple):
    """What is said around a sentence: records named in the lines that hold it and in the sentence before.

    `heading` are the words of the line above the list that it is a line of.
    """

    lines: list[Mention]
    before: list[Mention]
    heading: tuple[str, ...] = ()


def settle_all(index: Index, sentence: Sentence, around: Around) -> list[Settled]:
    """Return what the payloads say of every claim of a sentence."""
    out: list[Settled] = []
    twos = pairs(sentence.text, sentence.claims)
    done = {id(claim) for pair in twos for claim in pair[:2]}
    for pair in twos:
        for claim, agrees_, leaves, how in compare_pair(index, sentence, pair):
            out.append(_of_pair(sentence, claim, agrees_, leaves, how))
    for claim in sentence.claims:
        if id(claim) not in done and (not claim.weak or _counts(index, sentence, claim)):
            item = settle(index, sentence, claim, around)
            if item is not None:
                out.append(item)
    return _ranges_whole(sorted(out, key=lambda item: item.claim.start))


def _ranges_whole(items: list[Settled]) -> list[Settled]:
    """Return the claims with ranges (`from 2 to 7`) settled as a whole: one end is not right beside an open one."""
    out = list(items)
    for at, item in enumerate(items[1:], 1):
        if in_range_with(item.sentence, item.claim) is not items[at - 1].claim or item.paired:
            continue
        ends = (items[at - 1], item)
        if {end.verdict for end in ends} == {"grounded", "open"} and any(e.how.startswith("derived") for e in ends):
            for place, end in zip((at - 1, at), ends, strict=True):
                if end.verdict == "grounded":
                    out[place] = end._replace(verdict="open", how="the other end of the range is open")
    return out


def _of_pair(sentence: Sentence, claim: Claim, agrees_: bool | None, leaves: tuple[int, ...], how: str) -> Settled:
    if agrees_:
        return Settled(sentence, claim, "grounded", how, leaves, paired=True)
    why = None if agrees_ is False else how
    if _PASSING.match(sentence.text, claim.end):
        why = "it may tell a passing score"
    why = why or unsaid(sentence, claim, relates=False) or narrowed(sentence, claim, {"half", "quarter"})
    return Settled(sentence, claim, "open" if why else "contradicted", why or how, leaves, paired=True)


def settle(index: Index, sentence: Sentence, claim: Claim, around: Around) -> Settled | None:
    """Return what the payloads say of one claim; None where a weak claim turns out to be none."""
    if claim.kind in ("identifier", "day"):
        found = name_or_value(index, sentence, claim, around.heading)
        if found is not None:
            verdict, how, leaves = found
            return Settled(sentence, claim, verdict, how, leaves) if verdict else None
    named = fields_named(index, sentence, claim)
    if claim.weak and (named.word is None or _OF_NUMBER.match(sentence.text, named.word.end)):
        return None
    if not named.scores and not claim.weak and claim.unit in ("", "percent"):
        sole = index.sole(index.documents[-1])
        named = Named({} if sole is None else {sole: 0.0}, None, ())
    if not named.scores:
        return None if claim.weak else Settled(sentence, claim, "open", "names no field")
    case = Case(index, sentence, claim, named)
    for case.level, case.mentions in enumerate(_levels(sentence, claim, around)):
        if case.mentions or case.level == 3:
            linked = _linked(case)
            if claim.weak and not _countable(index, linked):
                return None
            if linked:
                return _compare(case, linked) if not _two_meant(case, linked) else _either(case, linked)
    return None if claim.weak else Settled(sentence, claim, "open", "no value under the named field")


def _counts(index: Index, sentence: Sentence, claim: Claim) -> bool:
    """Say whether the word right after an article names a field: only then can it tell one."""
    at = sentence.word_at(claim.end)
    word = sentence.words[at] if at < len(sentence.words) else None
    return word is not None and word.start - claim.end <= 1 and bool(index.named_by(word.norm))


def _levels(sentence: Sentence, claim: Claim, around: Around) -> tuple[list[Mention], ...]:
    """Return the records to look in, nearest first: of the sentence, of its list, of the sentence before, any."""
    own = ordered(sentence, claim)
    return (_once([*own, *around.lines]) if around.lines else own, [], around.before, [])


def ordered(sentence: Sentence, claim: Claim) -> list[Mention]:
    """Return the mentions of a sentence as they bear on a claim: those before it, nearest first, else those after."""
    before = [m for m in reversed(sentence.mentions) if m.end <= claim.start]
    found = before or [m for m in sentence.mentions if m.start >= claim.end]
    if len(found) < 2:
        return found
    aside = [m for m in found if _is_aside(sentence, m)]
    return _once([m for m in found if m not in aside] + aside)


def _is_aside(sentence: Sentence, mention: Mention) -> bool:
    """Say whether a record is named beside the subject: `against the Hawks`."""
    at = sentence.word_at(mention.start)
    lead = sentence.words[max(0, at - 3) : at]
    return not _ASIDES.isdisjoint([word.norm for word in lead]) and bool(
        _ASIDE.search(sentence.text, lead[0].start, mention.start)
    )


def _once(found: list[Mention]) -> list[Mention]:
    """Return the mentions without repeated labels; those that tell records apart come before categories."""
    unique: dict[tuple[str, ...], Mention] = {}
    for mention in found:
        unique.setdefault(mention.label, mention)
    kept = unique.values()
    return [m for m in kept if m.naming] + [m for m in kept if not m.naming]


def _linked(case: Case) -> list[int]:
    index, claim = case.index, case.claim
    if case.level == 3:
        return _anywhere(index, claim, case.named.scores)
    found = [
        item
        for item in candidates(index, case.named.scores, case.mentions)
        if comparable(claim, index.leaves[item[2]].value, index.fields[index.leaves[item[2]].field])
    ]
    own = {r for m in case.sentence.mentions if m.naming and m in case.mentions for r in m.records}
    if own:
        found = [item for item in found if own.intersection(index.chain(index.leaves[item[2]].record))]
    if not found:
        return []
    best = max((entity, field) for entity, field, _ in found)
    return sorted(leaf for entity, field, leaf in found if entity >= best[0] - 1e-6 and field >= best[1] - 1e-6)


def _anywhere(index: Index, claim: Claim, fields: dict[int, float]) -> list[int]:
    """Return the values of the best named field in the latest payload that has it."""
    for document in reversed(index.documents):
        best: list[int] = []
        top = float("-inf")
        for field, score in fields.items():
            if score < top:
                continue
            leaves = [
                leaf
                for leaf in index.within(field, document.root)
                if comparable(claim, index.leaves[leaf].value, index.fields[field])
            ]
            if leaves and score > top:
                best, top = leaves, score
            elif leaves:
                best = best + leaves
        if best:
            return best
    return []


def _compare(case: Case, linked: list[int]) -> Settled:
    index, sentence, claim = case.index, case.sentence, case.claim
    hits = [leaf for leaf in linked if _agrees(index, claim, leaf)]
    if len(hits) == 1 and claim.unit == "percent" and len({index.leaves[leaf].record for leaf in linked}) == 1:
        return Settled(sentence, claim, "grounded", "linked", tuple(hits))
    if hits and len(hits) < len(linked):
        last = max(index.leaves[leaf].document for leaf in linked)
        recent = [leaf for leaf in linked if index.leaves[leaf].document == last]
        if all(leaf in hits for leaf in recent):
            return Settled(sentence, claim, "grounded", "linked", tuple(recent))
        if _one_of_a_group(case, linked):
            return Settled(sentence, claim, "grounded", "linked", tuple(hits[:_FEW]))
        best = extreme(index, sentence, claim, linked)
        if best is not None:
            return Settled(sentence, claim, "grounded", best[1], (best[0],))
        return Settled(sentence, claim, "open", "several values are linked", tuple((hits + linked)[:_FEW]))
    if hits:
        said = told(index, sentence, linked) | (TOTALS if len(linked) == 1 else frozenset())
        narrow = narrowed(sentence, claim, said) or _unnamed(case, linked)
        return Settled(sentence, claim, "open" if narrow else "grounded", narrow or "linked", tuple(hits[:_FEW]))
    why = doubt(case, linked)
    return Settled(sentence, claim, "open" if why else "contradicted", why or "linked", tuple(linked[:_FEW]))


def _one_of_a_group(case: Case, linked: list[int]) -> bool:
    """Say whether the linked values are a group of amounts that is named as such: one of the `prices`."""
    index, word = case.index, case.named.word
    paths = {index.fields[index.leaves[leaf].field].path for leaf in linked}
    groups = {path[:-1] for path in paths}
    if word is None or case.claim.unit != "money" or case.level == 3 or len(groups) != 1 or len(paths) < 2:
        return False
    group = groups.pop()
    return bool(group) and any(names(word.norm, token) >= 0.9 for token in name_tokens(group[-1]))


def _two_meant(case: Case, linked: list[int]) -> bool:
    """Say whether the subject of the clause and the record named nearest to the claim give different answers."""
    subject = _subject(case.sentence, case.claim)
    if case.level or subject is None or subject is case.mentions[0]:
        return False
    if _BESIDE.fullmatch(case.sentence.text, case.mentions[0].end, case.claim.start):
        return False
    alone = Case(case.index, case.sentence, case.claim, case.named)
    alone.level, alone.mentions = 0, [subject]
    other = _linked(alone)
    return bool(other) and _any_agree(case, other) != _any_agree(case, linked)


def _any_agree(case: Case, leaves: list[int]) -> bool:
    return any(_agrees(case.index, case.claim, leaf) for leaf in leaves)


def _either(case: Case, linked: list[int]) -> Settled:
    return Settled(case.sentence, case.claim, "open", "it may be told of two records", tuple(linked[:_FEW]))


def _subject(sentence: Sentence, claim: Claim) -> Mention | None:
    """Return the first record that the clause of a claim names before it."""
    clause = max((m.end() for m in _CLAUSE.finditer(sentence.text, 0, claim.start)), default=0)
    return next((m for m in sentence.mentions if clause <= m.start and m.end <= claim.start and m.naming), None)


def _countable(index: Index, leaves: list[int]) -> bool:
    """Say whether values are whole numbers: only such are told by an article (`a steal`)."""
    values = [quantity(index.leaves[leaf].value) for leaf in leaves]
    return all(value is not None and value.is_integer() for value in values)


def _unnamed(case: Case, linked: list[int]) -> str | None:
    """Say whether a number is linked too loosely to be grounded: by words further off, or by another sentence."""
    if case.claim.kind != "number":
        return None
    if not case.claim.unit and case.named.word is None and not in_sole_field(case, linked):
        return "no field is named beside it"
    return elsewhere_named(case)


def _agrees(index: Index, claim: Claim, leaf: int) -> bool:
    held = index.leaves[leaf]
    field = index.fields[held.field]
    if agrees(claim, held.value, field):
        return True
    whole = isinstance(held.value, int) and not isinstance(held.value, bool)
    return claim.unit == "money" and whole and index.has_currency(field) and agrees(claim, held.value / 100, field)

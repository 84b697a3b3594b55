"""What becomes of one claim: grounded, contradicted or open, at which values, and why."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.ground import agrees, comparable
from toolgrade.gates.utilization.leaves import Index
from toolgrade.gates.utilization.lexicon import BLURS, DENIES, NARROWS, RELATES, SUPPOSES
from toolgrade.gates.utilization.link import Mention, Sentence, after, candidates, fields_named
from toolgrade.gates.utilization.pairs import compare_pair, pairs

_FEW = 12
_ASIDE = re.compile(
    r"\b(?:for|against|over|than|versus|vs\.?|past|visiting|host)\s+(?:the\s+)?(?:\w+\s+)?$", re.IGNORECASE
)
_TIMES = re.compile(
    r"\b(?:last|past|previous|next|over)\s+(?:\w+\s+)?(?:games?|contests?|outings?|days?|weeks?|months?|years?)\b"
)
_PRONOUN = re.compile(r"\W*(?:he|she|it|they)\b", re.IGNORECASE)


class Settled(NamedTuple):
    """A claim with its verdict. `leaves` are the values it was compared with, best linked first."""

    sentence: Sentence
    claim: Claim
    verdict: Literal["grounded", "contradicted", "open"]
    how: str
    leaves: tuple[int, ...] = ()

    @property
    def at(self) -> int:
        """Where the sentence begins in the message."""
        return self.sentence.start


class Around(NamedTuple):
    """Records named around a sentence: in the lines that hold it, and in the sentence before."""

    lines: list[Mention]
    before: list[Mention]


def settle_all(index: Index, sentence: Sentence, around: Around) -> list[Settled]:
    """Return what the payloads say of every claim of a sentence."""
    out: list[Settled] = []
    told = pairs(sentence.text, sentence.claims)
    done = {id(claim) for pair in told for claim in pair[:2]}
    for pair in told:
        for claim, agrees_, leaves, how in compare_pair(index, sentence, pair):
            out.append(_of_pair(sentence, claim, agrees_, leaves, how))
    for claim in sentence.claims:
        if id(claim) not in done:
            item = settle(index, sentence, claim, around)
            if item is not None:
                out.append(item)
    return sorted(out, key=lambda item: item.claim.start)


def _of_pair(sentence: Sentence, claim: Claim, agrees_: bool | None, leaves: tuple[int, ...], how: str) -> Settled:
    if agrees_:
        return Settled(sentence, claim, "grounded", how, leaves)
    why = None if agrees_ is False else how
    why = why or _unsaid(sentence, claim, relates=False) or _narrowed(sentence, claim, {"half", "quarter"})
    return Settled(sentence, claim, "open" if why else "contradicted", why or how, leaves)


def settle(index: Index, sentence: Sentence, claim: Claim, around: Around) -> Settled | None:
    """Return what the payloads say of one claim; None where a weak claim turns out to be none."""
    if claim.kind == "identifier":
        return _identifier(index, sentence, claim)
    if claim.kind == "day" and any(m.start == claim.start for m in sentence.mentions):
        found = _day_mention(index, sentence, claim)
        if found:
            return found
    fields, direct = fields_named(index, sentence, claim)
    if claim.weak and not direct:
        return None
    if not fields:
        return None if claim.weak else Settled(sentence, claim, "open", "names no field")
    for level, named in enumerate((ordered(sentence, claim), around.lines, around.before, None)):
        if named is not None and not named:
            continue
        linked = _linked(index, claim, fields, named)
        if linked:
            return _compare(index, sentence, claim, linked, direct, level)
    return None if claim.weak else Settled(sentence, claim, "open", "no value under the named field")


def ordered(sentence: Sentence, claim: Claim) -> list[Mention]:
    """Return the mentions of a sentence as they bear on a claim: those before it, nearest first, else those after."""
    before = [m for m in reversed(sentence.mentions) if m.end <= claim.start]
    found = before or [m for m in sentence.mentions if m.start >= claim.end]
    aside = [m for m in found if _ASIDE.search(sentence.text, 0, m.start)]
    seen: set[tuple[str, ...]] = set()
    out = []
    for mention in [m for m in found if m not in aside] + aside:
        if mention.label not in seen:
            seen.add(mention.label)
            out.append(mention)
    return out


def _linked(index: Index, claim: Claim, fields: dict[int, float], named: list[Mention] | None) -> list[int]:
    if named is None:
        return _anywhere(index, claim, fields)
    found = [
        item
        for item in candidates(index, fields, named)
        if comparable(claim, index.leaves[item[2]].value, index.fields[index.leaves[item[2]].field])
    ]
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


def _compare(index: Index, sentence: Sentence, claim: Claim, linked: list[int], direct: bool, level: int) -> Settled:
    hits = [leaf for leaf in linked if _agrees(index, claim, leaf)]
    if len(hits) == 1 and claim.unit == "percent" and len({index.leaves[leaf].record for leaf in linked}) == 1:
        return Settled(sentence, claim, "grounded", "linked", tuple(hits))
    if hits and len(hits) < len(linked):
        last = max(index.leaves[leaf].document for leaf in linked)
        recent = [leaf for leaf in linked if index.leaves[leaf].document == last]
        if all(leaf in hits for leaf in recent):
            return Settled(sentence, claim, "grounded", "linked", tuple(recent))
        return Settled(sentence, claim, "open", "several values are linked", tuple((hits + linked)[:_FEW]))
    if hits:
        narrow = _narrowed(sentence, claim, _told(index, sentence, linked))
        return Settled(sentence, claim, "open" if narrow else "grounded", narrow or "linked", tuple(hits[:_FEW]))
    why = _doubt(index, sentence, claim, linked, direct, level)
    if claim.weak and why:
        return Settled(sentence, claim, "open", why, tuple(linked[:_FEW]))
    return Settled(sentence, claim, "open" if why else "contradicted", why or "linked", tuple(linked[:_FEW]))


def _agrees(index: Index, claim: Claim, leaf: int) -> bool:
    held = index.leaves[leaf]
    return agrees(claim, held.value, index.fields[held.field])


def _doubt(index: Index, sentence: Sentence, claim: Claim, linked: list[int], direct: bool, level: int) -> str | None:
    """Return why a claim that differs from the linked values may still be right, None where nothing speaks for it."""
    if not direct:
        return "no field is named beside it"
    if claim.weak and level:
        return "the record is named elsewhere"
    held = [index.leaves[leaf] for leaf in linked]
    if len({str(leaf.value) for leaf in held}) > 1 and len({leaf.record for leaf in held}) > 1:
        return "several values are linked"
    if level == 2 and (sentence.mentions or not _PRONOUN.match(sentence.text)):
        return "the record is named in another sentence"
    why = _unsaid(sentence, claim)
    if why:
        return why
    return _narrowed(sentence, claim, _told(index, sentence, linked))


def _told(index: Index, sentence: Sentence, linked: list[int]) -> set[str]:
    """Return the words of a sentence that the names of the linked fields hold."""
    tokens = {token for leaf in linked for token in index.fields[index.leaves[leaf].field].tokens}
    return {w.norm for w in sentence.words if any(index.weight(w.norm, token) for token in tokens)}


def _unsaid(sentence: Sentence, claim: Claim, relates: bool = True) -> str | None:
    told = {word.norm for word in sentence.words}
    if sentence.text.rstrip().endswith("?"):
        return "it is asked"
    if told & DENIES or told & SUPPOSES:
        return "it is denied or supposed"
    close = {w.norm for w in sentence.words if claim.start - 20 <= w.start <= claim.start}
    if close & BLURS:
        return "it is a bound or an estimate"
    beside = after(sentence, claim) if relates else []
    if any(w.norm in RELATES for w in beside):
        return "it relates two values"
    return None


def _narrowed(sentence: Sentence, claim: Claim, held: set[str]) -> str | None:
    if _TIMES.search(sentence.text):
        return "it is narrowed to a time"
    narrow = [word for word in _clause(sentence, claim) if word in NARROWS and word not in held]
    return f"it is narrowed by {narrow[0]!r}" if narrow else None


def _clause(sentence: Sentence, claim: Claim) -> list[str]:
    cuts = [w for w in sentence.words if w.norm in ("while", "whereas", "but")]
    start = max((w.end for w in cuts if w.end <= claim.start), default=0)
    end = min((w.start for w in cuts if w.start >= claim.end), default=len(sentence.text))
    out = [w for w in sentence.words if start <= w.start < end]
    return [w.norm for w, after in zip(out, [*out[1:], None], strict=True) if after is None or after.norm != "high"]


def _identifier(index: Index, sentence: Sentence, claim: Claim) -> Settled:
    held = next((m for m in sentence.mentions if m.start <= claim.end and claim.start <= m.end), None)
    if held is None:
        return Settled(sentence, claim, "open", "occurs in no payload")
    leaves = [
        leaf
        for record in held.records[:_FEW]
        for leaf in range(
            index.records[record].first, min(index.records[record].last, index.records[record].first + 200)
        )
        if isinstance(index.leaves[leaf].value, str | int) and agrees(claim, index.leaves[leaf].value, index.fields[0])
    ]
    return Settled(sentence, claim, "grounded", "literal", tuple(leaves[:_FEW]))


def _day_mention(index: Index, sentence: Sentence, claim: Claim) -> Settled | None:
    leaves = []
    for day in (claim.value, claim.other):
        if isinstance(day, tuple):
            leaves += [leaf for other, _, leaf in index.days.get((day.month, day.day), ()) if other.agrees(day)]
    return Settled(sentence, claim, "grounded", "normalised", tuple(leaves[:_FEW])) if leaves else None

"""Values in words: `Cabin: Economy`, `Your membership is gold`, grounded at the field and record that are named."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION
from toolgrade.gates.utilization.link import Mention, Sentence, candidates
from toolgrade.gates.utilization.settle import Around, Settled
from toolgrade.gates.utilization.words import Word, name_tokens, names, spelling

_LINE = re.compile(
    r"[\s*_`]*(?P<name>[^\W\d][^:*\n]{0,40}?)[\s*_`]*:[\s*_`]*(?P<value>[^\s*_`:][^:\n]{0,80}?)[\s*_`.]*"
)
_LONG = 8


def told_values(index: Index, sentence: Sentence, around: Around, settled: Sequence[Settled]) -> list[Settled]:
    """Return the value of a `name: value` line as a claim, grounded where a value of that field is it.

    A value in words that differs stays open: such lines often say what is planned or asked for.
    """
    line = _LINE.fullmatch(sentence.text) if ":" in sentence.text else None
    if line is None or any(item.claim.start >= line.start("value") for item in settled):
        return []
    name = [w for w in sentence.words if w.end <= line.end("name") and w.norm not in FUNCTION]
    value = [w for w in sentence.words if w.start >= line.start("value")]
    if not name or not 0 < len(value) <= _LONG:
        return []
    claim = Claim("text", line["value"], line.start("value"), line.end("value"), line["value"].casefold())
    named = [*(m for m in sentence.mentions if m.end <= claim.start), *around.lines, *around.before]
    leaves = _linked(index, name, named)
    hits = [leaf for leaf in leaves if _is(index, leaf, value)]
    if not hits:
        hits = _record_called(index, name, value, sentence.mentions)
    if hits:
        return [Settled(sentence, claim, "grounded", "linked", tuple(hits[:12]))]
    return [Settled(sentence, claim, "open", "no value is told so", tuple(leaves[:12]))]


def _linked(index: Index, name: list[Word], named: list[Mention]) -> list[int]:
    """Return the texts under the fields that the line names, in the records named around it, else anywhere."""
    fields: dict[int, float] = {}
    for word in name:
        for field, weight in index.named_by(word.norm).items():
            fields[field] = fields.get(field, 0.0) + weight
    if not fields:
        return []
    found = [item for item in candidates(index, fields, [m for m in named if m.naming]) if _text(index, item[2])]
    if found:
        best = max(entity for entity, _, _ in found)
        return [leaf for entity, _, leaf in found if entity >= best - 1e-6]
    texts = {}
    for document in reversed(index.documents[-3:]):
        texts = {leaf: None for field in fields for leaf in index.within(field, document.root) if _text(index, leaf)}
        if texts:
            break
    alike = {str(index.leaves[leaf].value).casefold() for leaf in texts}
    return list(texts) if len(alike) == 1 else []


def _text(index: Index, leaf: int) -> bool:
    value = index.leaves[leaf].value
    return isinstance(value, str) and 0 < len(value) <= 80


def _is(index: Index, leaf: int, value: list[Word]) -> bool:
    """Say whether a value in words is the payload's, alone or beside an explanation: `Boston (BOS)`."""
    held = spelling(str(index.leaves[leaf].value))
    told = tuple(word.norm for word in value)
    if told == held:
        return True
    code = len(held) == 1 and str(index.leaves[leaf].value).isupper()
    return code and held[0] in told


def _record_called(index: Index, name: list[Word], value: list[Word], mentions: Sequence[Mention]) -> list[int]:
    """Return the values of a record of the named kind whose labels make up the value: `Passenger: Mia Li`."""
    told = {word.norm for word in value}
    for mention in mentions:
        for number in mention.records[:50]:
            shape = {token for part in index.records[number].shape[-2:] for token in name_tokens(part)}
            if not any(names(word.norm, token) >= 0.9 for word in name for token in shape):
                continue
            labels = {part for label in index.names_of(number) for part in label}
            if told <= labels:
                record = index.records[number]
                return [leaf for leaf in range(record.first, min(record.last, record.first + 20)) if _text(index, leaf)]
    return []

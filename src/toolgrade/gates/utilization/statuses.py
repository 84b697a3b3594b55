"""Statements of how a thing stands: `has been refunded`, `is available`, against booleans and statuses."""

from __future__ import annotations

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import AUXILIARIES, DENIES, FUNCTION, STATUSES, SUPPOSES
from toolgrade.gates.utilization.link import Sentence, candidates
from toolgrade.gates.utilization.settle import Around, Settled, ordered
from toolgrade.gates.utilization.words import Word, names, stem

_STEMS = {(word[:2], stem(word)) for word in STATUSES}
_HEDGES = SUPPOSES | {
    "to",
    "when",
    "once",
    "until",
    "after",
    "before",
    "be",
    "eligible",
    "unable",
    "try",
    "tried",
    "trying",
}


def statuses(index: Index, sentence: Sentence, around: Around) -> list[Settled]:
    """Return the statements about booleans and statuses in one sentence, compared with the payloads."""
    if not index.booleans and not index.status_fields:
        return []
    if sentence.text.rstrip().endswith("?"):
        return []
    flags: dict[str, list[int]] = {}
    for number in index.booleans:
        if index.fields[number].tokens:
            flags.setdefault(index.fields[number].tokens[-1], []).append(number)
    out = []
    for at, word in enumerate(sentence.words):
        if word.norm in FUNCTION:
            continue
        named = [*flags.get(word.norm, ()), *_stemmed(flags, word.norm)] if flags else []
        told = bool(index.status_fields) and (_is_status(word.norm) or word.norm in index.status_values)
        if (named or told) and (word.norm in STATUSES or not sentence.is_name(word)):
            item = _status(index, sentence, at, around, (sorted(named), index.status_fields if told else []))
            if item is not None:
                out.append(item)
    return out


def _stemmed(flags: dict[str, list[int]], word: str) -> list[int]:
    root = stem(word)
    return flags.get(root, []) if root != word else []


def _status(
    index: Index, sentence: Sentence, at: int, around: Around, fields: tuple[list[int], list[int]]
) -> Settled | None:
    """Return what the payloads say of the status told by a word: of flags that it names, then of `status` fields."""
    stated = _stated(sentence, at)
    if stated is None:
        return None
    word = sentence.words[at]
    for group in fields:
        leaves = _linked(index, sentence, word, group, around)
        if leaves:
            item = _compare(index, sentence, word, stated, leaves)
            if item.verdict != "contradicted" or group is fields[0] or _spoken_of(index, sentence, at, leaves):
                return item
    return None


def _spoken_of(index: Index, sentence: Sentence, at: int, leaves: list[int]) -> bool:
    """Say whether a word before the status names the record that has it: `your order`, a code, a name."""
    about = {
        part for leaf in leaves for number in index.chain(index.leaves[leaf].record) for part in index.about(number)
    }
    return any(
        names(word.norm, part) >= 0.9 for word in sentence.words[:at] if word.norm not in FUNCTION for part in about
    )


def _is_status(word: str) -> bool:
    """Say whether a word is a status in either spelling (`cancelled`, `canceled`), not another form of one."""
    return word in STATUSES or (word.endswith("ed") and (word[:2], stem(word)) in _STEMS)


def _stated(sentence: Sentence, at: int) -> bool | None:
    """Return whether the word at `at` is stated (True) or denied (False); None where it is neither."""
    lead = [word.norm for word in sentence.words[max(0, at - 6) : at]]
    if set(lead) & _HEDGES:
        return None
    if not lead or lead[-1] not in AUXILIARIES:
        gap = sentence.text[sentence.words[at - 1].end : sentence.words[at].start] if at else ""
        if ":" not in gap:
            return None
    denied = bool(set(lead[-4:]) & DENIES) or any(word.endswith(("n't", "n’t")) for word in lead[-4:])
    return not denied


def _linked(index: Index, sentence: Sentence, word: Word, fields: list[int], around: Around) -> list[int]:
    """Return the values of the named record, else the only value there is; from the latest payload alone."""
    if not fields:
        return []
    last = len(index.documents) - 1
    point = Claim("number", word.text, word.start, word.end, 0.0)
    for named in (ordered(sentence, point), around.lines, around.before):
        named = [m for m in named if not (m.start <= word.start < m.end)]
        found = candidates(index, dict.fromkeys(fields, 0.0), named) if named else []
        if found:
            best = max(entity for entity, _, _ in found)
            return [leaf for entity, _, leaf in found if entity >= best - 1e-6 and index.leaves[leaf].document == last]
    root = index.documents[last].root
    leaves = [leaf for field in fields for leaf in index.within(field, root)]
    return leaves if len(leaves) == 1 else []


def _compare(index: Index, sentence: Sentence, word: Word, stated: bool, leaves: list[int]) -> Settled:
    claim = Claim("status", word.text, word.start, word.end, word.norm)
    agree = [_agrees(index.leaves[leaf].value, word.norm, stated) for leaf in leaves]
    shown = tuple(leaves[:12])
    if all(a is True for a in agree):
        return Settled(sentence, claim, "grounded", "linked", shown)
    if all(a is False for a in agree):
        return Settled(sentence, claim, "contradicted", "linked", shown)
    return Settled(sentence, claim, "open", "several values are linked", shown)


def _agrees(value: object, word: str, stated: bool) -> bool | None:
    """Say whether a statement fits a value; None where the value is no known status."""
    if isinstance(value, bool):
        return value == stated
    if not isinstance(value, str):
        return None
    parts = value.casefold().replace("_", " ").replace("-", " ").split()
    same = len(parts) == 1 and stem(parts[0]) == stem(word)
    if same:
        return stated
    if len(parts) != 1 or not _is_status(parts[0]):
        return None
    return False if stated else None

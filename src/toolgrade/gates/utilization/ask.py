"""The question that a turn leaves open: its unsettled claims and sentences, and the values nearest to them."""

from __future__ import annotations

from typing import Any

from toolgrade.core.finding import Finding, Place
from toolgrade.core.verdict import Question
from toolgrade.core.view import Said
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.lexicon import FUNCTION
from toolgrade.gates.utilization.link import Sentence, candidates
from toolgrade.gates.utilization.read import Reading
from toolgrade.gates.utilization.settle import Settled

_NEAREST = 3
_SHOWN = 30
_LONG = 300


def question(index: Index, said: Said, reading: Reading, weight: float) -> Question | None:
    """Return the one question of a turn for `result_utilization`, None where nothing is unsettled."""
    # The index holds what came later as well; a judge of this turn must not see it.
    known = sum((document.call.result_message or 0) < said.message for document in index.documents)
    entries: list[dict[str, Any]] = []
    shown: dict[int, None] = {}
    told = set()
    for item in reading.claims:
        if item.verdict == "open":
            near = list(item.leaves[:_NEAREST]) or _near(index, item.sentence, known)
            entries.append(_entry(index, item.sentence, _told(item), near))
            shown.update(dict.fromkeys(near))
            told.add(item.sentence.start)
    for sentence in reading.prose:
        if sentence.start not in told:
            near = _near(index, sentence, known)
            entries.append(_entry(index, sentence, None, near))
            shown.update(dict.fromkeys(near))
    if not entries:
        return None
    place = Place(step=said.step, turn=said.turn)
    sentences = list(dict.fromkeys(entry["sentence"] for entry in entries))
    finding = Finding(name="ungrounded_claim", place=place, actual=sentences[0], note=_more(sentences))
    fields = {"payloads": _cuts(index, list(shown), known), "claims": entries}
    return Question(dimension="result_utilization", place=place, fields=fields, on_fail=(finding,), weight=weight)


def _told(item: Settled) -> str:
    """Return a claim as it was written; an article, read as one, with the noun that it counts (`a reservation`)."""
    counted = item.sentence.after(item.claim)[:1] if item.claim.weak else []
    return item.sentence.text[item.claim.start : counted[0].end] if counted else item.claim.text


def _more(sentences: list[str]) -> str | None:
    return f"and {len(sentences) - 1} more sentences of this turn" if len(sentences) > 1 else None


def _entry(index: Index, sentence: Sentence, claim: str | None, near: list[int]) -> dict[str, Any]:
    nearest = [{"pointer": index.leaves[leaf].pointer, "value": _short(index.leaves[leaf].value)} for leaf in near]
    return {"sentence": sentence.text.strip(), "claim": claim, "nearest": nearest}


def _short(value: Any) -> Any:
    return f"{value[:_LONG]} …" if isinstance(value, str) and len(value) > _LONG else value


def _near(index: Index, sentence: Sentence, known: int) -> list[int]:
    """Return the values whose fields and records a sentence names best, the latest payload first among equals.

    Only the first `known` payloads count.
    """
    fields: dict[int, float] = {}
    for word in sentence.words:
        if word.norm not in FUNCTION and (named := index.named_by(word.norm)):
            for field, weight in named.items():
                fields[field] = fields.get(field, 0.0) + weight
    if not fields:
        return []
    found = [
        (-entity - fits, -leaf)
        for entity, fits, leaf in (candidates(index, fields, sentence.mentions) if sentence.mentions else ())
        if index.leaves[leaf].document < known
    ]
    return [-leaf for _, leaf in sorted(found)[:_NEAREST]] or _latest(index, fields, known)


def _latest(index: Index, fields: dict[int, float], known: int) -> list[int]:
    """Return the values of the best named fields in the latest of the first `known` payloads, the last ones first."""
    root = index.documents[known - 1].root
    out: list[int] = []
    for best in sorted(set(fields.values()), reverse=True):
        named = [field for field, weight in fields.items() if weight == best]
        out += sorted((leaf for f in named for leaf in index.within(f, root)[:_SHOWN]), reverse=True)
        if len(out) >= _NEAREST:
            break
    return out[:_NEAREST]


def _cuts(index: Index, leaves: list[int], known: int) -> list[dict[str, Any]]:
    """Return, by payload, the records that hold the nearest values; of the latest payload alone where none are."""
    wanted: dict[int, dict[int, None]] = {}
    for leaf in leaves:
        held = index.leaves[leaf]
        record = index.records[held.record]
        beside = range(record.first, min(record.last, record.first + _SHOWN))
        wanted.setdefault(held.document, {}).update(dict.fromkeys([leaf, *beside]))
    if not wanted:
        last = known - 1
        root = index.records[index.documents[last].root]
        wanted[last] = dict.fromkeys(range(root.first, min(root.last, root.first + _SHOWN)))
    out = []
    for document in sorted(wanted):
        call = index.documents[document].call
        values = {
            held.pointer: _short(held.value) if isinstance(held.value, str) else held.value
            for held in [index.leaves[leaf] for leaf in sorted(wanted[document])[: _SHOWN * 2]]
        }
        out.append({"call": call.number, "tool": call.name, "values": values})
    return out

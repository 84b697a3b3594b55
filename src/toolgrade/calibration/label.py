"""What people said of items: append-only labels, and the one label that they resolve to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from toolgrade.core.model import Frozen

LabelWord = Literal["pass", "fail", "unknown", "na"]
Role = Literal["expert", "skilled", "crowd", "adjudicator", "derived"]
How = Literal["adjudicator", "unanimous", "majority", "single", "unresolved"]


class Label(Frozen):
    """One annotator's label of one item; never edited. A correction is a new label that `supersedes` the old.

    `critique` says why, required for fail and unknown (labels imported from elsewhere may lack it).
    A label made while seeing the judge's verdict stays out of agreement. `blind_repeat_of` names the label
    that the same annotator repeats blindly. Role `derived` marks labels that a rule made, not a person.
    `level` is where it lies on the levels of an ordinal dimension.
    `inclusion_prob` is the chance with which `labels export` picked the item; it multiplies the item's own.
    """

    label_id: str = Field(min_length=1)
    item_id: str = Field(min_length=1)
    content_hash: str
    dimension: str
    rubric_version: str = Field(pattern=r"^[0-9]+\.[0-9]+$")
    annotator_id: str = Field(min_length=1)
    annotator_role: Role
    label: LabelWord
    level: str | None = None
    critique: str = ""
    evidence_quotes: tuple[str, ...] = ()
    evidence_locus: str | None = None
    saw_judge_verdict: bool = False
    blind_repeat_of: str | None = None
    supersedes: str | None = None
    inclusion_prob: float | None = Field(default=None, gt=0, le=1)
    confidence: float | None = Field(default=None, ge=0, le=1)
    duration_ms: int | None = None
    ts: str


class Resolved(Frozen):
    """The label that an item counts with, and how it came about; `unresolved` where people did not settle it.

    `level` is settled by the same rules, None where that fails or none was given.
    """

    item_id: str
    label: LabelWord | None
    how: How
    annotators: int
    level: str | None = None


def major(rubric_version: str) -> str:
    """Return the MAJOR part of a rubric version: labels of another one do not count."""
    return rubric_version.partition(".")[0]


def in_force(labels: Iterable[Label], rubric_version: str) -> list[Label]:
    """Return the labels that count: of this MAJOR rubric, not superseded, made without seeing the judge's verdict.

    Blind repeats stay out as well: they measure the annotator, not the item.
    """
    given = list(labels)
    replaced = {label.supersedes for label in given if label.supersedes}
    return [
        label
        for label in given
        if label.label_id not in replaced
        and not label.saw_judge_verdict
        and label.blind_repeat_of is None
        and major(label.rubric_version) == major(rubric_version)
    ]


def resolve(item_id: str, labels: Sequence[Label], single: Sequence[Role] = ("expert",)) -> Resolved:
    """Return the label of one item from the labels in force.

    In this order: the adjudicator's, unanimity of two or more, a strict majority of three or more, a single label
    of a role in `single`. A judge never breaks a tie.
    """
    chosen, how = _settled(labels, [label.label for label in labels], single)
    level, _ = _settled(labels, [label.level for label in labels], single)
    raters = sum(label.annotator_role != "adjudicator" for label in labels)
    return Resolved(
        item_id=item_id,
        label=chosen.label if chosen else None,
        how=how,
        annotators=raters,
        level=level.level if level and chosen and level.label == chosen.label else None,
    )


def _settled(labels: Sequence[Label], words: Sequence[str | None], single: Sequence[Role]) -> tuple[Label | None, How]:
    """Return a label whose word is settled, and how; `words` are what each label says."""
    both = list(zip(labels, words, strict=True))
    raters = [(label, word) for label, word in both if label.annotator_role != "adjudicator"]
    decided = [label for label, _ in both if label.annotator_role == "adjudicator"]
    counts = Counter(word for _, word in raters)
    if decided:
        return decided[-1], "adjudicator"
    if len(raters) >= 2 and len(counts) == 1:
        return raters[0][0], "unanimous"
    if len(raters) >= 3 and counts.most_common(1)[0][1] * 2 > len(raters):
        most = counts.most_common(1)[0][0]
        return next(label for label, word in raters if word == most), "majority"
    if len(raters) == 1 and raters[0][0].annotator_role in single:
        return raters[0][0], "single"
    return None, "unresolved"


def by_item(labels: Iterable[Label]) -> dict[str, list[Label]]:
    """Return the labels grouped by item, in their order."""
    groups: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        groups[label.item_id].append(label)
    return dict(groups)


def repeat_pairs(labels: Iterable[Label]) -> list[tuple[Label, Label]]:
    """Return (original, blind repeat) of the same annotator."""
    given = {label.label_id: label for label in labels}
    return [
        (given[label.blind_repeat_of], label)
        for label in given.values()
        if label.blind_repeat_of in given and given[label.blind_repeat_of].annotator_id == label.annotator_id
    ]

"""What people label: one item, the trace it comes from, and the split that it stays in."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from toolgrade.core.identity import canonical_json, content_hash, text_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError

Split = Literal["fewshot", "dev", "test"]
Design = Literal["random", "verdict_stratified", "label_stratified", "convenience"]
Source = Literal["production", "synthetic", "adversarial", "imported"]

SHARES: tuple[tuple[Split, float], ...] = (("fewshot", 0.15), ("dev", 0.40), ("test", 0.45))
"""Shares of the splits, by a hash of the trace."""


class Item(Frozen):
    """One thing to label.

    `fields` hold exactly what a rater may see, as a question's fields do; None where they may not be shipped:
    then recorded verdicts can be compared, but no judge asked. `content_hash` is of the fields. All items of
    one trace, and all near duplicates, share a split. `inclusion_prob` is the chance that the item was picked
    for labelling, required unless the design is `convenience`.
    """

    item_id: str = Field(min_length=1)
    trace_id: str = Field(min_length=1)
    fields: dict[str, Any] | None = None
    content_hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    near_dup_key: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    source: Source = "imported"
    sampling_design: Design = "convenience"
    inclusion_prob: float | None = Field(default=None, gt=0, le=1)
    strata: dict[str, str] = Field(default_factory=dict)
    split: Split

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sampling_design != "convenience" and self.inclusion_prob is None:
            raise ValueError(
                f"sampling_design {self.sampling_design!r} needs inclusion_prob; expected a number in (0, 1]"
            )
        if self.fields is not None and content_hash(self.fields) != self.content_hash:
            raise ValueError("content_hash is not that of fields: an item's content never changes; add a new item")
        return self


def near_dup_key(fields: Mapping[str, Any]) -> str:
    """Return the hash that items share when they differ only in case, spaces and digits."""
    folded = re.sub(r"\d+", "0", canonical_json(dict(fields)).casefold())
    return text_hash(re.sub(r"(\\[nrt]|\s)+", " ", folded))


def split_of(trace_id: str, salt: str) -> Split:
    """Return the split of a trace: the sha256 of salt and id, as a number in [0, 1), against the shares."""
    point = int.from_bytes(hashlib.sha256(f"{salt}|{trace_id}".encode()).digest(), "big") / 2**256
    for split, share in SHARES:
        if point < share:
            return split
        point -= share
    return "test"


class Draft(Frozen):
    """An item before it has a split."""

    item_id: str = Field(min_length=1)
    trace_id: str = Field(min_length=1)
    fields: dict[str, Any]
    source: Source = "imported"
    sampling_design: Design = "convenience"
    inclusion_prob: float | None = None
    strata: dict[str, str] = Field(default_factory=dict)


def assign_splits(drafts: Iterable[Draft], present: Iterable[Item], salt: str) -> list[Item]:
    """Return items for the drafts: traces and near duplicates, also of `present` items, stay in one split.

    Raises:
        ConfigError: a draft ties together present items of different splits, or repeats an item.
    """
    known = list(present)
    new = list(drafts)
    keys = [near_dup_key(draft.fields) for draft in new]
    groups = _Groups()
    for item in known:
        groups.join(f"trace {item.trace_id}", f"text {item.near_dup_key}")
    for draft, key in zip(new, keys, strict=True):
        groups.join(f"trace {draft.trace_id}", f"text {key}")
    fixed: dict[str, set[Split]] = defaultdict(set)
    for item in known:
        fixed[groups.root(f"trace {item.trace_id}")].add(item.split)
    made = []
    for draft, key in zip(new, keys, strict=True):
        root = groups.root(f"trace {draft.trace_id}")
        splits = fixed.get(root) or {split_of(root.removeprefix("trace "), salt)}
        if len(splits) > 1:
            raise ConfigError(
                f"item {draft.item_id!r}: its trace {draft.trace_id!r} or a near duplicate is already in the splits "
                f"{', '.join(sorted(splits))}; expected one. Leave this item out: it would leak between splits"
            )
        made.append(
            Item(
                **draft.model_dump(),
                content_hash=content_hash(draft.fields),
                near_dup_key=key,
                split=next(iter(splits)),
            )
        )
    return made


class _Groups:
    """Disjoint sets by union and find; the root of a group is its smallest trace, so that order does not matter."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def root(self, name: str) -> str:
        parent = self._parent.setdefault(name, name)
        while parent != self._parent[parent]:
            parent = self._parent[parent]
        return parent

    def join(self, one: str, two: str) -> None:
        roots = sorted((self.root(one), self.root(two)), key=lambda name: (not name.startswith("trace "), name))
        self._parent[roots[1]] = roots[0]

"""A label set: a card, its items and their labels, as one folder `<dimension>/<set>/`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import Field, ValidationError, model_validator

from toolgrade.calibration.item import Design, Draft, Item, Split, assign_splits
from toolgrade.calibration.jsonl import append_jsonl, read_jsonl
from toolgrade.calibration.label import Label, Resolved, Role, by_item, in_force, major, resolve
from toolgrade.calibration.scale import Scale
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, UnreadableError, suggestion

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
"""Dimensions and sets become folders and parts of file names."""
ITEMS, LABELS, CARD = "items.jsonl", "labels.jsonl", "card.toml"


class Card(Frozen):
    """Where a label set comes from and how to read it.

    `labelled_by` says who labelled; `human` is false where a rule derived the labels; `made_up` marks sets that
    exist for tests only. `levels` (worst first) and the one it `passes_from` make a dimension ordinal. `strata` names
    the item strata that are reported apart. `single_roles` are the roles whose lone label counts. `salt` fixes the
    splits.
    """

    dimension: str = Field(pattern=NAME)
    name: str = Field(pattern=NAME)
    title: str
    source: str
    licence: str
    labelled_by: str
    human: bool = True
    made_up: bool = False
    sampling: str
    sampling_design: Design = "convenience"
    rubric_version: str = Field(pattern=r"^[0-9]+\.[0-9]+$")
    levels: tuple[str, ...] | None = None
    passes_from: str | None = None
    strata: tuple[str, ...] = ()
    single_roles: tuple[Role, ...] = ("expert",)
    salt: str = "toolgrade"
    notes: str = ""

    @model_validator(mode="after")
    def _ordinal(self) -> Self:
        _ = self.scale
        return self

    @property
    def scale(self) -> Scale | None:
        """The levels of an ordinal dimension; None of one that knows only pass and fail."""
        if self.levels is None and self.passes_from is None:
            return None
        return Scale.model_validate({"levels": self.levels or (), "passes_from": self.passes_from or ""})


class LabelSet:
    """A card with its items and labels, checked as a whole when it is read."""

    def __init__(self, card: Card, items: Sequence[Item], labels: Sequence[Label], place: str = "label set") -> None:
        self.card = card
        self.place = place
        self.items: dict[str, Item] = {}
        self.labels: list[Label] = []
        self._by_id: dict[str, Label] = {}
        self._first: set[tuple[str, str, str]] = set()
        for number, item in enumerate(items, start=1):
            self._add_item(item, f"{place}/{ITEMS} record {number}")
        for number, label in enumerate(labels, start=1):
            self._add_label(label, f"{place}/{LABELS} record {number}")

    @classmethod
    def read(cls, folder: Traversable | Path) -> LabelSet:
        """Return the label set in a folder.

        Raises:
            UnreadableError: a file is missing or unreadable.
            ConfigError: a record is wrong; says file, line and field.
        """
        made = cls(read_card(folder), [], [], str(folder))
        if (folder / ITEMS).is_file():
            for number, item in read_jsonl(folder / ITEMS, Item):
                made._add_item(item, f"{folder / ITEMS} line {number}")
        if (folder / LABELS).is_file():
            for number, label in read_jsonl(folder / LABELS, Label):
                made._add_label(label, f"{folder / LABELS} line {number}")
        return made

    def add_items(self, drafts: Iterable[Draft]) -> list[Item]:
        """Return the items made of the drafts, now part of the set in memory; all of them or, at an error, none.

        An item that is there already with the same content is left out.

        Raises:
            ConfigError: an item of that id has other content, or would leak between splits.
        """
        fresh = []
        for draft in drafts:
            present = self.items.get(draft.item_id)
            if present is None:
                fresh.append(draft)
            elif present.content_hash != content_hash(draft.fields):
                raise ConfigError(
                    f"{self.place}: item {draft.item_id!r} is there with other content; expected the same. "
                    "Items never change: give the new content an id of its own"
                )
        made = assign_splits(fresh, self.items.values(), self.card.salt)
        for item in made:
            self._add_item(item, f"{self.place}: item {item.item_id!r}")
        return made

    def add_labels(self, labels: Iterable[Label]) -> list[Label]:
        """Return the labels, now part of the set in memory.

        Raises:
            ConfigError: a label does not fit: see `_check_label`.
        """
        given = list(labels)
        for label in given:
            self._add_label(label, f"{self.place}: label of {label.item_id!r} by {label.annotator_id!r}")
        return given

    def _add_item(self, item: Item, place: str) -> None:
        if item.item_id in self.items:
            raise ConfigError(f"{place}: item {item.item_id!r} is there twice; expected one record an item")
        missing = set(self.card.strata) - set(item.strata)
        if missing:
            raise ConfigError(f"{place}: item {item.item_id!r} lacks the declared stratum {sorted(missing)[0]!r}")
        self.items[item.item_id] = item

    def _add_label(self, label: Label, place: str) -> None:
        self._check_label(label, place)
        self.labels.append(label)
        self._by_id[label.label_id] = label
        self._first.add(_whose(label))
        self.__dict__.pop("resolved", None)
        self.__dict__.pop("_in_force", None)

    def _check_label(self, label: Label, place: str) -> None:
        item = self.items.get(label.item_id)
        if item is None:
            near = suggestion(label.item_id, self.items)
            raise ConfigError(f"{place}: no item {label.item_id!r} in {ITEMS}.{near} Add the item first")
        if label.content_hash != item.content_hash:
            raise ConfigError(
                f"{place}: item {label.item_id!r}: content_hash {label.content_hash} is not the item's "
                f"{item.content_hash}: something else was labelled. Label the item as it is now"
            )
        if label.dimension != self.card.dimension:
            raise ConfigError(f"{place}: dimension {label.dimension!r}; expected {self.card.dimension!r}")
        if label.level is not None and self.card.scale is None:
            raise ConfigError(f"{place}: level {label.level!r}, but {CARD} declares no levels and passes_from")
        if self.card.scale is not None:
            self.card.scale.check(label.label, label.level, place)
        if label.label in ("fail", "unknown") and not label.critique.strip() and item.source != "imported":
            raise ConfigError(f"{place}: a {label.label} needs a critique that says why, found none")
        if label.label_id in self._by_id:
            raise ConfigError(f"{place}: label_id {label.label_id!r} is there twice; expected one record a label")
        self._check_repeat(label, place)

    def _check_repeat(self, label: Label, place: str) -> None:
        for field, target in (("supersedes", label.supersedes), ("blind_repeat_of", label.blind_repeat_of)):
            earlier = self._by_id.get(target) if target else None
            if target and (earlier is None or earlier.item_id != label.item_id):
                raise ConfigError(f"{place}: {field} {target!r} is no earlier label of item {label.item_id!r}")
        if label.supersedes or label.blind_repeat_of:
            return
        if _whose(label) in self._first:
            raise ConfigError(
                f"{place}: {label.annotator_id!r} labelled item {label.item_id!r} before; "
                "expected supersedes (a correction) or blind_repeat_of (a repeat)"
            )

    @cached_property
    def resolved(self) -> dict[str, Resolved]:
        """The label of every item, also of those without any."""
        groups = self._in_force
        return {item_id: resolve(item_id, groups.get(item_id, ()), self.card.single_roles) for item_id in self.items}

    @cached_property
    def _in_force(self) -> dict[str, list[Label]]:
        return by_item(in_force(self.labels, self.card.rubric_version))

    def chance(self, item: Item) -> float:
        """Return the chance that the item was picked and then labelled; 1 where nothing is known."""
        picked = (label.inclusion_prob for label in self._in_force.get(item.item_id, ()))
        return (item.inclusion_prob or 1.0) * next((chance for chance in picked if chance is not None), 1.0)

    def in_split(self, split: Split) -> list[Item]:
        """Return the items of a split, by id."""
        return [item for _, item in sorted(self.items.items()) if item.split == split]

    def hash(self, split: Split = "test") -> str:
        """Return the label_set_hash: of id, content, dimension, resolved label and split of every item in `split`."""
        return content_hash(
            [
                [item.item_id, item.content_hash, self.card.dimension, self._said(item.item_id), item.split]
                for item in self.in_split(split)
            ]
        )

    def _said(self, item_id: str) -> str | None:
        """The label, or on an ordinal dimension the level where there is one."""
        resolved = self.resolved[item_id]
        return (resolved.level if self.card.scale is not None else None) or resolved.label


def _whose(label: Label) -> tuple[str, str, str]:
    return label.item_id, label.annotator_id, major(label.rubric_version)


def read_card(folder: Traversable | Path) -> Card:
    """Return the card of a label set.

    Raises:
        UnreadableError: there is no card.
        ConfigError: the card is no TOML, or lacks a field.
    """
    path = folder / CARD
    try:
        return Card.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UnreadableError(f"{path}: a label set needs a card ({error})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: no TOML ({error})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def append_items(folder: Path, items: Iterable[Item]) -> None:
    """Append items to the set's file."""
    append_jsonl(folder / ITEMS, items)


def append_labels(folder: Path, labels: Iterable[Label]) -> None:
    """Append labels to the set's file."""
    append_jsonl(folder / LABELS, labels)

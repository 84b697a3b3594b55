"""A judge's verdicts on labelled items: recorded elsewhere or made here, in one form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from toolgrade.calibration.scale import Scale
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, UnreadableError, suggestion

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Word = Literal["pass", "fail", "unknown", "na", "error"]
WORDS: tuple[Word, ...] = ("pass", "fail", "unknown", "na", "error")


class ItemVerdict(Frozen):
    """One verdict on one item. `word` is the verdict as recorded, where a map turned it into `verdict`.

    `level` is where an ordinal dimension's judge put the item.
    """

    item_id: str = Field(min_length=1)
    verdict: Word
    level: str | None = None
    replicate: int = Field(default=0, ge=0)
    content_hash: str | None = None
    word: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    reason: str = ""
    judge_id: str | None = None
    model_reported: str | None = None
    rubric_version: str | None = None
    cost: float | None = None
    cached: bool = False
    error: str | None = None
    ts: str | None = None

    @property
    def id(self) -> str:
        """Hash over the whole record, as it is written: without what is None."""
        return content_hash(self.model_dump(mode="json", exclude_none=True))


def read_verdicts(
    path: Path | Traversable, words: Mapping[str, str] | None = None, scale: Scale | None = None
) -> list[ItemVerdict]:
    """Return the verdicts in a JSONL file: `item_id`, `verdict`, and optionally the other fields of `ItemVerdict`.

    `words` maps other verdict words to ours. With a `scale`, a `level` alone is a verdict. Fields that we do not know
    are an error, except with a leading `_`.

    Raises:
        UnreadableError: the file cannot be read.
        ConfigError: a line is no verdict, its word is neither ours nor in `words`, or its level is not on the
            scale or says another thing than its word; says line and field.
    """
    meaning = declared_words(words or {})
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path}: cannot be read ({error})") from error
    return [_read(line, f"{path} line {n}", meaning, scale) for n, line in enumerate(lines, start=1) if line.strip()]


def declared_words(words: Mapping[str, str]) -> dict[str, Word]:
    """Return the map from recorded words to ours, ours included.

    Raises:
        ConfigError: a word is mapped to something that is no verdict.
    """
    meaning: dict[str, Word] = {word: word for word in WORDS}
    for word, target in words.items():
        if target not in WORDS:
            raise ConfigError(
                f"verdict map: {word!r} is mapped to {target!r}; expected one of {', '.join(WORDS)}."
                f"{suggestion(target, WORDS)}"
            )
        meaning[word] = target
    return meaning


def _read(line: str, place: str, meaning: Mapping[str, Word], scale: Scale | None) -> ItemVerdict:
    try:
        record: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{place}: no JSON ({error.msg} at column {error.colno})") from error
    if not isinstance(record, dict):
        raise ConfigError(f"{place}: found {type(record).__name__}; expected an object with item_id and verdict")
    _set_verdict(record, place, scale)
    word = record.get("verdict")
    if not isinstance(word, str) or word not in meaning:
        raise ConfigError(
            f"{place}: verdict: found {word!r}; expected one of {', '.join(sorted(meaning))}. "
            "Declare what it means with --map WORD=pass|fail|unknown|na|error"
        )
    shown = {"word": word} if meaning[word] != word else {}
    fields = {name: value for name, value in record.items() if not name.startswith("_")}
    if scale is not None:
        scale.check(meaning[word], record.get("level"), place)
    try:
        return ItemVerdict.model_validate({**shown, **fields, "verdict": meaning[word]})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{place}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _set_verdict(record: dict[str, Any], place: str, scale: Scale | None) -> None:
    """Make the verdict of a record that has only a level, where the label set has levels."""
    level = record.get("level")
    if level is None:
        return
    if scale is None:
        raise ConfigError(f"{place}: level {level!r}, but the label set's card declares no levels and passes_from")
    if record.get("verdict") is None:
        record["verdict"] = scale.word(str(level), place)


def verdicts_hash(verdicts: Iterable[ItemVerdict]) -> str:
    """Return the hash over all verdicts, whatever their order."""
    return content_hash(sorted(verdict.id for verdict in verdicts))


def by_replicate(verdicts: Iterable[ItemVerdict]) -> dict[int, dict[str, ItemVerdict]]:
    """Return item id to verdict for each replicate, in order.

    Raises:
        ConfigError: an item has two verdicts of the same replicate.
    """
    out: dict[int, dict[str, ItemVerdict]] = {}
    for verdict in verdicts:
        mine = out.setdefault(verdict.replicate, {})
        if verdict.item_id in mine:
            raise ConfigError(
                f"item {verdict.item_id!r} has two verdicts of replicate {verdict.replicate}; expected one. "
                "Number repeats with replicate 0, 1, 2"
            )
        mine[verdict.item_id] = verdict
    return dict(sorted(out.items()))

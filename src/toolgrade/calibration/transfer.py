"""Labels and items from files that other tools wrote: CSV or JSONL, with a map of columns and of words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from toolgrade.calibration.item import Draft
from toolgrade.calibration.label import Label
from toolgrade.calibration.label_set import LabelSet
from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.errors import ConfigError, UnreadableError, suggestion

WORDS = ("pass", "fail", "unknown", "na")
NUMBERS = {"confidence": float, "inclusion_prob": float, "duration_ms": int}
TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no", "")


class Mapped(Frozen):
    """How a file's columns and words become labels: our field to its column, its word to our label, constants."""

    columns: dict[str, str] = Field(default_factory=dict)
    words: dict[str, str] = Field(default_factory=dict)
    constants: dict[str, str] = Field(default_factory=dict)


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, record) of a CSV file with a header, or of JSON Lines; by the suffix.

    Raises:
        UnreadableError: the file cannot be read.
        ConfigError: a line is no JSON object, or a CSV row is longer than its header.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path}: cannot be read ({error})") from error
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        for row in reader:
            if None in row:
                raise ConfigError(f"{path} line {reader.line_num}: more values than the header has columns")
            yield reader.line_num, dict(row)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigError(f"{path} line {number}: no JSON ({error.msg} at column {error.colno})") from error
        if not isinstance(record, dict):
            raise ConfigError(f"{path} line {number}: found {type(record).__name__}; expected an object")
        yield number, record


def read_labels(path: Path, labels: LabelSet, mapped: Mapped, now: str) -> list[Label]:
    """Return the labels in a file, not yet added to the set. Rows without a label are skipped: not yet labelled.

    A row without a content hash is taken to be of the item as it is now.

    Raises:
        ConfigError: a column is not there, a word is not declared, or a value is wrong; says file, line and field.
    """
    _check_fields(mapped)
    given = list(rows(path))
    places = {mapped.columns.get(field, field) for field in ("label", "level")}
    if given and "label" not in mapped.constants and not any(places & set(row) for _, row in given):
        known = ", ".join(given[0][1]) or "none"
        raise ConfigError(f"{path}: no column holds labels; say which with --column label=COLUMN. It has {known}")
    return [
        label
        for number, row in given
        if (label := _label(row, labels, mapped, now, f"{path} line {number}")) is not None
    ]


def _check_fields(mapped: Mapped) -> None:
    for field in (*mapped.columns, *mapped.constants):
        if field not in Label.model_fields:
            raise ConfigError(f"column map: no label field {field!r}.{suggestion(field, Label.model_fields)}")
    for word, target in mapped.words.items():
        if target not in WORDS:
            raise ConfigError(f"label map: {word!r} is mapped to {target!r}; expected one of {', '.join(WORDS)}")


def _label(row: Mapping[str, Any], labels: LabelSet, mapped: Mapped, now: str, place: str) -> Label | None:
    given: dict[str, Any] = {}
    for field in Label.model_fields:
        column = mapped.columns.get(field, field)
        if column in row and row[column] not in (None, ""):
            given[field] = row[column]
        elif field in mapped.columns and column not in row:
            raise ConfigError(f"{place}: no column {column!r} for {field}.{suggestion(column, row)}")
    given = {**mapped.constants, **given}
    scale = labels.card.scale
    if "label" in given:
        given["label"] = _word(given["label"], mapped, place)
    elif "level" in given and scale is not None:
        given["label"] = scale.word(str(given["level"]).strip(), place)
    else:
        return None
    item = labels.items.get(str(given.get("item_id")))
    defaults = {
        "dimension": labels.card.dimension,
        "rubric_version": labels.card.rubric_version,
        "content_hash": item.content_hash if item else "",
        "ts": now,
    }
    given = {**defaults, **given, **_typed(given, place)}
    given.setdefault("label_id", content_hash({name: str(value) for name, value in given.items()})[7:23])
    try:
        return Label.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{place}: {name}: {first['msg']}; give it as a column or with --constant {name}=VALUE"
        ) from error


def _word(word: Any, mapped: Mapped, place: str) -> str:
    text = str(word).strip()
    found = mapped.words.get(text, text)
    if found not in WORDS:
        known = (*WORDS, *mapped.words)
        raise ConfigError(
            f"{place}: label: found {text!r}; expected one of {', '.join(WORDS)}.{suggestion(text, known)} "
            f"Declare what it means with --map {text}=pass|fail|unknown|na"
        )
    return found


def _typed(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """CSV knows only text: numbers, flags and lists are made from it."""
    made: dict[str, Any] = {}
    for field, kind in NUMBERS.items():
        if isinstance(given.get(field), str):
            try:
                made[field] = kind(given[field])
            except ValueError as error:
                raise ConfigError(f"{place}: {field}: found {given[field]!r}; expected a number") from error
    seen = given.get("saw_judge_verdict")
    if isinstance(seen, str):
        if seen.casefold() not in (*TRUE, *FALSE):
            raise ConfigError(f"{place}: saw_judge_verdict: found {seen!r}; expected true or false")
        made["saw_judge_verdict"] = seen.casefold() in TRUE
    if isinstance(given.get("evidence_quotes"), str):
        made["evidence_quotes"] = (given["evidence_quotes"],)
    return made


def read_drafts(path: Path, constants: Mapping[str, Any]) -> list[Draft]:
    """Return the items in a JSONL file: `item_id`, `trace_id`, `fields`, and optionally the rest of `Draft`.

    Keys that a draft does not have are ignored where they start with `_`.

    Raises:
        ConfigError: a line is no item; says file, line and field.
    """
    found = []
    for number, row in rows(path):
        given = {**constants, **{name: value for name, value in row.items() if not name.startswith("_")}}
        try:
            found.append(Draft.model_validate(given))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ConfigError(f"{path} line {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return found

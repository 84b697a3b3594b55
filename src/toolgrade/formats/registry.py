"""Every trace format that can be read, told apart by content."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from toolgrade.core.result import Origin
from toolgrade.errors import ConfigError, UnreadableError, suggestion
from toolgrade.formats import (
    anthropic,
    bfcl,
    claude_code,
    deepeval,
    gemini,
    google_adk,
    inspect_ai,
    langchain,
    langfuse,
    langsmith,
    mcp,
    mlflow,
    native,
    openai_chat,
    openai_completions,
    openai_responses,
    otel,
    promptfoo,
    pydantic_ai,
    reference_sets,
    strands,
    swe_agent,
    tau2,
    tau_bench,
    vcr,
    vercel_ai,
)
from toolgrade.formats.access import describe
from toolgrade.formats.format import Format
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source, digest
from toolgrade.formats.tools import parse_tools

FORMATS: tuple[Format, ...] = (
    native.FORMAT,
    tau2.FORMAT,
    tau_bench.FORMAT,
    bfcl.FORMAT,
    bfcl.QUESTIONS,
    inspect_ai.FORMAT,
    langfuse.FORMAT,
    mlflow.FORMAT,
    langsmith.FORMAT,
    otel.FORMAT,
    google_adk.FORMAT,
    reference_sets.FORMAT,
    promptfoo.FORMAT,
    deepeval.FORMAT,
    swe_agent.FORMAT,
    vcr.FORMAT,
    claude_code.FORMAT,
    mcp.FORMAT,
    openai_responses.FORMAT,
    langchain.FORMAT,
    anthropic.FORMAT,
    strands.FORMAT,
    gemini.FORMAT,
    pydantic_ai.FORMAT,
    vercel_ai.FORMAT,
    openai_completions.FORMAT,
    openai_chat.FORMAT,
)
"""The formats in the order in which they are tried: the most particular first."""

_OF_CONVERT = ("cases.yaml", "cases.jsonl", "tools.json")


def get_format(name: str) -> Format:
    """Return the format called `name`.

    Raises:
        ConfigError: there is none; names the nearest.
    """
    known = {format.name: format for format in FORMATS}
    if name not in known:
        names = ", ".join(sorted(known))
        raise ConfigError(f"--format: unknown format {name!r}.{suggestion(name, known)} Known: {names}.")
    return known[name]


def detect_format(path: Path) -> Format:
    """Return the format of one file, told from its content.

    Raises:
        UnreadableError: the file cannot be read, or is in none of the formats; says what was looked for.
    """
    source = Source(path)
    found = _detect(source)
    if found is None:
        raise UnreadableError(_no_trace(source))
    return found


def read_traces(path: Path, format: str | None = None) -> Iterator[Record]:
    """Yield one record a trace of a file, or of every file of a directory in sorted order.

    Reading is lazy: of JSON Lines, one line is held at a time. A record, or a file, that cannot be read
    becomes a record with `error`. Only in a directory some files are left out: hidden ones, those that
    `convert` writes beside traces (`cases.yaml`, `cases.jsonl`, `tools.json`), Markdown, README and LICENSE.

    Args:
        path: a file or a directory.
        format: name of a format; None tells it from the content of each file.

    Raises:
        ConfigError: the format is unknown.
        UnreadableError: the path does not exist, or is a directory without any file.
    """
    for source, found in find_sources(path, format):
        yield from _read_file(source, found)


def find_sources(path: Path, format: str | None = None) -> Iterator[tuple[Source, Format | str]]:
    """Yield the files that `read_traces` reads, each with its format, or the message that says why it has none."""
    given = None if format is None else get_format(format)
    for file in _files(path):
        source = Source(file)
        try:
            yield source, given or _detect(source) or _no_trace(source)
        except UnreadableError as error:
            yield source, str(error)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise UnreadableError(f"{path}: does not exist; expected a file or a directory of recorded runs.")
    if not path.is_dir():
        return [path]
    found = [file for file in sorted(path.rglob("*")) if file.is_file() and not _is_beside(file.relative_to(path))]
    if not found:
        raise UnreadableError(f"{path}: holds no file; expected recorded runs.")
    return found


def _is_beside(file: Path) -> bool:
    """Whether a file lies beside traces without being one, so that it is no mistake."""
    hidden = any(part.startswith(".") for part in file.parts)
    return hidden or file.name in _OF_CONVERT or file.suffix == ".md" or file.name.startswith(("README", "LICENSE"))


def _read_file(source: Source, found: Format | str) -> Iterator[Record]:
    if isinstance(found, str):
        yield _failure(source, found)
    elif found.read is None:
        yield _failure(source, f"{source.name}: holds cases ({found.name}), expected traces. Convert it to cases.")
    else:
        try:
            yield from found.read(source)
        except OSError as error:
            yield _failure(source, f"{source.name}: cannot be read: {error.strerror or error}.")


def _detect(source: Source) -> Format | None:
    return next((format for format in FORMATS if format.detect(source)), None)


def _failure(source: Source, message: str) -> Record:
    return Record(Origin(source=source.name, index=0, sha256=digest(message.encode())), error=message)


_HELP = "`toolgrade formats` lists what can be read and what each is told by; --format NAME overrides."


def _no_trace(source: Source) -> str:
    """Return why a file is in no format: what it is instead, and what to do."""
    if not source.head.strip():
        return f"{source.name}: is empty, expected recorded runs."
    if source.not_text:
        found = f"is {source.not_text}"
    else:
        broken = next((document.error for document in islice(source.documents(), 20) if document.error), None)
        if broken and source.first is None:
            cases = " Are these cases? Give them with --cases." if source.name.endswith((".yaml", ".yml")) else ""
            return f"{broken}{cases} {_HELP}"
        first = source.first
        if _are_tools(first):
            return f"{source.name}: holds tools, expected recorded runs. Give it with --tools."
        found = f"holds {describe(first)}"
        if isinstance(first, list) and first:
            found += f" beginning with {describe(first[0])}"
    return f"{source.name}: {found}, which is no trace in a known format. {_HELP}"


def _are_tools(value: object) -> bool:
    try:
        return isinstance(value, list) and bool(parse_tools(value))
    except Malformed:
        return False

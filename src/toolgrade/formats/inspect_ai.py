"""Inspect logs: `.eval` archives and `.json`, one trace a sample and epoch.

An archive is read member by member with limits on size and ratio, so that a small file cannot unpack into a
large one; nothing is unpacked to disk.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, Trace
from toolgrade.formats.access import as_object, opt_int, opt_list, opt_number, opt_object, opt_text
from toolgrade.formats.calls import read_usage
from toolgrade.formats.conversation import said
from toolgrade.formats.format import Format
from toolgrade.formats.messages import interpret, read_messages
from toolgrade.formats.offered import offered_by, offered_tools
from toolgrade.formats.parts import fold
from toolgrade.formats.reading import Part, read_parts
from toolgrade.formats.record import Record
from toolgrade.formats.source import Document, Source, digest, parse_json, read_document

MAX_MEMBER = 256 * 1024 * 1024
"""Bytes that one member of an archive may unpack to."""
MAX_RATIO = 200
"""How many times its packed size a member of more than a megabyte may be."""
MAX_MEMBERS = 100_000

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)
_ATTACHMENT = "attachment://"
_READ = {
    "id",
    "epoch",
    "input",
    "messages",
    "output",
    "events",
    "attachments",
    "message_pool",
    "model_usage",
    "total_time",
}


class _Archive(Source):
    """A `.eval` file as one document a sample, each beside the description of the evaluation."""

    def documents(self) -> Iterator[Document]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield from self._samples(archive)
        except _BROKEN as error:
            yield self._refused(f"found a broken archive ({error}), expected an Inspect log (.eval).")

    def _samples(self, archive: zipfile.ZipFile) -> Iterator[Document]:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            yield self._refused(f"found {len(members)} members, expected at most {MAX_MEMBERS}.")
            return
        names = {member.filename: member for member in members}
        header = names.get("header.json") or names.get("_journal/start.json")
        described = self._value(archive, header) if header is not None else {}
        samples = [member for member in members if member.filename.startswith("samples/")]
        if not samples:
            yield self._refused("found no sample, expected members named samples/*.json.")
        for member in samples:
            place = f"{self.name}: {member.filename}"
            raw = self._read(archive, member)
            if isinstance(raw, str):
                yield Document(place, None, digest(place.encode()), f"{place}: {raw}")
            else:
                document = read_document(place, raw)
                yield document._replace(value={**described, "samples": [document.value]})

    def _refused(self, problem: str) -> Document:
        message = f"{self.name}: {problem}"
        return Document(self.name, None, digest(message.encode()), message)

    def _value(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
        raw = self._read(archive, member)
        try:
            value = parse_json(raw) if isinstance(raw, bytes) else {}
        except ValueError:
            value = {}
        return value if isinstance(value, dict) else {}

    def _read(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | str:
        """Return the bytes of a member, or why they are not read. The sizes that it claims are not trusted."""
        most = min(MAX_MEMBER, max(1024 * 1024, member.compress_size * MAX_RATIO))
        try:
            with archive.open(member) as file:
                raw = file.read(most + 1)
        except _BROKEN as error:
            return f"found a broken member ({error}), expected a sample. The file was probably cut off."
        if len(raw) > most:
            return (
                f"found a member that unpacks to more than {most} bytes, expected at most {MAX_RATIO} times its size."
            )
        return raw


def _split(value: Any) -> Iterator[Part]:
    log = as_object(value, "")
    described = {key: item for key, item in log.items() if key != "samples"}
    samples = opt_list(log.get("samples"), "samples")
    for number, sample in enumerate(samples):
        yield Part(sample, f"samples[{number}]", described)


def _build(part: Part) -> Trace:
    sample = _attached(as_object(part.value, ""))
    about = opt_object(part.context.get("eval"), "eval")
    sample_id, epoch = opt_text(sample.get("id"), "id") or part.default_id, opt_int(sample.get("epoch")) or 1
    messages = read_messages(opt_list(sample.get("messages"), "messages"), "messages") or _from_output(sample)
    error = sample.get("error")
    seconds = opt_number(sample.get("total_time"))
    usage = opt_object(sample.get("model_usage"), "model_usage")
    model = opt_text(about.get("model"), "eval.model")
    task = opt_text(about.get("task"), "eval.task") or "sample"
    return Trace(
        id=f"{task}-{sample_id}-epoch-{epoch}",
        case_id=sample_id,
        trial=max(epoch - 1, 0),
        messages=said(messages, "messages"),
        tools=_tools(sample),
        error=str(error.get("message", error)) if isinstance(error, dict) else opt_text(error, "error"),
        model=model,
        started_at=opt_text(about.get("created"), "eval.created"),
        latency_ms=None if seconds is None else seconds * 1000,
        usage=read_usage(usage.get(str(model)) or next(iter(usage.values()), None)),
        metadata={key: sample[key] for key in sample if key not in _READ and sample[key]} | {"task": task},
    )


def _from_output(sample: dict[str, Any]) -> list[Message]:
    given = sample.get("input")
    asked = fold("user", [given]) if isinstance(given, str) else interpret(given, "user") or []
    return [*asked, *(interpret(sample.get("output"), "assistant") or [])]


def _tools(sample: dict[str, Any]) -> tuple[ToolSpec, ...] | None:
    events = [event for event in opt_list(sample.get("events"), "events") if isinstance(event, dict)]
    called = [event for event in events if event.get("event") == "model"]
    offers = [tool for event in called for tool in opt_list(event.get("tools"), "events.tools")]
    return offered_tools(offers)


def _attached(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the sample with the texts that it keeps aside put back into its messages."""
    texts = opt_object(sample.get("attachments"), "attachments")
    if not texts:
        return sample
    return {
        key: _filled(item, texts) if key in ("messages", "input", "output") else item for key, item in sample.items()
    }


def _filled(value: Any, texts: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return texts.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, dict):
        return {key: _filled(item, texts) for key, item in value.items()}
    return [_filled(item, texts) for item in value] if isinstance(value, list) else value


def _is_archive(source: Source) -> bool:
    return source.head.startswith(b"PK\x03\x04")


def read(source: Source) -> Iterator[Record]:
    """Yield one record a sample and epoch."""
    return read_parts(_Archive(source.path) if _is_archive(source) else source, _build, _split)


def _detect(source: Source) -> bool:
    if _is_archive(source):
        return source.path.suffix == ".eval" or b"_journal/" in source.head or b"samples/" in source.head
    first = source.first
    return isinstance(first, dict) and isinstance(first.get("eval"), dict) and ("samples" in first or "plan" in first)


FORMAT = Format(
    name="inspect",
    description="Inspect logs (.eval archives, .json)",
    looked_for='"eval" beside "samples", or an archive with samples/*.json',
    detect=_detect,
    read=read,
    tools=offered_by(read),
)

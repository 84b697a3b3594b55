"""A YAML or JSON file of another tool as one document."""

from __future__ import annotations

from collections.abc import Iterator

from toolgrade.errors import ConfigError
from toolgrade.formats.source import Document, Source, digest
from toolgrade.formats.yaml_text import read_yaml

MAX_BYTES = 20_000_000
"""YAML is slow to read; nobody keeps more of it in one file."""


class YamlSource(Source):
    """A file that is YAML unless it begins like JSON."""

    def documents(self) -> Iterator[Document]:
        """Yield the one document, or the error that says where it stops being YAML."""
        if self.head.lstrip()[:1] in (b"{", b"["):
            yield from super().documents()
            return
        raw = self.path.read_bytes()
        error = None
        if len(raw) > MAX_BYTES:
            error = f"{self.name}: found {len(raw)} bytes of YAML, expected at most {MAX_BYTES}."
        else:
            try:
                yield Document(self.name, read_yaml(raw.decode("utf-8-sig"), self.name).value, digest(raw))
                return
            except UnicodeDecodeError as wrong:
                error = f"{self.name}: found bytes that are no UTF-8 ({wrong}), expected UTF-8 text."
            except ConfigError as wrong:
                error = str(wrong)
        yield Document(self.name, None, digest(raw), error)

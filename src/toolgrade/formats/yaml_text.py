"""YAML as JSON with comments: the same types, line numbers kept, nothing constructed, nothing expanded without bound.

Plain scalars have the types of JSON: `null`, `true`/`false` (also capitalised), and numbers written as in JSON.
All else is text: `no`, `on`, `2024-05-01`, `007`, `0x1F` and `.inf` stay as written. Keys are always text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from toolgrade.errors import ConfigError

MAX_DEPTH = 100
MAX_NODES = 1_000_000
Path = tuple[int | str, ...]

_NULL = re.compile(r"(?:null|Null|NULL|~|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_FOLDED = re.compile("[\r\x85\u2028\u2029\ufeff]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Located(NamedTuple):
    """A value and the line (from 1) of every key and item in it, by path."""

    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int | None:
        """Return the line of `path`, or of the nearest place above it; None where no lines are known (JSON)."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_yaml(text: str, name: str) -> Located:
    """Return the one document in `text`; `name` is the file, for messages.

    Raises:
        ConfigError: with file and line: no YAML, a key twice, a tag, several documents, an alias to itself,
            aliases that expand to more than a million values, or more than 100 levels.
    """
    builder = _Builder(name)
    try:
        return builder.read(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        context = f" ({error.context})" if error.context else ""
        raise ConfigError(f"{name}:{line}: no YAML: {error.problem}{context}. Check indentation and quotes.") from error
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{name}: no YAML: {reason}. Remove control characters.") from error


def plain(text: str) -> Any:
    """Return what a plain scalar means."""
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text.lower() == "true"
    if _INT.match(text):
        return int(text) if len(text) < 4000 else text
    return float(text) if _FLOAT.match(text) else text


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Path, int] = {}
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0

    def read(self, events: Iterator[Any]) -> Located:
        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(event, "a second document (`---`)", "one document")
                value = self._node(next(events), events, ())
        return Located(value, self.lines)

    def _node(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        self.lines.setdefault(path, _line(event))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self.nodes
        self._count(event, 1)
        if len(path) > MAX_DEPTH:
            raise self._error(event, f"more than {MAX_DEPTH} levels", "a suite of cases")
        if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
            raise self._error(event, f"the tag {event.tag!r}", "plain values; a suite constructs nothing")
        if isinstance(event, yaml.ScalarEvent):
            quoted = event.style not in (None, "") or event.tag is not None
            value: Any = event.value if quoted else plain(event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(events, path)
        else:
            value = self._mapping(events, path)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def _sequence(self, events: Iterator[Any], path: Path) -> list[Any]:
        out: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            out.append(self._node(event, events, (*path, len(out))))
        return out

    def _mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error(event, "a key that is no text", "text as key; quote a value that holds `: `")
            key = event.value
            if key in out:
                raise self._error(event, f"the key {key!r} a second time", "each key once")
            self.lines[(*path, key)] = _line(event)
            out[key] = self._node(next(events), events, (*path, key))
        return out

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise self._error(event, f"the alias *{event.anchor}", "an anchor that was finished before it")
        value, size = self.anchors[event.anchor]
        self._count(event, size)
        return value

    def _count(self, event: Any, more: int) -> None:
        self.nodes += more
        if self.nodes > MAX_NODES:
            raise self._error(event, f"aliases that expand to more than {MAX_NODES:,} values", "a suite of cases")

    def _error(self, event: Any, found: str, expected: str) -> ConfigError:
        return ConfigError(f"{self.name}:{_line(event)}: found {found}, expected {expected}.")


class _Dumper(yaml.SafeDumper):
    """Writes what `read_yaml` reads back equal: it quotes text by the same rules."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _means_more(text: str) -> bool:
    """Whether YAML 1.1, which most other readers follow, sees a boolean, a date or a number in plain text."""
    rules = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], [])
    return any(pattern.match(text) for _, pattern in rules)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quote text that any YAML reader would take for something else, or whose line ends it would fold or drop."""
    style = '"' if _FOLDED.search(text) or _means_more(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:null", _NULL, None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOL, None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", _INT, None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, None)


def write_yaml(value: Any) -> str:
    """Return `value` as YAML text in the order given, short lists and mappings on one line."""
    return str(
        yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    )

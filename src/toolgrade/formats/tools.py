"""Tool files: OpenAI, Anthropic, MCP, Gemini, or bare JSON Schemas; one dialect or several in one list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from toolgrade.core.tool import ToolSpec, validate_tools
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.access import as_object, as_text, describe, opt_object, opt_text
from toolgrade.formats.record import Malformed
from toolgrade.formats.schemas import GEMINI_TYPES, rename_types
from toolgrade.formats.source import json_problem, parse_json

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_LIST_KEYS = ("tools", "functions", "functionDeclarations", "function_declarations")
_ACCEPTED = "OpenAI, Anthropic, MCP or Gemini tools, or JSON Schemas by name"


def load_tools(path: Path) -> dict[str, ToolSpec]:
    """Return the tools of a file, by name, in the order written.

    Raises:
        UnreadableError: the file cannot be read.
        ConfigError: it holds no tools, one that is wrong (its place is named), two of one name, or schemas that
            cannot be used (all such tools are named).
    """
    try:
        raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror or error}.") from error
    try:
        tools = parse_tools(parse_json(raw))
    except ValueError as error:
        raise ConfigError(f"{path}: {json_problem(error)}") from error
    except Malformed as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        validate_tools(tools)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return tools


def parse_tools(value: Any, field: str = "") -> dict[str, ToolSpec]:
    """Return the tools in a JSON value, by name: a list in any dialect, an object that holds one, or schemas by name.

    Raises:
        Malformed: there is no tool, one is wrong (its place below `field` is named), or two have one name.
    """
    tools: dict[str, ToolSpec] = {}
    for tool, place in _tools(value, field):
        if tool.name in tools:
            raise Malformed(place, f"a second tool {tool.name!r}", "each name once", "Rename or remove one of them.")
        tools[tool.name] = tool
    if not tools:
        raise Malformed(field, describe(value), f"at least one tool: {_ACCEPTED}")
    return tools


def recorded_tools(value: Any, field: str = "tools") -> tuple[ToolSpec, ...] | None:
    """Return the tools on offer that a trace recorded, None where it recorded none.

    Traces that record the same list share one tuple. A tool that is listed twice in the same words counts
    once; a list of bare names says nothing about arguments and is not taken.

    Raises:
        Malformed: a tool is wrong, or two different ones have one name.
    """
    if not value or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return None
    return _shared(to_json(value), field)


@lru_cache(maxsize=256)
def _shared(raw: bytes, field: str) -> tuple[ToolSpec, ...]:
    try:
        value = parse_json(raw)
    except ValueError as error:  # NaN, which documents may hold
        raise Malformed(field, f"a schema that is no JSON ({error})", "tools with JSON Schemas") from error
    if isinstance(value, list):
        value = [item for number, item in enumerate(value) if item not in value[:number]]
    return tuple(parse_tools(value, field).values())


def write_tools(tools: Iterable[ToolSpec]) -> str:
    """Return the text of a tool file: OpenAI tools, each with `writes` beside `function` where it is known."""
    return json.dumps([openai_tool(tool) for tool in tools], ensure_ascii=False, indent=2) + "\n"


def openai_tool(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool as OpenAI writes it, with `writes` beside `function` where it is known."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    entry: dict[str, Any] = {"type": "function", "function": function}
    return entry if tool.writes is None else entry | {"writes": tool.writes}


def _tools(value: Any, field: str) -> Iterator[tuple[ToolSpec, str]]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _entry(item, f"{field}[{number}]")
        return
    item = as_object(value, field)
    if isinstance(item.get("result"), dict):  # the answer to MCP's tools/list
        item, field = item["result"], f"{field}.result".lstrip(".")
    held = [key for key in _LIST_KEYS if isinstance(item.get(key), list)]
    if held:
        for key in held:
            yield from _tools(item[key], f"{field}.{key}".lstrip("."))
    elif "name" in item or "function" in item:
        yield from _entry(item, field)
    else:
        for name, schema in item.items():
            place = f"{field}.{name}".lstrip(".")
            yield _named(name, as_object(schema, place), place), place


def _entry(value: Any, field: str) -> Iterator[tuple[ToolSpec, str]]:
    item = as_object(value, field)
    if any(isinstance(item.get(key), list) for key in _LIST_KEYS):  # Gemini: a list of lists of declarations
        yield from _tools(item, field)
    else:
        yield _tool(item, field), field


def _tool(item: dict[str, Any], field: str) -> ToolSpec:
    if "function" in item:
        inner = as_object(item["function"], f"{field}.function")
        return _spec(item | inner, f"{field}.function")
    if "name" in item:
        return _spec(item, field)
    if isinstance(item.get("title"), str):
        return _named(item["title"], item, field)
    raise Malformed(field, describe(item), f"a tool with a name: {_ACCEPTED}")


def _named(name: str, item: dict[str, Any], field: str) -> ToolSpec:
    """Return the tool for a schema that stands alone, or for a definition whose name is its key."""
    if any(key in item for key in _SCHEMA_KEYS):
        return _spec(item | {"name": name}, field)
    schema = {key: part for key, part in item.items() if key != "writes"}
    if not {"type", "properties", "$ref", "anyOf", "oneOf", "allOf"} & set(schema):
        raise Malformed(field, describe(item), "a JSON Schema of the arguments (an object with `properties`)")
    return _spec({**item, "name": name, "parameters": schema}, field)


def _spec(item: dict[str, Any], field: str) -> ToolSpec:
    name = as_text(item.get("name"), f"{field}.name")
    key = next((key for key in _SCHEMA_KEYS if item.get(key) is not None), None)
    built_in = key is None and isinstance(item.get("type"), str) and item["type"] not in ("function", "object")
    # A tool of the provider's own (`web_search_20250305`) has a schema that nobody wrote down: all is allowed.
    schema: Any = {"type": "object", "properties": {}} | ({"additionalProperties": True} if built_in else {})
    if key is not None:
        schema = rename_types(as_object(item[key], f"{field}.{key}"), GEMINI_TYPES)
        if schema.get("type", "object") != "object":
            raise Malformed(f"{field}.{key}.type", describe(schema["type"]), '"object": arguments are named')
    return ToolSpec(
        name=name,
        description=opt_text(item.get("description"), f"{field}.description") or "",
        parameters=schema,
        writes=_writes(item, field),
    )


def _writes(item: dict[str, Any], field: str) -> bool | None:
    """Return `writes` as given, else what MCP's `readOnlyHint` says, else None."""
    written = item.get("writes")
    if written is not None and not isinstance(written, bool):
        raise Malformed(f"{field}.writes", describe(written), "true or false")
    if written is None:
        hint = opt_object(item.get("annotations"), f"{field}.annotations").get("readOnlyHint")
        return None if not isinstance(hint, bool) else not hint
    return written

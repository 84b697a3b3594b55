"""The tools on offer as traces record them: every dialect, built-in tools by their type, incomplete lists left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolgrade.core.tool import ToolSpec
from toolgrade.formats.record import Malformed, Record
from toolgrade.formats.source import Source, parse_json
from toolgrade.formats.tools import parse_tools

_LISTS = ("tools", "functionDeclarations", "function_declarations")
_BUILT_IN = {"web_search_preview": "web_search", "computer_use_preview": "computer"}
_ANY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


def offered_tools(value: Any) -> tuple[ToolSpec, ...] | None:
    """Return the tools in a recorded list, by first name; None where it holds none, or does not hold them all.

    A remote MCP server is a list that the trace does not hold: its tools are unknown, so all are unknown.
    A definition that is no tool is left out: traces are graded, not the files that describe their tools.
    """
    found: dict[str, ToolSpec] = {}
    for item in _items(value):
        if item.get("type") == "mcp" or "mcpServer" in item:
            return None
        for tool in _specs(item):
            found.setdefault(tool.name, tool)
    return tuple(found.values()) or None


def offered_by(read: Callable[[Source], Iterator[Record]]) -> Callable[[Source], dict[str, ToolSpec]]:
    """Return a function that gives the tools on offer in any of the traces that `read` reads, by name."""

    def tools(source: Source) -> dict[str, ToolSpec]:
        found = (tool for record in read(source) if record.trace for tool in record.trace.tools or ())
        return {tool.name: tool for tool in found}

    return tools


def _items(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield from _items(item) if item[:1] == "{" else ()
        elif isinstance(item, dict):
            held = [item[key] for key in _LISTS if isinstance(item.get(key), list)]
            if held:
                for inner in held:
                    yield from _items(inner)
            else:
                yield item


def _specs(item: dict[str, Any]) -> Iterator[ToolSpec]:
    kind = item.get("type")
    inner = item.get("toolSpec")
    if isinstance(inner, dict):  # Bedrock
        schema = inner.get("inputSchema")
        item = {**inner, "inputSchema": schema.get("json", schema) if isinstance(schema, dict) else None}
    elif "name" not in item and "function" not in item:
        if isinstance(kind, str) and kind != "object":
            yield ToolSpec(name=_BUILT_IN.get(kind, kind), parameters=_ANY)
        return
    try:
        yield from parse_tools([item]).values()
    except Malformed:
        return

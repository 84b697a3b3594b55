"""Grading from Python: one call, one trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from toolgrade.core.case import Case
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.result import TraceResult
from toolgrade.core.tool import ToolSpec, validate_tools
from toolgrade.core.trace import Trace
from toolgrade.errors import ConfigError, suggestion
from toolgrade.formats.openai_chat import read_messages
from toolgrade.formats.tools import parse_tools
from toolgrade.formats.validation import explain
from toolgrade.gates.contract import validate_case
from toolgrade.pipeline.grade import grade_trace


def grade(
    trace: Trace | Sequence[Mapping[str, Any]],
    case: Case | Mapping[str, Any] | None = None,
    tools: Iterable[ToolSpec | Mapping[str, Any]] | None = None,
    checks: Sequence[Check] = CHECKS,
) -> TraceResult:
    """Grade one trace; the result's `str()` shows every component.

    Args:
        trace: a `Trace`, or OpenAI chat messages.
        case: what is expected, as a `Case` or as the mapping that a case file would hold; None runs the
            intrinsic rules only.
        tools: the tools on offer, as `ToolSpec`s or in any form that a tools file may have; None takes those
            of the case, else of the trace.
        checks: the checks to run.

    Raises:
        ConfigError: the case or the tools are wrong, or do not fit each other.
        UnreadableError: the messages are no OpenAI chat.
    """
    recorded = trace if isinstance(trace, Trace) else Trace(id="trace", messages=read_messages(list(trace)))
    toolbox = None if tools is None else _toolbox(tools)
    validate_tools(toolbox or {})
    expected = None if case is None else _case(case)
    if expected is not None:
        own = {tool.name: tool for tool in expected.tools} if expected.tools is not None else toolbox
        validate_case(expected, own)
    for check in checks:
        if check not in CHECKS:
            raise ConfigError(f"no check {check!r}.{suggestion(check, CHECKS)} Expected some of {', '.join(CHECKS)}.")
    return grade_trace(recorded, expected, toolbox, checks)


def _toolbox(tools: Iterable[ToolSpec | Mapping[str, Any]]) -> dict[str, ToolSpec]:
    given = list(tools)
    foreign = [dict(tool) for tool in given if not isinstance(tool, ToolSpec)]
    specs = {tool.name: tool for tool in given if isinstance(tool, ToolSpec)}
    return specs | parse_tools(foreign, "tools") if foreign else specs


def _case(case: Case | Mapping[str, Any]) -> Case:
    if isinstance(case, Case):
        return case
    try:
        return Case.model_validate({"id": "case", **case})
    except ValidationError as error:
        raise ConfigError(f"case: {explain(error, Case)}") from error

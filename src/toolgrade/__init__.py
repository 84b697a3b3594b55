"""Grade tool-calling agents check by check, so that a red result names the thing that broke.

`grade` grades one trace; `run` grades a file of them into a run directory. Names are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Case": "toolgrade.core.case",
    "CheckResult": "toolgrade.core.verdict",
    "Expected": "toolgrade.core.expected",
    "Finding": "toolgrade.core.finding",
    "Message": "toolgrade.core.trace",
    "RunPlan": "toolgrade.pipeline.run",
    "Suite": "toolgrade.core.case",
    "ToolCall": "toolgrade.core.trace",
    "ToolResult": "toolgrade.core.trace",
    "ToolSpec": "toolgrade.core.tool",
    "ToolgradeError": "toolgrade.errors",
    "Trace": "toolgrade.core.trace",
    "TraceResult": "toolgrade.core.result",
    "grade": "toolgrade.pipeline.api",
    "load_suite": "toolgrade.formats.cases",
    "load_tools": "toolgrade.formats.tools",
    "read_traces": "toolgrade.formats.registry",
    "run": "toolgrade.pipeline.run",
}

__all__ = [
    "__version__",
    *_HOMES,
]

if TYPE_CHECKING:
    from toolgrade.core.case import Case as Case
    from toolgrade.core.case import Suite as Suite
    from toolgrade.core.expected import Expected as Expected
    from toolgrade.core.finding import Finding as Finding
    from toolgrade.core.result import TraceResult as TraceResult
    from toolgrade.core.tool import ToolSpec as ToolSpec
    from toolgrade.core.trace import Message as Message
    from toolgrade.core.trace import ToolCall as ToolCall
    from toolgrade.core.trace import ToolResult as ToolResult
    from toolgrade.core.trace import Trace as Trace
    from toolgrade.core.verdict import CheckResult as CheckResult
    from toolgrade.errors import ToolgradeError as ToolgradeError
    from toolgrade.formats.cases import load_suite as load_suite
    from toolgrade.formats.registry import read_traces as read_traces
    from toolgrade.formats.tools import load_tools as load_tools
    from toolgrade.pipeline.api import grade as grade
    from toolgrade.pipeline.run import RunPlan as RunPlan
    from toolgrade.pipeline.run import run as run


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'toolgrade' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""A builder of small runs, and a way to the benchmarks, which are no package."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Load a benchmark by its name."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


class Recorder:
    """Builds views of small runs: each step is one assistant message, given as a list of calls or as a text.

    A call is `(tool, arguments)` or `(tool, arguments, result)`; without a result none was recorded.
    """

    def __call__(
        self, *steps: list[tuple] | str, tools: dict[str, ToolSpec] | None = None, user: str = "please", **fields: Any
    ) -> TraceView:
        messages = [Message(role="user", content=user)]
        for number, step in enumerate(steps):
            if isinstance(step, str):
                messages.append(Message(role="assistant", content=step))
                continue
            calls = [self._call(f"{number}-{index}", *made) for index, made in enumerate(step)]
            messages.append(Message(role="assistant", tool_calls=tuple(call for call, _ in calls)))
            messages += [
                Message(role="tool", result=ToolResult(call_id=call.id, content=result))
                for call, result in calls
                if result is not None
            ]
        return TraceView(Trace(id="t", messages=tuple(messages), **fields), tools)

    def _call(self, key: str, tool: str, arguments: Any, result: Any = None) -> tuple[ToolCall, Any]:
        if isinstance(arguments, str):
            call = ToolCall(name=tool, id=key, arguments=None, arguments_raw=arguments, parse_error="cut off")
            return call, result
        return ToolCall(name=tool, id=key, arguments=arguments), result


@pytest.fixture
def recorded() -> Recorder:
    """A builder of small runs."""
    return Recorder()

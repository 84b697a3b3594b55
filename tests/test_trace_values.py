from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from toolgrade import ToolCall, ToolResult


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "told"),
    [(float("nan"), "NaN"), ({"a": [float("inf")]}, "NaN or infinite"), (nested(100_000), "nested deeper")],
)
def test_a_payload_that_is_no_json_is_a_clear_error(value: Any, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ToolResult(content=value)
    with pytest.raises(ValidationError, match=told):
        ToolCall(name="t", arguments={"v": value})


def test_payloads_of_usual_depth_are_kept() -> None:
    assert ToolResult(content=nested(200)).content == nested(200)

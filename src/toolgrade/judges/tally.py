"""What all the calls for one verdict cost together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from toolgrade.llm.port import ModelResponse


Number = TypeVar("Number", int, float)


@dataclass
class Tally:
    """Sums over the responses for one question; a sum is None as soon as one part of it is unknown."""

    responses: list[ModelResponse] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def attempts(self) -> int:
        """How many calls were made, retries included."""
        return sum(response.attempts for response in self.responses)

    def add(self, response: ModelResponse, warnings: tuple[str, ...]) -> None:
        """Count one response, and keep each warning once."""
        self.responses.append(response)
        self.warnings += [text for text in (*warnings, *response.warnings) if text not in self.warnings]

    def sums(self) -> dict[str, Any]:
        """Return the sums as fields of a verdict; none where no call was answered."""
        if not self.responses:
            return {}
        return {
            "model_reported": self.responses[-1].model_reported,
            "latency_ms": _sum([response.latency_ms for response in self.responses]),
            "input_tokens": _sum([response.input_tokens for response in self.responses]),
            "output_tokens": _sum([response.output_tokens for response in self.responses]),
            "cost": _sum([response.cost for response in self.responses]),
            "attempts": self.attempts,
            "warnings": tuple(self.warnings),
        }


def _sum(parts: list[Number | None]) -> Number | None:
    total: Number | None = None
    for part in parts:
        if part is None:
            return None
        total = part if total is None else total + part
    return total

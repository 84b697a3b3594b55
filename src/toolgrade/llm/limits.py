"""How much may be asked at once, a minute and in all."""

from __future__ import annotations

from pydantic import Field

from toolgrade.core.model import Frozen


class Limits(Frozen):
    """Bounds on asking. `concurrency` calls in flight; `max_cost` in US dollars; None means unbounded."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)

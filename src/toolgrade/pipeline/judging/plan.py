"""What a run would ask, before anything is paid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pydantic import Field

from toolgrade.core.model import Frozen
from toolgrade.core.result import TraceResult
from toolgrade.core.verdict import Trust
from toolgrade.judges.panel import Ask, Panel
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.limits import Price, estimated_tokens
from toolgrade.llm.port import ModelRequest
from toolgrade.pipeline.judging.trusting import Trusting

ANSWER_TOKENS = 200
"""Tokens that an answer takes, for the estimate: a short reason, one or two quotes, the verdict."""

PriceOf = Callable[[str], Price | None]


class DimensionPlan(Frozen):
    """What one dimension would cost: calls that the cache lacks, about how many tokens, US dollars (None: unknown)."""

    model: str
    trust: Trust
    questions: int = 0
    distinct: int = 0
    cached: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class JudgePlan(Frozen):
    """What a run would ask. `units` are the (check x unit) pairs before gates, `open` those left to judges."""

    traces: int
    units: int
    open: int
    dimensions: dict[str, DimensionPlan] = Field(default_factory=dict)
    nobody: dict[str, int] = Field(default_factory=dict)

    @property
    def settled(self) -> int:
        """Units that gates settled: calls that need not be made."""
        return self.units - self.open

    @property
    def calls(self) -> int:
        """Calls that would be made."""
        return sum(plan.calls for plan in self.dimensions.values())

    @property
    def cost(self) -> float | None:
        """US dollars for all of them, about; None where a price is unknown."""
        parts = [plan.cost for plan in self.dimensions.values() if plan.calls]
        return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)


class Planner:
    """Counts what would be asked, trace by trace."""

    def __init__(self, panels: Mapping[str, Panel], cache: VerdictCache, trust: Trusting, price: PriceOf) -> None:
        self._panels = panels
        self._cache = cache
        self._trust = trust
        self._price = price

    def plan(self, results: Iterable[TraceResult]) -> JudgePlan:
        """Return the plan for these results of the gates.

        Raises:
            ConfigError: a question does not fit its prompt.
        """
        traces = units = left = 0
        counts: dict[str, DimensionPlan] = {}
        nobody: dict[str, int] = {}
        seen: set[str] = set()
        for result in results:
            traces += 1
            for check in result.checks.values():
                units += check.units
                left += len(check.questions)
                for question in check.questions:
                    panel = self._panels.get(question.dimension)
                    if panel is None:
                        nobody[question.dimension] = nobody.get(question.dimension, 0) + 1
                        continue
                    asks = [] if question.id in seen else panel.asks(question)
                    seen.add(question.id)
                    counts[panel.dimension.name] = self._add(counts.get(panel.dimension.name), panel, asks)
        return JudgePlan(traces=traces, units=units, open=left, dimensions=counts, nobody=nobody)

    def _add(self, so_far: DimensionPlan | None, panel: Panel, asks: list[Ask]) -> DimensionPlan:
        plan = so_far or DimensionPlan(model=panel.model, trust=self._trust.now(panel.dimension.name).level, cost=0.0)
        known = self._cache.get_many(ask.key for ask in asks)
        missing = [ask for ask in asks if ask.key not in known]
        tokens = [estimated_tokens(_request(ask)) for ask in missing]
        cost = plan.cost
        for ask, count in zip(missing, tokens, strict=True):
            price = self._price(ask.judge.settings.model)
            cost = None if cost is None or price is None else cost + price.cost(count, ANSWER_TOKENS)
        return plan.model_copy(
            update={
                "questions": plan.questions + 1,
                "distinct": plan.distinct + bool(asks),
                "cached": plan.cached + len(known),
                "calls": plan.calls + len(missing),
                "input_tokens": plan.input_tokens + sum(tokens),
                "output_tokens": plan.output_tokens + ANSWER_TOKENS * len(missing),
                "cost": cost,
            }
        )


def _request(ask: Ask) -> ModelRequest:
    return ModelRequest(model=ask.judge.settings.model, messages=ask.judge.prepare(ask.question).messages)

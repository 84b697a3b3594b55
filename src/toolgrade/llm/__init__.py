"""Asking language models: one request, one response, retries, limits and the cache of verdicts.

`open_model(limits)` gives the model that a run asks (litellm, retried, limited); `ScriptedModel` stands in
for it in tests. `VerdictCache` keeps what judges answered. Nothing here knows what a judge asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolgrade.llm.limits import Limits
    from toolgrade.llm.port import Model


def open_model(limits: Limits) -> Model:
    """Return a model that asks through litellm, within the limits, and again where a repeat may help.

    One for a run: limits and connections are shared by all requests, whatever model they name. Close it
    with `aclose()` in the event loop of the calls. litellm is imported by the first call, not here.
    """
    from toolgrade.llm.limits import LimitedModel
    from toolgrade.llm.litellm_client import LiteLLMModel, price_of
    from toolgrade.llm.retry import RetryingModel

    return RetryingModel(LimitedModel(LiteLLMModel(), limits, price_of))

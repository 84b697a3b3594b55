"""Asking language models: one request, one response, retries, limits and the cache of verdicts.

`open_model(limits)` gives the model that a run asks (litellm, retried, limited); `ScriptedModel` stands in
for it in tests. `VerdictCache` keeps what judges answered. Nothing here knows what a judge asks.
"""

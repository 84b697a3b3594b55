"""The one door to language models: calls, retries, limits, cache, and a scripted stand-in."""

"""Deterministic gates: pure functions from an expected field and a trace view to a check result."""

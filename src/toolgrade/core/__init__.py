"""Frozen values and pure functions that everything else is built on."""

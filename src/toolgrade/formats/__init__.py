"""Readers and writers of trace, case and tool files; one module a foreign format."""

"""The command line for tests of reports."""

from tests.cli.conftest import cli

__all__ = ["cli"]

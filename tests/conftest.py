"""Shared fixtures: where the real data lies, and skips that fail in CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure of a property.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs the real data sets in ../shared")
    return SHARED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """In CI a skipped test is a failed test: what is not run there is run nowhere."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report

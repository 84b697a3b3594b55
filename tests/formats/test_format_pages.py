"""Every format has a page that says what goes where and what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolgrade.formats.registry import FORMATS

PAGES = Path(__file__).resolve().parents[2] / "docs" / "formats"


@pytest.mark.parametrize("name", [format.name for format in FORMATS if format.name != "bfcl-questions"])
def test_a_page_says_what_goes_where_and_what_is_lost(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith("# ") and f"`{name}`" in page.splitlines()[0]
    assert "|---|" in page or "lost" in page.lower()

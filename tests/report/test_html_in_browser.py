"""The page as a person uses it, in headless Chromium."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.pipeline.support import GOOD, MISSING, SILENT, WRONG_VALUE
from tests.report.test_html import HOSTILE, run_of
from toolgrade.report.html import html_report

pytestmark = pytest.mark.browser
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator:  # type: ignore[type-arg]
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    session = webdriver.Chrome(options=options, service=Service(driver))
    session.set_window_size(400, 900)
    yield session
    session.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    hostile = [{"role": "user", "content": HOSTILE}, *GOOD[1:]]
    runs = [("a", GOOD), ("a", WRONG_VALUE), ("a", MISSING), ("b", SILENT), ("a", hostile), ("b", MISSING)]
    folder = tmp_path_factory.mktemp("page")
    file = folder / "report.html"
    file.write_text(html_report(run_of(folder, runs)), encoding="utf-8")
    return file.as_uri()


def rows(browser) -> list[str]:  # type: ignore[no-untyped-def]
    return browser.execute_script(
        "return [...document.querySelectorAll('#rows tr')].map(row => row.cells[0].textContent)"
    )


def test_filters_routes_and_transcripts(browser, page: str) -> None:  # type: ignore[no-untyped-def]
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(page)
    assert rows(browser) == ["a-0", "a-1", "a-2", "b-3", "a-4", "b-5"]
    browser.find_element("css selector", 'button[data-check="arguments"]').click()
    assert rows(browser) == ["a-1"]
    browser.find_element("css selector", "#all").click()
    assert len(rows(browser)) == 6
    browser.find_element("css selector", 'button[data-finding="missing_call"]').click()
    assert rows(browser) == ["a-2"]
    browser.find_element("css selector", "#all").click()
    browser.find_element("css selector", 'input[name="text"]').send_keys("no_tool")
    assert rows(browser) == ["b-3", "b-5"]
    browser.find_element("css selector", "#all").click()
    browser.get(page + "#route=no_tool%3Elook")
    WebDriverWait(browser, 10).until(lambda there: rows(there) == ["b-5"])
    assert "no_tool>look" in browser.find_element("id", "shown").text
    browser.get(page)
    browser.find_element("xpath", '//tbody[@id="rows"]//button[text()="a-1"]').click()
    told = browser.find_element("id", "transcript").text
    assert told.index("→ cancel") < told.index("wrong_value at step 2 · cancel · /id: expected A1, got A2")


def test_a_cell_of_the_heat_map_links_to_its_traces(browser, page: str) -> None:  # type: ignore[no-untyped-def]
    browser.get(page)
    links = browser.execute_script(
        "return [...document.querySelectorAll('#routes svg a')].map(a => decodeURIComponent(a.href.baseVal))"
    )
    assert "#route=no_tool>look" in links


def test_no_console_error_and_no_injection(browser, page: str) -> None:  # type: ignore[no-untyped-def]
    browser.get_log("browser")
    browser.get(page)
    browser.find_element("xpath", '//tbody[@id="rows"]//button[text()="a-4"]').click()
    assert "<script>alert(1)</script>" in browser.find_element("id", "transcript").text
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert browser.get_log("browser") == []


def test_it_fits_a_phone(browser, page: str) -> None:  # type: ignore[no-untyped-def]
    """At 400 px nothing but the tables, which scroll by themselves, is wider than the window."""
    browser.get(page)
    wide, window = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window, json.dumps([wide, window])


def test_on_a_phone_every_status_of_a_check_is_in_sight(browser, page: str) -> None:  # type: ignore[no-untyped-def]
    """Nothing undecided may hide behind a scroll: all of the checks table lies within the 400 px window."""
    browser.get(page)
    right = browser.execute_script(
        "return Math.max(...[...document.querySelectorAll('#checks td, #checks .pill')]"
        ".map(cell => cell.getBoundingClientRect().right))"
    )
    assert 0 < right <= browser.execute_script("return window.innerWidth")
    assert "1 blocked" in browser.find_element("id", "checks").text

"""How large the page of a big run is, and how soon headless Chromium has it open.

    python benchmarks/report.py [--traces 10000]

Grades the airline sample over and over under new ids, writes the page, opens it, filters its table, and prints one
line of JSON: bytes, seconds to write the page, milliseconds until the page is interactive, milliseconds for a filter.
Needs chromium and chromedriver.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolgrade.formats.cases import load_suite
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.report.html import html_report

SAMPLE = Path(__file__).parents[1] / "examples" / "airline"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
INTERACTIVE = "return performance.getEntriesByType('navigation')[0].domInteractive"
FILTER = """
const start = performance.now();
document.querySelector('[data-check="selection"]').click();
document.getElementById("rows").getBoundingClientRect();
return performance.now() - start;
"""


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "traces.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(repeated(asked.traces))
        plan = RunPlan(traces=folder / "traces.jsonl", suite=load_suite(SAMPLE / "cases.yaml"))
        graded = run(plan, folder / "run")
        start = time.perf_counter()
        page = folder / "report.html"
        page.write_text(html_report(graded.folder), encoding="utf-8")
        seconds = time.perf_counter() - start
        told = {"traces": graded.summary.traces, "bytes": page.stat().st_size, "write_s": round(seconds, 1)}
        print(json.dumps(told | opened(page, folder)))


def repeated(count: int) -> Iterator[str]:
    """Yield `count` traces: those of the sample, each time with ids and trial numbers of their own."""
    sample = [json.loads(line) for line in (SAMPLE / "traces.jsonl").read_text("utf-8").splitlines()]
    for number in range(count):
        trace = sample[number % len(sample)]
        yield json.dumps(trace | {"id": f"{trace['id']}-{number}", "trial": number}) + "\n"


def opened(page: Path, profile: Path) -> dict[str, Any]:
    """Open the page; return when it was interactive and how long a filter took, in milliseconds."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile / 'profile'}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "chromedriver"))
    try:
        browser.get(page.as_uri())
        rows = browser.execute_script("return document.querySelectorAll('#rows tr').length")
        return {
            "interactive_ms": round(browser.execute_script(INTERACTIVE)),
            "filter_ms": round(browser.execute_script(FILTER)),
            "rows_shown": rows,
        }
    finally:
        browser.quit()


if __name__ == "__main__":
    main()

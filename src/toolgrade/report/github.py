"""GitHub workflow commands: missed thresholds, what is undecided, and each failed check at its case's line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from toolgrade.core.result import TraceResult
from toolgrade.pipeline.thresholds import ThresholdResult


def github_annotations(results: Iterable[TraceResult], thresholds: Sequence[ThresholdResult]) -> Iterator[str]:
    """Yield the commands that GitHub turns into annotations.

    A failed check without a place in a case file is told without one; what is undecided is counted
    per check. The format is that of
    https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
    """
    for threshold in thresholds:
        if threshold.outcome != "met":
            yield _command("error", {"title": f"toolgrade {threshold.name}"}, threshold.message)
    undecided: Counter[tuple[str, str]] = Counter()
    for result in results:
        file, _, line = (result.case_place or "").rpartition(":")
        place = {"file": file, "line": line} if file else {}
        for check in result.checks.values():
            if check.status == "failed":
                told = "\n".join(f"{finding}\n{finding.advice}" for finding in check.findings)
                yield _command("warning", {**place, "title": f"{check.check} failed in {result.trace_id}"}, told)
            elif check.status in ("trace_error", "judge_error"):
                title = f"{check.check} {check.status} in {result.trace_id}"
                yield _command("error", {**place, "title": title}, check.reason or check.status)
            elif check.status in ("unknown", "blocked"):
                undecided[check.check, check.status] += 1
    for (name, status), count in undecided.items():
        yield _command(
            "notice", {"title": f"{name} {status} in {count} traces"}, "Neither passed nor failed: they enter no rate."
        )


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    told = ",".join(
        f"{name}={_escape(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{kind} {told}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

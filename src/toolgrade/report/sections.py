"""What the page's sections show of single findings: claims, episodes, broken orders and waste, each with a trace."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from toolgrade.core.finding import Finding, brief
from toolgrade.core.printable import printable
from toolgrade.core.result import TraceResult

MOST_CLAIMS = 200


class Claim(NamedTuple):
    """A claim in an answer beside the value that the payload holds; `row` is the number of its trace."""

    row: int
    trace: str
    finding: str
    claim: str
    payload: str
    where: str


class Path(NamedTuple):
    """What failed, what followed, and how it was judged: a finding, `left to a judge` or `well`."""

    kind: str
    tool: str
    stages: tuple[str, ...]
    outcome: str


class Breach(NamedTuple):
    """A broken order or waste of calls: the finding, and the constraint, tool or budget that it is about."""

    finding: str
    about: str


class Seen(NamedTuple):
    """How often something occurred, and one trace to look at."""

    times: int
    row: int
    trace: str


class Sections:
    """Adds up what the sections show, trace by trace. `claims` holds the first MOST_CLAIMS of `claim_count`."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.claim_count = 0
        self.paths: dict[Path, Seen] = {}
        self.breaches: dict[Breach, Seen] = {}

    def add(self, row: int, result: TraceResult) -> None:
        """Count one trace, the `row`-th of the page."""
        for name, checked in result.checks.items():
            if name == "utilization":
                for finding in checked.findings:
                    self._claim(row, result.trace_id, finding)
            elif name == "recovery":
                for episode in checked.detail.get("episodes", ()):
                    _count(self.paths, _path(episode), row, result.trace_id)
            elif name in ("ordering", "efficiency"):
                for finding in checked.findings:
                    _count(self.breaches, Breach(finding.name, _about(finding)), row, result.trace_id)

    def _claim(self, row: int, trace: str, finding: Finding) -> None:
        self.claim_count += 1
        if len(self.claims) < MOST_CLAIMS:
            place = finding.place
            where = " · ".join(filter(None, (f"step {place.step}", place.tool, place.pointer)))
            said = brief(finding.actual) + (f" ({finding.note})" if finding.note else "")
            self.claims.append(
                Claim(row, trace, finding.name, printable(said), brief(finding.expected), printable(where))
            )

    def stages(self) -> tuple[list[str], list[tuple[str, Counter[str]]]]:
        """Return the columns (outcomes, then kinds of error) and in how many episodes each stage met them."""
        table: dict[str, Counter[str]] = {}
        for path, seen in self.paths.items():
            for stage in dict.fromkeys(path.stages):
                table.setdefault(stage, Counter()).update({path.kind: seen.times, path.outcome: seen.times})
        kinds, outcomes = sorted({path.kind for path in self.paths}), sorted({path.outcome for path in self.paths})
        return [*outcomes, *kinds], sorted(table.items())

    def commonest_paths(self, most: int = 30) -> list[tuple[Path, Seen]]:
        """Return the paths of the most episodes, those with a finding first."""
        found = sorted(
            self.paths.items(), key=lambda item: (item[0].outcome in ("well", OPEN), -item[1].times, item[0])
        )
        return found[:most]

    def commonest_breaches(self, most: int = 40) -> list[tuple[Breach, Seen]]:
        """Return the broken orders and the waste that occurred most."""
        return sorted(self.breaches.items(), key=lambda item: (-item[1].times, item[0]))[:most]


OPEN = "left to a judge"


def _count(seen: dict[Any, Seen], what: Any, row: int, trace: str) -> None:
    before = seen.get(what, Seen(0, row, trace))
    seen[what] = before._replace(times=before.times + 1)


def _path(episode: dict[str, Any]) -> Path:
    outcome = episode.get("finding") or (OPEN if episode.get("open") else "well")
    stages = tuple(printable(str(stage)) for stage in episode.get("stages", ()))
    return Path(printable(str(episode.get("kind"))), printable(str(episode.get("tool") or "")), stages, str(outcome))


def _about(finding: Finding) -> str:
    """Name the constraint of an order, the tool of a loop, the budget that was passed."""
    if finding.check == "ordering":
        return f"{brief(finding.expected)} {printable(finding.place.tool or '')}"
    return printable(finding.place.tool) if finding.place.tool else brief(finding.expected)

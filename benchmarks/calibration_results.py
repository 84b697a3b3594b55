"""Raters, recorded judges, panels and corrected rates on real data, as the tables in docs/calibration-results.md.

Run from the checkout: python benchmarks/calibration_results.py ../shared/data
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from real_judges import number
from tests.calibration import real_sets as real
from tests.calibration.test_real_agreement import NEGATIVE, NEITHER, POSITIVE, d2t

from toolgrade.assets import root
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.store import Store
from toolgrade.stats.bootstrap import Array, Bootstrap
from toolgrade.stats.corrected import Design, corrected_rate
from toolgrade.stats.correction import Judged
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.judging import CATEGORIES, kappa_estimate
from toolgrade.stats.paired import compare_judges
from toolgrade.stats.pairs import pairs

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TRIALS, EVALUATED, LABELLED = 1000, 500, 60

Words = Mapping[str, str]


def table(title: str, *columns: str) -> None:
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def line(*cells: object) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |")


def kappa_of(one: Words, two: Words, categories: Sequence[str] = CATEGORIES) -> Estimate:
    """κ on the items that both rated; the trace of an item is its id without the last part."""
    ids = sorted(set(one) & set(two))
    traces = [i.rsplit("/", 1)[0] for i in ids]
    found = pairs([one[i] for i in ids], [two[i] for i in ids], categories, traces)
    return kappa_estimate(found, Bootstrap(found.rows, np.random.default_rng(0)))


def double(data: Path) -> tuple[Words, Words]:
    said: dict[str, list[str]] = {}
    for record in real.lines(data / "quintd/human_double.jsonl"):
        said.setdefault(real.quintd_key(record), []).append(real.flagged(record))
    return {key: words[0] for key, words in said.items()}, {key: words[1] for key, words in said.items()}


def raters(data: Path) -> None:
    table("Rater against rater", "who", "n", "κ", "published")
    items = json.loads((data / "pandalm/testset-v1.json").read_text(encoding="utf-8"))
    people = {i: {str(n): str(item[f"annotator{i}"]) for n, item in enumerate(items)} for i in (1, 2, 3)}
    published = {(1, 2): "0.85", (1, 3): "0.88", (2, 3): "0.86"}
    for (one, two), value in published.items():
        found = kappa_of(people[one], people[two], ("0", "1", "2"))
        line(f"PandaLM, annotators {one} and {two}", found.n, number(found), value)
    cold, warm = (real.quintd_verdicts(data / "quintd", f"gpt-4-1106-preview{t}") for t in ("", "_temperature1"))
    groups, _ = d2t(data.parent)
    for name, (a, b) in {
        "quintd, gpt-4 at T = 0 and at T = 1": (cold, warm),
        "quintd, two people": double(data),
        "d2t_eval, two groups of people": (groups["0"], groups["1"]),
    }.items():
        found = kappa_of(a, b)
        line(name, found.n, number(found), "–")


def livemcpbench(data: Path) -> None:
    table("LiveMCPBench, 95 tasks", "judge", "agreement here, %", "published, %", "κ", "FAIL recall", "level")
    with (data / "livemcpbench/human_agreement.csv").open(encoding="utf-8") as file:
        published = {row["Model"]: row["human_agreement"] for row in csv.DictReader(file)}
    records = list(real.lines(data / "livemcpbench/judge_verdicts.jsonl"))
    human = {r["task_id"]: "pass" if r["human"] == "success" else "fail" for r in records}
    labels = real.label_set("livemcp", {i: (i, {}) for i in human}, [(i, "human", word) for i, word in human.items()])
    judges = {r["judge_model"] for r in records}
    for judge in sorted(judges, key=lambda name: (-float(published[name]), name)):
        words = {r["task_id"]: "pass" if r["reward"] else "fail" for r in records if r["judge_model"] == judge}
        run = calibrate(labels, real.verdicts(words), recorded_judge(judge, "1.0"), [], NOW)
        stats = run.measurement.stats
        agreement = f"{100 * (stats['accuracy'].value or 0):.2f}"
        kappa, recall = number(stats["kappa"]), number(stats["fail_recall"])
        line(judge, agreement, published[judge], kappa, recall, run.decision.level)


def d2t_eval(data: Path) -> None:
    groups, judges = d2t(data.parent)
    both = {i: word for i, word in groups["0"].items() if i in groups["1"]}
    columns = ("judge", "κ with group 0", "κ with group 1")
    table("d2t_eval, six judges and two groups of people, on the 316 texts of both", *columns)
    for name, words in judges.items():
        line(name, *(number(kappa_of(people, words)) for people in (both, groups["1"])))
    table("d2t_eval, votes of the six", "fails when", "κ gained over the best single judge")
    ids = sorted(groups["0"])
    human, traces = [groups["0"][i] for i in ids], [i.rsplit("/", 1)[0] for i in ids]
    best = [judges["gemini-2-0-flash-thinking"][i] for i in ids]
    for k in range(1, 7):
        panel = {i: "fail" if sum(words[i] == "fail" for words in judges.values()) >= k else "pass" for i in ids}
        gain = compare_judges(human, best, [panel[i] for i in ids], traces, np.random.default_rng(1)).kappa
        line(f"{k} of 6 say so", number(gain))


class Cell(NamedTuple):
    """One judge in one domain: whether each run succeeded, and whether the judge passed it."""

    prompt: str
    domain: str
    truth: Array
    said: Array


def tau2_cells(data: Path) -> Iterator[Cell]:
    words = {**POSITIVE, **NEGATIVE, **NEITHER}
    records = list(real.lines(data / "tau2_judge_vs_reward/judge_verdicts.jsonl"))
    for prompt in sorted({r["judge_prompt_name"] for r in records}):
        for domain in ("airline", "retail", "telecom"):
            mine = [r for r in records if (r["judge_prompt_name"], r["domain"]) == (prompt, domain)]
            decided = [(r["tau2_success"], words.get(w := r["judge_verdict"], w)) for r in mine]
            kept = np.array([(bool(won), word == "pass") for won, word in decided if word in CATEGORIES], dtype=float)
            yield Cell(prompt, domain, kept[:, 0], kept[:, 1])


def picked(cell: Cell, runs: Array, design: Design, rng: np.random.Generator) -> Array:
    """Return the places in `runs` of those that people label."""
    if design == "random":
        return rng.choice(len(runs), LABELLED, replace=False)
    by = (cell.said if design == "verdict_stratified" else cell.truth)[runs]
    groups = [np.flatnonzero(by == value) for value in (0, 1)]
    return np.concatenate([rng.choice(g, min(len(g), LABELLED // 2), replace=False) for g in groups])


def simulate(cell: Cell, design: Design, rng: np.random.Generator) -> str:
    rate, covered, widths, alone = cell.truth.mean(), [], [], []
    for _ in range(TRIALS):
        runs = rng.choice(len(cell.truth), EVALUATED)
        chosen = runs[picked(cell, runs, design, rng)]
        counts = np.zeros((2, 2))
        np.add.at(counts, (cell.truth[chosen].astype(int), cell.said[chosen].astype(int)), 1)
        made = corrected_rate(Judged(int(cell.said[runs].sum()), EVALUATED), counts, design)
        if made.corrected.interval is not None:
            covered.append(made.corrected.interval.low <= rate <= made.corrected.interval.high)
            widths.append(made.corrected.interval.width)
        if made.human_only.interval is not None:
            alone.append(made.human_only.interval.width)
    lost = 1 - len(covered) / TRIALS
    if lost > 0.5:
        return f"refused in {lost:.0%}"
    refused = f", refused in {lost:.0%}" if lost > 0.005 else ""
    people = f", people alone {np.mean(alone):.2f}" if alone else ""
    return f"{np.mean(covered):.1%} (width {np.mean(widths):.2f}{people}{refused})"


def tau2(data: Path) -> None:
    table(
        f"τ², corrected pass rates: {EVALUATED} runs drawn from the recorded ones, {LABELLED} of them labelled",
        *("prompt", "domain", "runs", "true rate", "judge's raw rate"),
        *("labelled at random", "30 a verdict", "30 a label"),
    )
    rng = np.random.default_rng(20261130)
    for cell in tau2_cells(data):
        designs: tuple[Design, ...] = ("random", "verdict_stratified", "label_stratified")
        told = [simulate(cell, design, rng) for design in designs]
        line(cell.prompt, cell.domain, len(cell.truth), f"{cell.truth.mean():.3f}", f"{cell.said.mean():.3f}", *told)


def shipped() -> None:
    table(
        "Recorded judges on the shipped quintd set", "judge", "stratum", "n", "κ", "FAIL recall", "PASS recall", "level"
    )
    store = Store(Path("nowhere"), root("calibration"))
    labels: LabelSet = store.label_set("result_utilization", "quintd")
    reasons = {}
    for judge, file in sorted(store.recorded("result_utilization", "quintd").items()):
        run = calibrate(labels, read_verdicts(file), recorded_judge(judge, "1.0"), [], NOW)
        reasons[judge] = run.decision.reasons
        parts = {"all": (run.measurement, run.decision)}
        parts |= {name: (part.measurement, part.decision) for name, part in run.strata.items()}
        for name, (measured, decision) in parts.items():
            stats = [number(measured.stats[key]) for key in ("kappa", "fail_recall", "pass_recall")]
            line(judge, name, sum(measured.counts.values()), *stats, decision.level)
    for judge, found in reasons.items():
        print(f"\n`{judge}`: {', '.join(found)}", end="")
    print()


def main() -> None:
    data = Path(sys.argv[1])
    shipped()
    for part in (raters, livemcpbench, d2t_eval, tau2):
        part(data)


if __name__ == "__main__":
    main()

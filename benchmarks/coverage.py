"""Simulated coverage of each interval: how often it holds the true value. One JSON line each.

Run: python benchmarks/coverage.py [--trials 1000] [--tau2 PATH/judge_verdicts.jsonl]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from toolgrade.stats.agreement import correlation, divide, gwet, kappa
from toolgrade.stats.bootstrap import Array, Bootstrap, bca
from toolgrade.stats.budget import recall_table
from toolgrade.stats.correction import Judged, post_stratified, prediction_powered, recalls_of, rogan_gladen
from toolgrade.stats.estimate import Estimate, Interval
from toolgrade.stats.intervals import add_half
from toolgrade.stats.judging import CATEGORIES, judge_agreement
from toolgrade.stats.ordinal import ordinal_agreement
from toolgrade.stats.paired import agresti_min
from toolgrade.stats.pairs import Pairs, pairs
from toolgrade.stats.rates import clustered_rate, wilson

CELLS = (("fail", "fail"), ("fail", "pass"), ("pass", "fail"), ("pass", "pass"))
SCENARIOS = {
    "balanced, good judge": recall_table(0.95, 0.90, 0.5),
    "balanced, fair judge": recall_table(0.85, 0.75, 0.5),
    "20 % fail, good judge": recall_table(0.95, 0.90, 0.2),
    "20 % fail, fair judge": recall_table(0.90, 0.70, 0.2),
    "10 % fail, good judge": recall_table(0.95, 0.85, 0.1),
}


class Tally:
    """Counts intervals that hold the truth, and on which side the others miss."""

    def __init__(self) -> None:
        self.inside = self.below = self.above = self.none = 0
        self.widths: list[float] = []

    def add(self, interval: Interval | None, truth: float) -> None:
        if interval is None:
            self.none += 1
            return
        self.widths.append(interval.width)
        # A truth below the lower limit is the miss that would trust a judge too much.
        self.below += truth < interval.low - 1e-12
        self.above += truth > interval.high + 1e-12
        self.inside += interval.low - 1e-12 <= truth <= interval.high + 1e-12

    def row(self) -> dict[str, float]:
        n = max(1, len(self.widths))
        return {
            "trials": len(self.widths),
            "undefined": self.none,
            "coverage": round(self.inside / n, 4),
            "lower_limit_misses": round(self.below / n, 4),
            "upper_limit_misses": round(self.above / n, 4),
            "mean_width": round(float(np.mean(self.widths)), 4) if self.widths else 0.0,
        }


def out(interval: str, scenario: str, n: int, tally: Tally) -> None:
    print(
        json.dumps({"interval": interval, "scenario": scenario, "n": n, **tally.row()}, ensure_ascii=False), flush=True
    )


def sample(table: Array, n: int, rng: np.random.Generator) -> Pairs:
    drawn = [CELLS[i] for i in rng.choice(4, n, p=table.ravel())]
    return pairs([h for h, _ in drawn], [j for _, j in drawn], CATEGORIES)


def truths(table: Array) -> dict[str, float]:
    (ff, fp), (pf, pp) = table
    recall, passing = ff / (ff + fp), pp / (pf + pp)
    return {
        "kappa": float(kappa(table)),
        "fail_recall": recall,
        "pass_recall": passing,
        "youden_j": recall + passing - 1,
        "accuracy": ff + pp,
        "mcc": float(correlation(table)),
        "ac1": float(gwet(table)),
        "fail_f1": 2 * ff / (2 * ff + fp + pf),
    }


def _youden(cells: Array) -> Array:
    recall = divide(cells[..., 0], cells[..., 0] + cells[..., 1])
    return np.asarray(recall + divide(cells[..., 3], cells[..., 2] + cells[..., 3]) - 1)


def agreement(trials: int, rng: np.random.Generator) -> None:
    for name, table in SCENARIOS.items():
        truth = truths(table)
        for n in (30, 50, 100, 200):
            tallies = {key: Tally() for key in (*truth, "add_half", "bca_j")}
            for _ in range(trials):
                both = sample(table, n, rng)
                found = judge_agreement(both, rng)
                for key, value in truth.items():
                    if found[key].value is not None:
                        tallies[key].add(found[key].interval, value)
                tallies["add_half"].add(add_half(both.total).interval, truth["kappa"])
                tallies["bca_j"].add(Bootstrap(both.rows, rng).interval(_youden), truth["youden_j"])
            labels = {
                "kappa": "κ, BCa with fallback",
                "add_half": "κ, add ½ (cross-check)",
                "fail_recall": "FAIL recall, Wilson",
                "pass_recall": "PASS recall, Wilson",
                "youden_j": "J, MOVER",
                "bca_j": "J, BCa (not used)",
                "accuracy": "accuracy, Wilson",
                "mcc": "MCC, BCa",
                "ac1": "AC1, BCa",
                "fail_f1": "FAIL F1, BCa",
            }
            for key, label in labels.items():
                out(label, name, n, tallies[key])


def clustered(trials: int, rng: np.random.Generator) -> None:
    """Traces of several items that share their label and mostly the judge's error."""
    table = SCENARIOS["balanced, fair judge"]
    truth = float(kappa(table))
    for traces, size in ((50, 4), (20, 10), (100, 4)):
        by_item, by_trace = Tally(), Tally()
        for _ in range(trials):
            cells = rng.choice(4, traces, p=table.ravel())
            own = rng.choice(4, (traces, size), p=table.ravel())
            keep = rng.random((traces, size)) < 0.8
            drawn = np.where(keep, cells[:, None], own).ravel()
            human, judge = [CELLS[i][0] for i in drawn], [CELLS[i][1] for i in drawn]
            names = [i // size for i in range(len(drawn))]
            by_item.add(judge_agreement(pairs(human, judge, CATEGORIES), rng)["kappa"].interval, truth)
            by_trace.add(judge_agreement(pairs(human, judge, CATEGORIES, names), rng)["kappa"].interval, truth)
        out("κ, BCa by item (wrong here)", f"{traces} traces x {size}", traces * size, by_item)
        out("κ, BCa by trace", f"{traces} traces x {size}", traces * size, by_trace)


def rates(trials: int, rng: np.random.Generator) -> None:
    """Pass rates of cases with four trials each; a case's own rate varies by a beta distribution."""
    for rate in (0.5, 0.9):
        for cases in (25, 50, 100):
            plain, by_case, means = Tally(), Tally(), Tally()
            for _ in range(trials):
                own = rng.beta(rate, 1 - rate, cases)
                passed = rng.binomial(4, own)
                plain.add(wilson(int(passed.sum()), 4 * cases), rate)
                rows = [(int(p), 4) for p in passed]
                by_case.add(clustered_rate(rows, 4 * cases, rng).clustered, rate)
                means.add(bca(np.column_stack([passed / 4, np.ones(cases)]), _ratio, rng), rate)
            out("pass rate, Wilson (ignores cases)", f"rate {rate}", cases, plain)
            out("pass rate, BCa by case", f"rate {rate}", cases, by_case)
            out("pass^1, BCa over cases", f"rate {rate}", cases, means)


def _ratio(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / totals[..., 1])


def differences(trials: int, rng: np.random.Generator) -> None:
    for worse, better in ((0.05, 0.10), (0.02, 0.02)):
        for n in (50, 100, 200):
            tally = Tally()
            for _ in range(trials):
                counts = rng.multinomial(n, [worse, better, 1 - worse - better])
                tally.add(agresti_min(int(counts[0]), int(counts[1]), n), better - worse)
            out("accuracy difference, Agresti-Min", f"worse {worse}, better {better}", n, tally)


Estimator = Callable[[Judged, Array], Estimate]


def _rg(judged: Judged, table: Array) -> Estimate:
    recalls = recalls_of(table)
    return rogan_gladen(judged, recalls) if recalls else Estimate(reason="missing_class")


def _ppi(judged: Judged, table: Array) -> Estimate:
    found = prediction_powered(judged, table).estimate
    return post_stratified(judged, table) if "few_disagreements" in found.flags else found


ESTIMATORS: dict[str, Estimator] = {
    "Rogan-Gladen (Lee)": _rg,
    "post-stratified": post_stratified,
    "PPI++ (PS where few disagree)": _ppi,
}


def corrections(trials: int, rng: np.random.Generator) -> None:
    """Each estimator under each design: labels at random, balanced by the human label, or by the verdict."""
    population, labelled = 1000, 100
    for fail_rate in (0.3, 0.15):
        table = recall_table(0.9, 0.8, fail_rate)
        for design in ("random", "balanced by label", "balanced by verdict"):
            tallies = {name: Tally() for name in ESTIMATORS}
            for _ in range(trials):
                judged = Judged(int(rng.binomial(population, table[:, 1].sum())), population)
                counts = _labelled(table, labelled, design, rng)
                for name, estimator in ESTIMATORS.items():
                    tallies[name].add(estimator(judged, counts).interval, 1 - fail_rate)
            for name, tally in tallies.items():
                out(f"{name}, labels {design}", f"FAIL share {fail_rate}", labelled, tally)


def _labelled(table: Array, n: int, design: str, rng: np.random.Generator) -> Array:
    if design == "random":
        return np.asarray(rng.multinomial(n, table.ravel()).reshape(2, 2), dtype=float)
    if design == "balanced by label":
        rows = [rng.multinomial(n // 2, row / row.sum()) for row in table]
        return np.asarray(rows, dtype=float)
    columns = [rng.multinomial(n // 2, column / column.sum()) for column in table.T]
    return np.asarray(columns, dtype=float).T


LEVELS = ("1", "2", "3", "4")
ORDINAL = {
    "near misses": (0.75, 0.2, 0.04, 0.01),
    "far misses": (0.75, 0.09, 0.08, 0.08),
}
"""Chances that the judge is so many levels away; people say 40, 30, 20 and 10 % of the levels from the best down."""


def ordinal(trials: int, rng: np.random.Generator) -> None:
    """Weighted κ, AC2 and ordinal α of four levels, of which the lowest is rare."""
    for name, away in ORDINAL.items():
        distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
        table = np.array([0.1, 0.2, 0.3, 0.4])[:, None] * _rows_to_one(np.array(away)[distance])
        # A table of very many items stands for the population: α counts items.
        exact = ordinal_agreement(_levels_of(table.ravel() * 1e6), rng)
        for n in (50, 100, 200):
            tallies = {key: Tally() for key in exact}
            for _ in range(trials):
                found = ordinal_agreement(_levels_of(rng.multinomial(n, table.ravel())), rng)
                for key, tally in tallies.items():
                    truth = exact[key].value
                    assert truth is not None
                    tally.add(found[key].interval, truth)
            for key, tally in tallies.items():
                out(f"levels: {key.replace('_', ', ')}, BCa", name, n, tally)


def _rows_to_one(table: Array) -> Array:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _levels_of(counts: Array) -> Pairs:
    """Return the pairs of a table of counts; whole cells where there are very many."""
    if counts.sum() > 1e5:
        return Pairs(LEVELS, counts.reshape(1, 4, 4), int(counts.sum()), float(counts.sum()), False, False)
    cells = np.repeat(np.arange(16), counts.astype(int))
    return pairs([LEVELS[i // 4] for i in cells], [LEVELS[i % 4] for i in cells], LEVELS)


WORDS = {
    "pass": "pass", "satisfied": "pass", "satisfactory": "pass", "compliant": "pass", "correct": "pass",
    "fail": "fail", "unsatisfactory": "fail", "failure": "fail", "unsatisfied": "fail",
}  # fmt: skip


def real_corrections(path: Path, trials: int, rng: np.random.Generator) -> None:
    """Recorded verdicts against the deterministic reward: label 60 at random, correct, look at the true rate."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for prompt in sorted({r["judge_prompt_name"] for r in records}):
        for domain in ("retail", "telecom"):
            mine = [r for r in records if (r["judge_prompt_name"], r["domain"]) == (prompt, domain)]
            both = [(r["tau2_success"], WORDS.get(r["judge_verdict"])) for r in mine]
            both = [(truth, word == "pass") for truth, word in both if word is not None]
            rate = float(np.mean([truth for truth, _ in both]))
            judged = Judged(sum(said for _, said in both), len(both))
            tally = Tally()
            for _ in range(trials):
                picked = rng.choice(len(both), 60, replace=False)
                table = np.zeros((2, 2))
                for i in picked:
                    table[int(both[i][0]), int(both[i][1])] += 1
                tally.add(_ppi(judged, table).interval, rate)
            raw = f"true rate {rate:.3f}, judge {judged.share:.3f}"
            out(f"corrected rate, {prompt}, {domain}", raw, len(both), tally)


def print_table(path: Path) -> None:
    """One line an interval and n: the range of coverage over the scenarios, and the worst miss of a lower limit."""
    groups: dict[tuple[str, int], list[dict[str, float]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        groups.setdefault((row["interval"], row["n"]), []).append(row)
    print("| interval | n | coverage | lower limit misses, at most | scenarios |\n|---|---|---|---|---|")
    for (name, n), rows in groups.items():
        shares = sorted(row["coverage"] for row in rows)
        span = f"{shares[0]:.1%}" if len(shares) == 1 else f"{shares[0]:.1%} to {shares[-1]:.1%}"
        print(f"| {name} | {n} | {span} | {max(row['lower_limit_misses'] for row in rows):.1%} | {len(rows)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--table", type=Path, help="print what an earlier run wrote as a table, simulate nothing")
    parser.add_argument("--tau2", type=Path, help="recorded tau2 verdicts, for coverage on real judges")
    given = parser.parse_args()
    if given.table:
        print_table(given.table)
        return
    rng = np.random.default_rng(20261130)
    for part in (agreement, clustered, rates, differences, corrections):
        part(given.trials, rng)
    if given.tau2:
        real_corrections(given.tau2, given.trials, rng)
    ordinal(given.trials, np.random.default_rng(20261202))


if __name__ == "__main__":
    main()

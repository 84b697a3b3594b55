"""Recorded judges against people on real data, as the first table in docs/calibration-results.md.

Run from the checkout: python benchmarks/real_judges.py ../shared/data
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.calibration import real_sets as real
from tests.calibration.test_real_agreement import NEGATIVE, NEITHER, POSITIVE, d2t

from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.measure import Measurement
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.paired import compare_judges
from toolgrade.stats.panel import effective_judges

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def number(estimate: Estimate) -> str:
    return str(estimate) if estimate.value is not None else "undefined"


def row(name: str, measured: Measurement, level: str) -> None:
    stats = measured.stats
    cells = [
        name,
        str(sum(measured.counts.values())),
        f"{stats['accuracy'].value or 0:.3f}",
        *(number(stats[key]) for key in ("kappa", "fail_recall", "pass_recall")),
        level,
    ]
    print("| " + " | ".join(cells) + " |")


def show(name: str, labels: LabelSet, words: dict[str, str]) -> None:
    run = calibrate(labels, real.verdicts(words), recorded_judge(name, "1.0"), [], NOW)
    row(name, run.measurement, run.decision.level)
    for part, stratum in run.strata.items():
        row(f"– {part.partition('=')[2]}", stratum.measurement, stratum.decision.level)


def quintd(data: Path) -> None:
    labels = real.quintd(data / "quintd")
    for judge in ("gpt-4-1106-preview", "gpt-4-1106-preview_temperature1", "gpt-3.5", "llama3"):
        show(f"quintd, {judge}", labels, real.quintd_verdicts(data / "quintd", judge))


def tau2(data: Path) -> None:
    records = list(real.lines(data / "tau2_judge_vs_reward/judge_verdicts.jsonl"))
    truth = {r["simulation_id"]: "pass" if r["tau2_success"] else "fail" for r in records}
    domains = {r["simulation_id"]: {"domain": r["domain"]} for r in records}
    items = {i: (i, domains[i]) for i in truth}
    labels = real.label_set("tau2", items, [(i, "r", w) for i, w in truth.items()], strata=("domain",), human=False)
    words = {**POSITIVE, **NEGATIVE, **NEITHER}
    for prompt in sorted({r["judge_prompt_name"] for r in records}):
        mine = [r for r in records if r["judge_prompt_name"] == prompt]
        show(f"τ² reward, {prompt}", labels, {r["simulation_id"]: words.get(w := r["judge_verdict"], w) for r in mine})


def d2t_eval(data: Path) -> None:
    groups, judges = d2t(data.parent)
    items = {i: (i.rsplit("/", 1)[0], {}) for i in groups["0"]}
    labels = real.label_set("d2t", items, [(i, "0", w) for i, w in groups["0"].items()])
    for name, words in judges.items():
        show(f"d2t_eval, {name}", labels, words)
    best = judges["gemini-2-0-flash-thinking"]
    ids = sorted(groups["0"])
    human, traces = [groups["0"][i] for i in ids], [i.rsplit("/", 1)[0] for i in ids]
    gains = []
    for k in range(1, 7):
        votes = {i: sum(words[i] == "fail" for words in judges.values()) for i in ids}
        panel = {i: "fail" if votes[i] >= k else "pass" for i in ids}
        show(f"d2t_eval, fail by {k} of 6", labels, panel)
        found = compare_judges(human, [best[i] for i in ids], [panel[i] for i in ids], traces, np.random.default_rng(1))
        gains.append(f"{k} of 6: {number(found.kappa)}")
    size = effective_judges([[int(words[i] != groups["0"][i]) for i in ids] for words in judges.values()])
    print(f"\nSix judges are worth {size.kish:.2f} (Kish) or {size.eigen:.2f} (eigenvalue) independent votes.")
    print("κ gained over the best single judge:", "; ".join(gains))


def main() -> None:
    data = Path(sys.argv[1])
    print("| judge | n | accuracy | κ | FAIL recall | PASS recall | level |\n|---|---|---|---|---|---|---|")
    for part in (quintd, tau2, d2t_eval):
        part(data)


if __name__ == "__main__":
    main()

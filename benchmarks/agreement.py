"""Time 2,000 resamples of κ with its BCa interval; one JSON line. Run: python benchmarks/agreement.py."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import cohen_kappa_score

from toolgrade.stats.agreement import kappa
from toolgrade.stats.bootstrap import Bootstrap
from toolgrade.stats.judging import CATEGORIES, judge_agreement
from toolgrade.stats.pairs import pairs

N = 300
RESAMPLES = 2000


def milliseconds(work: Callable[[], object], repeats: int = 20) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return round(best * 1000, 3)


def main() -> None:
    rng = np.random.default_rng(0)
    human = ["fail" if x < 0.3 else "pass" for x in rng.random(N)]
    judge = [h if x < 0.85 else CATEGORIES[1 - CATEGORIES.index(h)] for h, x in zip(human, rng.random(N), strict=True)]
    traces = [number // 4 for number in range(N)]
    single, clustered = pairs(human, judge, CATEGORIES), pairs(human, judge, CATEGORIES, traces)

    def of_kappa(rows: np.ndarray) -> object:
        return Bootstrap(rows, rng, RESAMPLES).interval(lambda t: kappa(t.reshape(*t.shape[:-1], 2, 2)))

    def loop() -> None:
        one, two = np.array(human), np.array(judge)
        for _ in range(RESAMPLES // 20):
            drawn = rng.integers(0, N, N)
            cohen_kappa_score(one[drawn], two[drawn], labels=list(CATEGORIES))

    print(
        json.dumps(
            {
                "benchmark": "agreement",
                "n": N,
                "resamples": RESAMPLES,
                "kappa_bca_ms": milliseconds(lambda: of_kappa(single.rows)),
                "kappa_bca_by_trace_ms": milliseconds(lambda: of_kappa(clustered.rows)),
                "all_statistics_ms": milliseconds(lambda: judge_agreement(single, rng)),
                "sklearn_loop_ms": milliseconds(loop, repeats=1) * 20,
            }
        )
    )


if __name__ == "__main__":
    main()

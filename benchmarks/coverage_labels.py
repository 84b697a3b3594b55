"""Simulated coverage where labels correct a judge: two versions of a system, and labels of unequal chances.

Run: python benchmarks/coverage_labels.py [--trials 1000], and add what it prints to that of coverage.py.
"""

from __future__ import annotations

import argparse

import numpy as np
from coverage import Tally, out

from toolgrade.calibration.labelled import Labelled
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.correction import Judged, recalls_of, rogan_gladen
from toolgrade.stats.estimate import Interval
from toolgrade.stats.versions import PairedTraces, version_difference

VERSIONS = {
    "no change": (0.2, 0.02, 0.08),
    "10 % of the passes lost": (0.2, 0.10, 0.0),
    "20 % lost, 5 % gained": (0.2, 0.20, 0.05),
    "few failures, 30 % lost": (0.1, 0.30, 0.0),
}
"""FAIL share of the base, share of its passes that the candidate loses, share of its failures that it mends."""


def versions(trials: int, rng: np.random.Generator) -> None:
    """Two versions on the same cases, two trials each, under one judge: PASS recall .95, FAIL recall .85.

    80 % of the traces whose truth did not change get the same verdict again. 100 labels calibrate the judge. For
    PPI++, people label half of the pairs, picked at random; where few of them differ, it gives way to the recalls.
    """
    for name, shares in VERSIONS.items():
        for cases in (100, 200):
            tallies = _version_tallies((cases, trials), shares, rng)
            for label, tally in tallies.items():
                out(f"difference of versions, {label}", name, 2 * cases, tally)


def _version_tallies(
    size: tuple[int, int], shares: tuple[float, float, float], rng: np.random.Generator
) -> dict[str, Tally]:
    (cases, trials), (failing, lost, mended) = size, shares
    truth = failing * mended - (1 - failing) * lost
    labels = ("shared recalls, joint", "PPI++ on labelled pairs", "variances added", "as judged, uncorrected")
    tallies = {label: Tally() for label in labels}
    for _ in range(trials):
        # The trials of a case share their truth mostly, so that cases, not trials, are independent.
        base, after = _two_truths(cases, 2, shares, rng)
        said = [_said(base, rng), _said(after, rng)]
        same = (base == after) & (rng.random(len(base)) < 0.8)
        said[1] = np.where(same, said[0], said[1])
        cells = _calibration(100, rng)
        names = [i // 2 for i in range(len(base))]
        plain = PairedTraces(names, said[0], said[1], np.full(len(base), np.nan))
        found = version_difference(plain, cells, "label_stratified", rng)
        tallies["shared recalls, joint"].add(found.corrected.interval, truth)
        tallies["as judged, uncorrected"].add(found.raw.interval, truth)
        tallies["variances added"].add(_added(said, cells), truth)
        labelled = np.where(rng.permutation(len(base)) < cases, after - base, np.nan)
        powered = version_difference(plain._replace(people=labelled), cells, "random", rng)
        tallies["PPI++ on labelled pairs"].add(powered.corrected.interval, truth)
    return tallies


def _two_truths(cases: int, size: int, shares: tuple[float, float, float], rng: np.random.Generator) -> list[Array]:
    failing, lost, mended = shares

    def drawn(probability: Array | float) -> Array:
        whole, own = rng.random((cases, 1)), rng.random((cases, size))
        return np.where(rng.random((cases, size)) < 0.5, whole, own) < probability

    base = ~drawn(failing)
    after = np.where(base, ~drawn(lost), drawn(mended))
    return [base.ravel().astype(float), after.ravel().astype(float)]


def _said(truth: Array, rng: np.random.Generator) -> Array:
    chance = rng.random(len(truth))
    return np.where(truth == 1, chance < 0.95, chance >= 0.85).astype(float)


def _calibration(n: int, rng: np.random.Generator) -> Array:
    truth = np.repeat([0.0, 1.0], n // 2)
    return np.eye(4)[(2 * truth + _said(truth, rng)).astype(int)]


def _added(said: list[Array], cells: Array) -> Interval | None:
    """The difference of two separate Rogan-Gladen rates as if they were independent."""
    recalls = recalls_of(cells.sum(axis=0).reshape(2, 2))
    rates = [rogan_gladen(Judged(int(passed.sum()), len(passed)), recalls) for passed in said] if recalls else []
    if not rates or any(rate.value is None or rate.interval is None for rate in rates):
        return None
    centre = [(rate.interval.low + rate.interval.high) / 2 for rate in rates if rate.interval]
    half = float(np.hypot(*(rate.interval.width / 2 for rate in rates if rate.interval)))
    middle = centre[1] - centre[0]
    return Interval(low=middle - half, high=middle + half, method="added")


def urgent_labels(trials: int, rng: np.random.Generator) -> None:
    """A tenth of 1,000 items is hard: 60 % of it fails, against 10 %, and the judge errs more often there.

    All hard items are labelled, as urgent, and a tenth of the rest; the judge's rate on all of them is corrected.
    """
    tallies = {name: Tally() for name in ("weighted", "by counts (wrong here)")}
    truth = 1 - (0.1 * 0.6 + 0.9 * 0.1)
    for _ in range(trials):
        hard = np.arange(1000) < 100
        passes = rng.random(1000) >= np.where(hard, 0.6, 0.1)
        right = rng.random(1000) < np.where(hard, 0.7, 0.95)
        said = np.where(right, passes, ~passes)
        chance = np.where(hard, 1.0, 0.1)
        picked = rng.random(1000) < chance
        cells = np.eye(4)[(2 * passes + said).astype(int)[picked]]
        weights = 1 / chance[picked]
        counts = dict(zip(("FF", "FP", "PF", "PP"), map(int, cells.sum(axis=0)), strict=True))
        rows = cells * (weights * len(weights) / weights.sum())[:, None]
        sample = Labelled(
            design="random",
            counts=counts,
            traces=tuple((*map(float, row), 1.0) for row in rows),
            effective=float(weights.sum() ** 2 / np.sum(weights**2)),
        )
        for name, one in (
            ("weighted", sample),
            ("by counts (wrong here)", sample.model_copy(update={"effective": None})),
        ):
            found = one.corrected(int(said.sum()), 1000)
            assert found is not None
            tallies[name].add(found.corrected.interval, truth)
    for name, tally in tallies.items():
        out(f"corrected rate, urgent labels first, {name}", "a tenth is hard", 190, tally)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    given = parser.parse_args()
    versions(given.trials, np.random.default_rng(20261201))
    urgent_labels(given.trials, np.random.default_rng(20261203))


if __name__ == "__main__":
    main()

"""Several judges on the same items: how many independent votes they are worth, and votes weighed by EM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array
from toolgrade.stats.judging import FAIL, PASS

SMOOTHING = 0.01
TOLERANCE = 1e-8
MOST_STEPS = 500


class PanelSize(Frozen):
    """How many independent judges a panel is worth, from the correlation of their errors.

    `kish` is k / (1 + (k-1) mean φ), `eigen` is k / λ_max. None where a judge never, or always, errs.
    """

    judges: int
    mean_correlation: float | None
    kish: float | None
    eigen: float | None


def effective_judges(errors: Sequence[Sequence[int]]) -> PanelSize:
    """Return the effective number of judges from a (judges, items) array of 1 for an error."""
    wrong = np.asarray(errors, dtype=np.float64)
    k = len(wrong)
    if k < 2 or np.any(np.ptp(wrong, axis=1) == 0):
        return PanelSize(judges=k, mean_correlation=None, kish=None, eigen=None)
    matrix = np.atleast_2d(np.corrcoef(wrong))
    mean = float(matrix[np.triu_indices(k, 1)].mean())
    return PanelSize(
        judges=k,
        mean_correlation=mean,
        kish=k / (1 + (k - 1) * mean),
        eigen=k / float(np.linalg.eigvalsh(matrix)[-1]),
    )


class DawidSkene(Frozen):
    """Labels by expectation-maximisation (Dawid and Skene 1979), with each judge's recalls as EM sees them.

    It over-rates judges that err together: never a substitute for human labels.
    """

    posterior_fail: tuple[float, ...]
    fail_rate: float
    fail_recall: dict[str, float]
    pass_recall: dict[str, float]
    log_likelihood: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The likelier label of each item."""
        return tuple(FAIL if posterior >= 0.5 else PASS for posterior in self.posterior_fail)


def dawid_skene(votes: Mapping[str, Sequence[str | None]]) -> DawidSkene:
    """Return the EM solution from each judge's fail/pass votes, None where it gave none; starts from vote shares."""
    fail = np.array([[vote == FAIL for vote in given] for given in votes.values()], dtype=np.float64)
    passed = np.array([[vote == PASS for vote in given] for given in votes.values()], dtype=np.float64)
    posterior = fail.sum(axis=0) / np.maximum(fail.sum(axis=0) + passed.sum(axis=0), 1)
    likelihood = -np.inf
    for _ in range(MOST_STEPS):
        rate, recall_fail, recall_pass = _maximise(fail, passed, posterior)
        posterior, reached = _expect(fail, passed, (rate, recall_fail, recall_pass))
        if abs(reached - likelihood) < TOLERANCE:
            break
        likelihood = reached
    return DawidSkene(
        posterior_fail=tuple(float(value) for value in posterior),
        fail_rate=rate,
        fail_recall=dict(zip(votes, map(float, recall_fail), strict=True)),
        pass_recall=dict(zip(votes, map(float, recall_pass), strict=True)),
        log_likelihood=reached,
    )


def _maximise(fail: Array, passed: Array, posterior: Array) -> tuple[float, Array, Array]:
    def recall(hit: Array, missed: Array, weight: Array) -> Array:
        return np.asarray((hit @ weight + SMOOTHING) / ((hit + missed) @ weight + 2 * SMOOTHING), dtype=np.float64)

    rate = float((posterior.sum() + SMOOTHING) / (len(posterior) + 2 * SMOOTHING))
    return rate, recall(fail, passed, posterior), recall(passed, fail, 1 - posterior)


def _expect(fail: Array, passed: Array, found: tuple[float, Array, Array]) -> tuple[Array, float]:
    rate, recall_fail, recall_pass = found
    if_fail = np.log(rate) + np.log(recall_fail) @ fail + np.log(1 - recall_fail) @ passed
    if_pass = np.log(1 - rate) + np.log(recall_pass) @ passed + np.log(1 - recall_pass) @ fail
    total = np.logaddexp(if_fail, if_pass)
    return np.asarray(np.exp(if_fail - total), dtype=np.float64), float(total.sum())

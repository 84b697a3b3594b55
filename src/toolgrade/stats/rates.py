"""Pass rates: passed / decided / applicable, with an interval that knows that trials of one case belong together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.bootstrap import Array, bca
from toolgrade.stats.estimate import LEVEL, Interval, Reason, normal_quantile


class Rate(Frozen):
    """`passed` of `decided` of `applicable` units.

    `value` is passed / decided, None with a `reason` where nothing was decided. `interval` is Wilson's, which
    takes units as independent; `clustered` resamples whole cases, None where that was not asked for.
    """

    passed: int
    decided: int
    applicable: int
    value: float | None = None
    interval: Interval | None = None
    clustered: Interval | None = None
    clusters: int | None = None
    reason: Reason | None = None

    @property
    def decided_share(self) -> float | None:
        """Decided / applicable; None where nothing applied."""
        return self.decided / self.applicable if self.applicable else None

    def __str__(self) -> str:
        """Passed / decided / applicable, then the rate and its interval."""
        counts = f"{self.passed}/{self.decided}/{self.applicable}"
        if self.value is None:
            return f"{counts} undefined ({self.reason})"
        return f"{counts} = {self.value:.3f} {self.clustered or self.interval}"


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval; [0, 1] for n = 0. `n` may be an effective size, so no integer.

    Raises:
        ValueError: `successes` lies outside [0, n].
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes lie in [0, n], got {successes} of {n}")
    if n == 0:
        return Interval(low=0.0, high=1.0, level=level, method="wilson")
    z2 = normal_quantile(level) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = float(np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low=low, high=high, level=level, method="wilson")


def rate(passed: int, decided: int, applicable: int, level: float = LEVEL) -> Rate:
    """Return the rate of `passed` among `decided` units with Wilson's interval.

    Raises:
        ValueError: not 0 <= passed <= decided <= applicable.
    """
    if not 0 <= passed <= decided <= applicable:
        raise ValueError(f"expected 0 <= passed <= decided <= applicable, got {passed}, {decided}, {applicable}")
    if decided == 0:
        reason: Reason = "nothing_decided" if applicable else "no_items"
        return Rate(passed=0, decided=0, applicable=applicable, reason=reason)
    return Rate(
        passed=passed,
        decided=decided,
        applicable=applicable,
        value=passed / decided,
        interval=wilson(passed, decided, level),
    )


def clustered_rate(
    clusters: Iterable[tuple[int, int]], applicable: int, rng: np.random.Generator, level: float = LEVEL
) -> Rate:
    """Return the rate over clusters given as (passed, decided), with an interval that resamples clusters.

    Clusters without a decided unit do not enter the interval. Where every unit passed or none did, resampling
    shows no spread: then the interval is Wilson's on the number of clusters, the widest that clustering allows.

    Raises:
        ValueError: a cluster passed more than it decided, or more was decided than applied.
    """
    rows = [(passed, decided) for passed, decided in clusters if decided]
    if any(not 0 <= passed <= decided for passed, decided in rows):
        raise ValueError("a cluster passed more units than it decided")
    passed, decided = sum(row[0] for row in rows), sum(row[1] for row in rows)
    plain = rate(passed, decided, applicable, level)
    if plain.value is None:
        return plain
    interval = bca(np.array(rows, dtype=np.float64), _share, rng, level)
    interval = interval or wilson_clusters(plain.value, len(rows), level)
    return plain.model_copy(update={"clustered": interval, "clusters": len(rows)})


def wilson_clusters(share: float, clusters: int, level: float = LEVEL) -> Interval:
    """Return Wilson's interval with each cluster as one observation: for where resampling shows no spread."""
    return wilson(share * clusters, clusters, level).model_copy(update={"method": "wilson_clusters"})


def _share(totals: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(totals[..., 0] / totals[..., 1], dtype=np.float64)

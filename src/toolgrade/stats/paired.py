"""Two judges on the same labelled items: is the new one better, or at least not worse?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.agreement import divide, kappa, kappa_parts
from toolgrade.stats.bootstrap import Array, Bootstrap, Statistic
from toolgrade.stats.estimate import LEVEL, Estimate, Interval, normal_quantile, undefined
from toolgrade.stats.judging import CATEGORIES, FAIL, PASS
from toolgrade.stats.pairs import pairs

MARGIN = 0.05


class Discordance(Frozen):
    """Items on which exactly one judge is right, and what they say.

    `worse` counts old right and new wrong, `better` the reverse. `p` is McNemar's mid-p (Fagerland 2013),
    `p_exact` the conditional test. `difference` is accuracy of new minus old with Agresti and Min's interval.
    The e-values may be looked at after every new item: against no difference, and one-sided for better or worse.
    """

    both_right: int
    worse: int
    better: int
    both_wrong: int
    p: float
    p_exact: float
    difference: Estimate
    e_value: float
    e_better: float
    e_worse: float


def mcnemar(both_right: int, worse: int, better: int, both_wrong: int, level: float = LEVEL) -> Discordance:
    """Return the tests and the accuracy difference of two judges from the paired counts.

    Raises:
        ValueError: a count is negative.
    """
    if min(both_right, worse, better, both_wrong) < 0:
        raise ValueError(f"counts are not negative, got {both_right}, {worse}, {better}, {both_wrong}")
    from scipy.stats import binom

    split, least = worse + better, min(worse, better)
    tail = float(binom.cdf(least, split, 0.5))
    mid = 2 * tail - float(binom.pmf(least, split, 0.5))
    n = both_right + split + both_wrong
    return Discordance(
        both_right=both_right,
        worse=worse,
        better=better,
        both_wrong=both_wrong,
        p=min(1.0, mid) if split else 1.0,
        p_exact=min(1.0, 2 * tail) if split else 1.0,
        difference=Estimate(value=(better - worse) / n, interval=agresti_min(worse, better, n, level), n=n)
        if n
        else undefined("no_items"),
        e_value=_e_value(worse, better, 0.0),
        e_better=_e_value(better, worse, 0.5),
        e_worse=_e_value(worse, better, 0.5),
    )


def agresti_min(worse: int, better: int, n: int, level: float = LEVEL) -> Interval:
    """Return the interval of (better - worse) / n with ½ added to each of the four cells (Agresti and Min 2005)."""
    b, c, total = worse + 0.5, better + 0.5, n + 2.0
    value = (c - b) / total
    half = normal_quantile(level) * float(np.sqrt((b + c) / total - value**2) / np.sqrt(total))
    return Interval(low=max(-1.0, value - half), high=min(1.0, value + half), level=level, method="agresti_min")


def _e_value(hits: int, misses: int, above: float) -> float:
    """Return the Bayes factor of a uniform chance above `above` against ½ for the split of discordant items."""
    from scipy.special import betaln
    from scipy.stats import beta

    log = (hits + misses) * np.log(2) + betaln(1 + hits, 1 + misses)
    return float(np.exp(log) * beta.sf(above, 1 + hits, 1 + misses) / (1 - above))


class JudgeComparison(Frozen):
    """New minus old judge on the same items: differences with intervals by cluster, tests, and what follows.

    `non_inferior` is whether the lower limits of the differences in FAIL recall and in κ both exceed -0.05;
    None where one of them is undefined. "Not significant" is not "the same".
    """

    discordance: Discordance
    accuracy: Estimate
    kappa: Estimate
    fail_recall: Estimate
    pass_recall: Estimate
    non_inferior: bool | None
    superior: bool


def compare_judges(
    human: Sequence[str],
    old: Sequence[str],
    new: Sequence[str],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    level: float = LEVEL,
) -> JudgeComparison:
    """Return the comparison of two judges' fail/pass verdicts on the same labelled items.

    Raises:
        ValueError: sequences differ in length, or a label is neither fail nor pass.
    """
    both = [pairs(human, verdicts, CATEGORIES, clusters).rows for verdicts in (old, new)]
    right = Counter((a == h, b == h) for h, a, b in zip(human, old, new, strict=True))
    test = mcnemar(right[True, True], right[True, False], right[False, True], right[False, False], level)
    if not human:
        none = undefined("no_items")
        return JudgeComparison(
            discordance=test,
            accuracy=none,
            kappa=none,
            fail_recall=none,
            pass_recall=none,
            non_inferior=None,
            superior=False,
        )
    rows = np.hstack(both)
    draws = Bootstrap(rows, rng)
    shares = {"accuracy": CATEGORIES, "fail_recall": (FAIL,), "pass_recall": (PASS,)}
    found = {name: _share_difference((human, old, new), words, level) for name, words in shares.items()}
    if len(rows) < len(human):
        found = {name: _by_cluster(_STATISTICS[name], draws, plain, level) for name, plain in found.items()}
    found["kappa"] = _by_cluster(_kappa, draws, _kappa_fallback(found["accuracy"], rows.sum(axis=0)), level)
    lows = [found[name].interval for name in ("fail_recall", "kappa")]
    return JudgeComparison(
        discordance=test,
        **found,
        non_inferior=None if None in lows else all(limit is not None and limit.low > -MARGIN for limit in lows),
        superior=test.p < 1 - level and test.better > test.worse,
    )


def _kappa(cells: Array) -> Array:
    return kappa(cells.reshape(*cells.shape[:-1], 2, 2))


def _accuracy(cells: Array) -> Array:
    return divide(cells[..., 0] + cells[..., 3], cells.sum(axis=-1))


def _fail_recall(cells: Array) -> Array:
    return divide(cells[..., 0], cells[..., 0] + cells[..., 1])


def _pass_recall(cells: Array) -> Array:
    return divide(cells[..., 3], cells[..., 2] + cells[..., 3])


_STATISTICS: dict[str, Statistic] = {
    "accuracy": _accuracy,
    "fail_recall": _fail_recall,
    "pass_recall": _pass_recall,
}


def _share_difference(said: tuple[Sequence[str], ...], words: Sequence[str], level: float) -> Estimate:
    """New minus old share of right verdicts on the items that people labelled with one of `words`."""
    counts = Counter((a == h, b == h) for h, a, b in zip(*said, strict=True) if h in words)
    n = counts.total()
    if not n:
        return undefined("missing_class")
    worse, better = counts[True, False], counts[False, True]
    return Estimate(value=(better - worse) / n, interval=agresti_min(worse, better, n, level), n=n)


def _by_cluster(statistic: Statistic, draws: Bootstrap, plain: Estimate, level: float) -> Estimate:
    """The difference with its bootstrap interval by cluster; `plain`'s interval where no replicate differs."""

    def new_minus_old(totals: Array) -> Array:
        return np.asarray(statistic(totals[..., 4:]) - statistic(totals[..., :4]), dtype=np.float64)

    value = float(new_minus_old(draws.total))
    if not np.isfinite(value):
        return undefined("missing_class", plain.n)
    return plain.model_copy(update={"value": value, "interval": draws.interval(new_minus_old, level) or plain.interval})


def _kappa_fallback(accuracy: Estimate, cells: Array) -> Estimate:
    """Where verdicts hardly differ, κ differs by the accuracy over 1 - pe."""
    chance = float(kappa_parts(cells[..., :4].reshape(2, 2))[1])
    if accuracy.interval is None or chance >= 1:
        return accuracy
    limits = {"low": accuracy.interval.low / (1 - chance), "high": accuracy.interval.high / (1 - chance)}
    return accuracy.model_copy(update={"interval": accuracy.interval.model_copy(update=limits)})


def holm(p_values: Mapping[str, float], alpha: float = 0.05) -> dict[str, bool]:
    """Return which of several tests hold at family-wise error `alpha` (Holm 1979)."""
    rejected: dict[str, bool] = dict.fromkeys(p_values, False)
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        if p > alpha / (len(p_values) - rank):
            break
        rejected[name] = True
    return rejected

"""Agreement on declared, ordered levels: how far apart two raters are counts, not only whether they differ."""

from __future__ import annotations

import numpy as np

from toolgrade.stats.agreement import Weighting, agreement_weights, alpha_of_tables, gwet
from toolgrade.stats.bootstrap import Array, Bootstrap
from toolgrade.stats.estimate import LEVEL, Estimate, undefined
from toolgrade.stats.judging import chance_corrected, kappa_estimate
from toolgrade.stats.pairs import Pairs

WEIGHTINGS: tuple[Weighting, ...] = ("linear", "quadratic")


def ordinal_agreement(pairs: Pairs, rng: np.random.Generator, level: float = LEVEL) -> dict[str, Estimate]:
    """Return weighted κ, Gwet's AC2 (both linear and quadratic) and Krippendorff's ordinal α, by name.

    `pairs` are over the *declared* levels in order, also those that nobody used. Intervals are BCa by trace, with
    the fallbacks of κ. AC2 never gates.
    """
    names = [f"{name}_{weighting}" for name in ("kappa", "ac2") for weighting in WEIGHTINGS]
    if pairs.n == 0:
        return dict.fromkeys([*names, "alpha_ordinal"], undefined("no_items"))
    draws = Bootstrap(pairs.rows, rng)
    found = {}
    for weighting in WEIGHTINGS:
        weights = agreement_weights(len(pairs.categories), weighting)

        def weighted(tables: Array, weights: Array = weights) -> Array:
            return gwet(tables, weights)

        found[f"kappa_{weighting}"] = kappa_estimate(pairs, draws, level, weights)
        found[f"ac2_{weighting}"] = chance_corrected(pairs, draws, weighted, level, weights)
    found["alpha_ordinal"] = chance_corrected(pairs, draws, _alpha, level)
    return found


def _alpha(tables: Array) -> Array:
    return alpha_of_tables(tables, "ordinal")

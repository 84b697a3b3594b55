"""Does a stated probability of PASS mean what it says: Brier score, skill, calibration error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Estimate, undefined

BINS = 10
FEW_FOR_ECE = 100


class ConfidenceCalibration(Frozen):
    """Brier score (0 is best), its skill against always saying the base rate, log loss, and ECE over ten bins."""

    brier: Estimate
    skill: Estimate
    log_loss: Estimate
    ece: Estimate
    base_rate: float | None = None


def confidence_calibration(passed: Sequence[int], probability: Sequence[float]) -> ConfidenceCalibration:
    """Return how well `probability` of PASS fits the human labels `passed` (1 or 0).

    The bins of ECE are of equal width and right-closed, the first closed on both sides.

    Raises:
        ValueError: lengths differ, or a probability lies outside [0, 1].
    """
    y, p = np.asarray(passed, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    if y.shape != p.shape:
        raise ValueError(f"labels and probabilities must be equally long, got {len(y)} and {len(p)}")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("probabilities lie in [0, 1]")
    n = len(y)
    if not n:
        none = undefined("no_items")
        return ConfidenceCalibration(brier=none, skill=none, log_loss=none, ece=none, base_rate=None)
    from sklearn.metrics import brier_score_loss, log_loss

    base = float(y.mean())
    brier = float(brier_score_loss(y, p))
    mixed = 0 < base < 1
    return ConfidenceCalibration(
        brier=Estimate(value=brier, n=n),
        skill=Estimate(value=1 - brier / (base * (1 - base)), n=n) if mixed else undefined("single_class", n),
        log_loss=Estimate(value=float(log_loss(y, p, labels=[0, 1])), n=n),
        ece=Estimate(value=_ece(y, p), n=n, flags=("few_items",) if n < FEW_FOR_ECE else ()),
        base_rate=base,
    )


def _ece(y: np.ndarray, p: np.ndarray) -> float:
    edges = np.linspace(0.0, 1.0, BINS + 1)
    bins = np.searchsorted(edges[1:-1], p)
    size = np.bincount(bins, minlength=BINS)
    gaps = np.abs(np.bincount(bins, weights=y, minlength=BINS) - np.bincount(bins, weights=p, minlength=BINS))
    return float(np.sum(gaps[size > 0]) / len(y))

"""What clustering costs: standard error by cluster, design effect, effective size."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Reason

FEW_CLUSTERS = 25


class ClusterError(Frozen):
    """The mean with its standard errors, without clustering and with; None with a reason where undefined."""

    mean: float | None = None
    independent: float | None = None
    clustered: float | None = None
    design_effect: float | None = None
    effective: float | None = None
    flags: tuple[str, ...] = ()
    reason: Reason | None = None


def cluster_error(values: Sequence[float], clusters: Sequence[Hashable]) -> ClusterError:
    """Return √(Σ_c (Σ_{i in c} (x_i - mean))²) / n beside the error for independent items.

    That is the cluster-robust error of a mean without small-sample correction (Miller 2024, arXiv:2411.00640).

    Raises:
        ValueError: the two sequences differ in length.
    """
    if len(values) != len(clusters):
        raise ValueError(f"values and clusters must be equally long, got {len(values)} and {len(clusters)}")
    x = np.asarray(values, dtype=np.float64)
    order = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    if len(order) < 2:
        return ClusterError(
            mean=float(x.mean()) if len(x) else None, reason="insufficient_items" if len(x) else "no_items"
        )
    residual = x - x.mean()
    sums = np.bincount([order[name] for name in clusters], weights=residual)
    by_cluster = float(np.sqrt(np.sum(sums**2))) / len(x)
    alone = float(np.sqrt(np.sum(residual**2))) / len(x)
    effect = (by_cluster / alone) ** 2 if alone else None
    return ClusterError(
        mean=float(x.mean()),
        independent=alone,
        clustered=by_cluster,
        design_effect=effect,
        effective=len(x) / effect if effect else None,
        flags=("few_clusters",) if len(order) < FEW_CLUSTERS else (),
        reason=None if effect else "zero_variance",
    )

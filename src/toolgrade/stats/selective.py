"""From which stated confidence on a judge may be believed, with a guarantee; what lies below goes to people."""

from __future__ import annotations

from collections.abc import Sequence

from toolgrade.core.model import Frozen
from toolgrade.stats.estimate import Reason

MIN_ITEMS = 30


class Selection(Frozen):
    """`threshold` is the least confidence to believe, None with a `reason`: then everything goes to people.

    `kept` of `n` items lie at or above it, `errors` of them wrong; with chance 1 - δ the share of errors there is
    at most `error_bound`, where new items come from where these came from.
    """

    threshold: float | None = None
    error_bound: float | None = None
    errors: int = 0
    kept: int = 0
    n: int = 0
    reason: Reason | None = None


def certified_threshold(
    confidence: Sequence[float], correct: Sequence[bool], most_errors: float = 0.1, risk: float = 0.1
) -> Selection:
    """Return the lowest threshold above which the judge errs in at most `most_errors`, with chance 1 - `risk`.

    Thresholds are walked from high to low, while the one-sided Clopper-Pearson bound of the errors above stays
    within `most_errors`; the first that fails ends the walk, so that no correction for many tests is needed
    (Jung et al., "Trust or Escalate", ICLR 2025). Equal confidences are taken or left together.

    Raises:
        ValueError: the two differ in length, or `most_errors` or `risk` lies outside (0, 1).
    """
    if len(confidence) != len(correct):
        raise ValueError(f"confidence and correct must be equally long, got {len(confidence)} and {len(correct)}")
    if not (0 < most_errors < 1 and 0 < risk < 1):
        raise ValueError(f"most_errors and risk lie in (0, 1), got {most_errors} and {risk}")
    n = len(confidence)
    found = Selection(n=n, reason="no_threshold_certifies" if n else "no_items")
    for threshold in sorted(set(confidence), reverse=True):
        above = [right for stated, right in zip(confidence, correct, strict=True) if stated >= threshold]
        if len(above) < MIN_ITEMS:
            continue
        errors = len(above) - sum(above)
        bound = _upper(errors, len(above), risk)
        if bound > most_errors:
            break
        found = Selection(threshold=threshold, error_bound=bound, errors=errors, kept=len(above), n=n)
    return found


def _upper(errors: int, n: int, risk: float) -> float:
    """Return the one-sided exact limit of an error share, 1 where everything was wrong."""
    from scipy.stats import beta

    return float(beta.ppf(1 - risk, errors + 1, n - errors)) if errors < n else 1.0

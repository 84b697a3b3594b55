"""The certified confidence: its edges, and the guarantee by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from toolgrade.stats.selective import certified_threshold


def test_few_items_or_a_judge_that_is_always_wrong_certify_nothing() -> None:
    assert certified_threshold([], []).reason == "no_items"
    assert certified_threshold([0.9] * 29, [True] * 29, 0.1, 0.1).reason == "no_threshold_certifies"
    assert certified_threshold([0.9] * 60, [False] * 60, 0.5, 0.1).threshold is None
    # No error in 30 items: 1 - .1^(1/30), the rule of three at 90 %.
    assert certified_threshold([0.9] * 30, [True] * 30, 0.1, 0.1).error_bound == pytest.approx(1 - 0.1 ** (1 / 30))


def test_equal_confidences_are_taken_together_and_the_walk_ends_at_the_first_failure() -> None:
    confidence = [0.9] * 40 + [0.8] * 40 + [0.7] * 400
    correct = [True] * 40 + [False] * 40 + [True] * 400
    found = certified_threshold(confidence, correct)
    assert (found.threshold, found.kept, found.errors, found.n) == (0.9, 40, 0, 480)


def test_the_share_of_errors_is_kept_as_often_as_promised() -> None:
    """Confidence is the true chance of being right; the share of errors above λ̂ is known exactly."""
    rng, broken, runs = np.random.default_rng(5), 0, 400
    for _ in range(runs):
        confidence = np.round(rng.uniform(0.5, 1.0, 150), 3)
        correct = rng.random(150) < confidence
        found = certified_threshold(confidence.tolist(), correct.tolist(), most_errors=0.15, risk=0.1)
        # Uniform above the threshold: the mean chance of an error is half of what is missing to 1.
        broken += found.threshold is not None and (1 - found.threshold) / 2 > 0.15
    assert broken / runs < 0.1 + 3 * (0.1 * 0.9 / runs) ** 0.5


@pytest.mark.parametrize(("most", "risk"), [(0.0, 0.1), (0.1, 1.0)])
def test_shares_outside_their_range_are_refused(most: float, risk: float) -> None:
    with pytest.raises(ValueError, match="lie in"):
        certified_threshold([0.5], [True], most, risk)
    with pytest.raises(ValueError, match="equally long"):
        certified_threshold([0.5], [])

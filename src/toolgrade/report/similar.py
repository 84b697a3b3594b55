"""Which tools were swapped for each other most, and how alike their descriptions are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolgrade.core.tool import ToolSpec
from toolgrade.stats.classification import ROUTE_LABELS, ConfusionMatrix


class Swap(NamedTuple):
    """Two tools, how often the second was called for the first, and the cosine similarity of their descriptions.

    `similarity` is that of TF-IDF vectors over words and word pairs, in [0, 1]; None where a description lacks.
    """

    expected: str
    called: str
    times: int
    similarity: float | None


def most_swapped(matrix: ConfusionMatrix, tools: Mapping[str, ToolSpec], most: int = 5) -> list[Swap]:
    """Return the pairs of tools that were swapped most, with the similarity of name and description."""
    pairs = [
        (matrix.counts[i][j], expected, called)
        for i, expected in enumerate(matrix.labels)
        for j, called in enumerate(matrix.labels)
        if i != j and matrix.counts[i][j] and expected not in ROUTE_LABELS and called not in ROUTE_LABELS
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1:]))
    return [
        Swap(expected, called, count, _similarity(tools.get(expected), tools.get(called)))
        for count, expected, called in pairs[:most]
    ]


def _similarity(one: ToolSpec | None, two: ToolSpec | None) -> float | None:
    if one is None or two is None or not one.description or not two.description:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{tool.name.replace('_', ' ')} {tool.description}" for tool in (one, two)]
    try:
        vectors = TfidfVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    except ValueError:  # a description of stop characters only leaves no vocabulary
        return None
    return float((vectors[0] @ vectors[1].T).toarray()[0, 0])

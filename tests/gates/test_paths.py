"""Paths select what the RFC's own implementation selects, whichever way they are followed."""

from __future__ import annotations

import jsonpath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.gates.paths import select, singular

DOCUMENT = {"a": [{"b": 1}, {"b": None}, "text"], "": {"0": 2}, "ü": [[]], "b": "ab"}
PATHS = ["$", "$.a", "$.a[0].b", "$.a[1].b", "$.a[2]", "$.a[3]", "$.a[2].b", "$.a[-1]", "$['']", "$['']['0']", "$[0]"]
PATHS += ["$.ü[0][0]", "$.b[0]", "$.a[*].b", "$..b", "$['a','b']", "$.a[0:2]", "$.a[?@.b == 1]"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab"),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("ab", max_size=1), below, max_size=3),
)


@pytest.mark.parametrize("path", PATHS)
def test_selects_what_the_library_selects(path):
    assert select(path, DOCUMENT) == {match.parts: match.value for match in jsonpath.finditer(path, DOCUMENT)}


@given(VALUES, st.lists(st.integers(0, 2) | st.sampled_from("ab"), max_size=4))
def test_selects_what_the_library_selects_on_any_value(document, steps):
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f"['{step}']" for step in steps)
    assert singular(path) == tuple(steps)
    assert select(path, document) == {match.parts: match.value for match in jsonpath.finditer(path, document)}


@pytest.mark.parametrize("path", ["$.a[*]", "$..a", "$['a','b']", "$.a[0:1]", "$[?@.a]", "$.a[-1]"])
def test_a_path_that_may_select_several_or_counts_from_the_end_is_not_singular(path):
    assert singular(path) is None

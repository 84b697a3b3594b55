from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.judges.answer import Quote
from toolgrade.judges.evidence import locate, verify

PAYLOAD = (
    "User asked for the refund window.\n"
    'Tool result: {"policy": "Refunds within 30 days of purchase."}\n'
    "Assistant: “You have 60 days — no questions asked.”\tThanks!"
)


@pytest.mark.shared
def test_quotes_are_located_as_the_reference_vectors_say(shared: Path) -> None:
    vectors = json.loads((shared / "reference" / "calibration-vectors.json").read_text())["cases"]
    ours = [vector for vector in vectors if vector["family"] == "quote_verification"]
    assert len(ours) == 10
    for vector in ours:
        located = locate(vector["input"]["quote"], vector["input"]["payload"])
        expected = vector["expected"]
        assert (located.match, located.verified) == (expected["status"], expected["verified"]), vector["id"]
        if "span" in expected:
            assert list(located.span or ()) == expected["span"], vector["id"]


# By the rules of the calibration specification, §9.2, where the vectors have no case.
@pytest.mark.parametrize(
    ("quote", "match"),
    [
        ('"You have 60 days - no questions asked."', "normalized"),
        ("You have\u200b 60\u00a0days", "normalized"),
        ("refunds within 30 days of purchase.", "case_mismatch"),
        ("asked for the refund […] Refunds within 30 days", "elided"),
        ("asked for the refund [...] Refunds within 30 days", "elided"),
        ("asked for the refund … within 30 days … no questions asked", "elided"),
        ("asked for the refund … no questions asked … within 30 days", "not_found"),
        ("...", "too_short"),
        ("...............", "empty"),
        ("User asked for", "exact"),
        ("User asked f", "exact"),
        ("User asked ", "too_short"),
    ],
)
def test_typography_is_folded_and_case_is_not(quote: str, match: str) -> None:
    assert locate(quote, PAYLOAD).match == match


def test_an_ellipsis_that_was_recorded_is_quoted_like_any_text() -> None:
    assert locate("please wait... still working", "Agent: please wait... still working on it").match == "exact"


def test_precomposed_and_decomposed_letters_are_the_same() -> None:
    assert locate("Cafe\u0301 Zu\u0308rich, 14 Uhr", "at Café Zürich, 14 Uhr").match == "normalized"


@given(st.text(min_size=12, max_size=200), st.integers(0, 100), st.integers(12, 60))
def test_a_copied_stretch_counts_unless_it_says_too_little(text: str, start: int, length: int) -> None:
    quote = text[start : start + length]
    assert locate(quote, text).match in ("exact", "too_short", "empty")


def test_a_quote_counts_only_in_the_field_it_names() -> None:
    shown = {"payloads": "refund_cents: 4500, currency USD", "claims": "You will get $54.00 back."}
    quotes = [
        Quote(quote="You will get $54.00", field="claims"),
        Quote(quote="You will get $54.00", field="payloads"),
        Quote(quote="not-in-payload", field="rubric"),
        Quote(quote="contradicted", field="rubric"),
        Quote(quote="no-such-clause", field="rubric"),
    ]
    found = verify(quotes, shown, {"not-in-payload"})
    assert [(item.verified, item.match) for item in found] == [
        (True, "exact"),
        (False, "not_found"),
        (True, "clause"),
        (False, "not_found"),
        (False, "not_found"),
    ]

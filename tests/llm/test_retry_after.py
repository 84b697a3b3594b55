"""What a Retry-After header asks for (RFC 9110 §10.2.3), and what of an error's words may be shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from toolgrade.llm.failures import without_secrets, words_of
from toolgrade.llm.retry import retry_after_seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 59.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:58:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 -0000"}, 59.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_both_forms_of_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    now = datetime(1999, 12, 31, 23, 59, 0, tzinfo=UTC)
    assert retry_after_seconds(headers, lambda: now) == seconds


def test_secrets_are_masked_by_value_and_by_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORP_GATEWAY_TOKEN", "correct-horse")
    text = "no correct-horse, sk-proj-abc123DEF456, AIzaSyA1234567890123456789012, Bearer eyJhbGciOi.x, skylark"
    assert without_secrets(text) == "no <CORP_GATEWAY_TOKEN>, <secret>, <secret>, <secret>, skylark"


def test_an_error_is_one_short_line_without_a_traceback() -> None:
    error = ValueError(
        "litellm.APIConnectionError: APIConnectionError: OpenAIException - bad\n thing"
        "\nTraceback (most recent call last):\n  File x" + "y" * 999
    )
    assert words_of(error) == "bad thing"
    assert len(words_of(ValueError("z" * 999))) == 300

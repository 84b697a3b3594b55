"""Canonical JSON and the hashes made from it."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _canonical(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {
            unicodedata.normalize("NFC", key) if isinstance(key, str) else key: _canonical(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """Return `value` as canonical JSON text: sorted keys, no spaces, UTF-8, NFC strings.

    Integers and floats stay apart (`0` and `0.0` give different text): coerce to a declared type first.

    Raises:
        ValueError: a number is not finite.
        TypeError: a value has no JSON form.
    """
    text = _json(value)
    # Nearly all texts are in that form as they are; taking every value apart is slow.
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else _json(_canonical(value))


def _json(value: Any) -> str:
    try:
        return _ENCODER.encode(value)
    except ValueError as error:
        raise ValueError(f"canonical JSON has only finite numbers and no cycles: {error}") from None


def content_hash(value: Any) -> str:
    """Return `sha256:` and the hex digest of the canonical JSON of `value`."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def text_hash(text: str) -> str:
    """Return `sha256:` and the hex digest of a text's NFC form in UTF-8: equal for equal looking accents."""
    normal = text if text.isascii() else unicodedata.normalize("NFC", text)
    return "sha256:" + hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()

"""The hashes of samples, as lm-evaluation-harness computes them."""

import hashlib
import json
from typing import Any


def doc_hash(doc: Any) -> str:
    """Return the hash of a document."""
    return _hash_of(json.dumps(doc, indent=2, ensure_ascii=False))


def doc_hash_with_nan(doc: Any) -> str:
    """Return the hash of a document in which each null was NaN."""
    return doc_hash(_with_nan(doc))


def prompt_hash(context: Any) -> str | None:
    """Return the hash of the first context, None of one that is no text."""
    if isinstance(context, list) and len(context) == 1:
        (context,) = context  # the JSON text of a chat
    return _hash_of(context) if isinstance(context, str) else None


def target_hash(target: Any) -> str:
    """Return the hash of a target."""
    return _hash_of(str(target))


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _with_nan(value: Any) -> Any:
    if value is None:
        return float("nan")
    if isinstance(value, list):
        return list(map(_with_nan, value))
    if isinstance(value, dict):
        return {key: _with_nan(member) for key, member in value.items()}
    return value

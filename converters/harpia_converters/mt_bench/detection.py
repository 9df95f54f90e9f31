"""Detect MT-Bench's questions, the answers of models and the judgements on them."""

from collections.abc import Mapping
from typing import Any

VENDOR = "MT-Bench"
#: The key of its own data in a record's `extra`.
KEY = "mt-bench"
#: The key that every row has.
QUESTION = "question_id"


def question_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a question, or ""."""
    return _sign(row, "turns") if isinstance(row.get("turns"), list) else ""


def answer_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` has the answers of a model, or ""."""
    is_answer = isinstance(row.get("choices"), list) and "model_id" in row
    return _sign(row, "choices") if is_answer else ""


def judgement_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a judgement of one answer, or "".

    Judgements of the answers of two models have no score, and are not known.
    """
    is_single = isinstance(row.get("judge"), list) and "model_1" not in row
    return _sign(row, "judge") if is_single else ""


def _sign(row: Mapping[str, Any], key: str) -> str:
    return f"`{QUESTION}` and `{key}`" if QUESTION in row else ""

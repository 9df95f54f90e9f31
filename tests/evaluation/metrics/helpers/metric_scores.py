"""Scores by one metric, as `harpia_formats` gives them for records in memory."""

from collections.abc import Iterable, Sequence
from typing import Any

import harpia_formats

#: An answer and its references.
Pair = tuple[str, Sequence[str]]


def answered(answer: str | None, references: Sequence[str], **more: Any) -> Any:
    """Return a record with one answer and what else metrics need."""
    return {"references": [*references], "outputs": [{"text": answer}], **more}


def _questions(rows: Iterable[Any]) -> list[Any]:
    """Return the records, each of which is a question of its own if it has no id."""
    return [{"id": f"question {at}", **row} for at, row in enumerate(rows)]


def totals(metric: str, rows: Iterable[Any], /, **parameters: Any) -> Any:
    """Return the scores of all answers together, each of which must have one."""
    given = {f"{metric}.{name}": value for name, value in parameters.items()}
    found = harpia_formats.score(
        _questions(rows),
        from_="record",
        metrics=(metric,),
        parameters=given,
        replicates=0,
    )
    return found.total.scores


def value(
    metric: str, answer: str | None, references: Sequence[str], /, **parameters: Any
) -> float | None:
    """Return the only score of one answer; raises `ScoreError` if it has none."""
    (found,) = totals(metric, [answered(answer, references)], **parameters)
    score: float | None = found.value
    return score


def values(
    metric: str, rows: Iterable[Any], /, **parameters: Any
) -> list[tuple[float | None, ...]]:
    """Return the scores of each answer alone, None where it has none.

    At least one of them must have a score.
    """
    given = {f"{metric}.{name}": value for name, value in parameters.items()}
    found = harpia_formats.score_answers(
        _questions(rows),
        from_="record",
        metrics=(metric,),
        parameters=given,
        missing="skip",
        replicates=0,
    )
    return [tuple(row.scores.values()) for row in found]


def values_of_pairs(
    metric: str, pairs: Iterable[Pair], /, **parameters: Any
) -> list[tuple[float | None, ...]]:
    """Return the scores of each pair of an answer and its references."""
    return values(metric, [answered(*pair) for pair in pairs], **parameters)


def signature(metric: str, /, **parameters: Any) -> str:
    """Return the signature of a metric of answers and references."""
    (found, *_) = totals(metric, [answered("1", ["1"])], **parameters)
    text: str = found.signature
    return text.removesuffix("|nrefs:1")

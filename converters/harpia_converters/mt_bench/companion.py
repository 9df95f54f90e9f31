"""How answers and judgements are checked against, and read with, their questions."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.mt_bench.detection import QUESTION
from harpia_formats.model.format import Companion, Remark

UNKNOWN_QUESTION = "B103"


def unknown_question() -> Remark:
    """Return the remark on a row whose question is not in the other file (B103)."""
    return Remark(
        UNKNOWN_QUESTION,
        (QUESTION,),
        f"the file of questions has none with this {QUESTION}",
        "give the file of questions that was answered",
    )


def _no_expectation(document: Mapping[str, Any]) -> None:
    """Return nothing: of questions only the ids are compared."""
    del document


def _no_remarks(expected: Any, found: Any) -> Iterator[Remark]:
    """Yield nothing, since of rows only the ids are compared."""
    del expected, found
    yield from ()


QUESTIONS = Companion(
    format="mt-bench-questions",
    expect=_no_expectation,
    remarks=_no_remarks,
    closing=_no_remarks,
    refers_by=QUESTION,
    no_such_record=unknown_question,
    by_id=True,
    without="what was asked is not known",
)

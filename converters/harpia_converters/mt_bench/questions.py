"""The format mt-bench-questions: questions of several turns (question.jsonl)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.mt_bench.detection import QUESTION, VENDOR, question_sign
from harpia_formats.model.format import Dialect, Format, Remark

REFERENCE_BY_TURN = "B101"


def remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark if a question has not one reference for each turn (B101)."""
    if not isinstance(row, Mapping) or "reference" not in row:
        return
    turns, references = row["turns"], row["reference"]
    if len(turns) != len(references):
        yield Remark(
            REFERENCE_BY_TURN,
            ("reference",),
            f"there are {len(turns):,} in turns and {len(references):,} in reference",
            "give the reference of each turn, in their order",
        )


FORMAT = Format(
    id="mt-bench-questions",
    title="Questions of several turns (question.jsonl)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:QUESTIONS",
    dialects=(
        Dialect(
            "mt-bench-questions",
            question_sign,
            remarks=remarks,
            one_of=frozenset({QUESTION}),
        ),
    ),
    id_key=QUESTION,
    read_only=True,
)

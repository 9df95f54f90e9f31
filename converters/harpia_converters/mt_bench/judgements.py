"""The format mt-bench-judgements: how an LLM judged single answers (model_judgment)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.mt_bench import companion
from harpia_converters.mt_bench.detection import QUESTION, VENDOR, judgement_sign
from harpia_formats.model.format import Dialect, Format, Remark

UNSCORED = "B102"
#: The score of a judgement in which no score was found.
NO_SCORE = -1


def remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark if a judgement has no score (B102)."""
    if isinstance(row, Mapping) and row.get("score") == NO_SCORE:
        yield Remark(
            UNSCORED,
            ("score",),
            f"the score {NO_SCORE} says that the judge's reply had none",
            "nothing to do: it is read as no score, and is not part of any mean",
        )


FORMAT = Format(
    id="mt-bench-judgements",
    title="Judgements of an LLM on single answers (model_judgment)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:JUDGEMENTS",
    dialects=(
        Dialect(
            "mt-bench-judgements",
            judgement_sign,
            remarks=remarks,
            one_of=frozenset({QUESTION}),
        ),
    ),
    id_key=QUESTION,
    ids_repeat=True,
    read_only=True,
    companion=companion.QUESTIONS,
)

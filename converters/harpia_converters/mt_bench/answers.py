"""The format mt-bench-answers: what a model answered (model_answer/MODEL.jsonl)."""

from harpia_converters.mt_bench import companion
from harpia_converters.mt_bench.detection import QUESTION, VENDOR, answer_sign
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id="mt-bench-answers",
    title="Answers of a model to each turn of questions (model_answer)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:ANSWERS",
    dialects=(Dialect("mt-bench-answers", answer_sign, one_of=frozenset({QUESTION})),),
    id_key=QUESTION,
    id_with=(("model_id",),),
    read_only=True,
    companion=companion.QUESTIONS,
)

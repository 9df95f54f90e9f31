"""The format lm-eval-samples: what a model answered in a task, a row a filter."""

from harpia_converters.lm_eval.companion import COMPANION
from harpia_converters.lm_eval.detection import (
    SAMPLES,
    VENDOR,
    lists_sign,
    objects_sign,
)
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=SAMPLES,
    title="Requests and answers of one task, with metrics (samples_*.jsonl)",
    vendor=VENDOR,
    adapter="harpia_converters.lm_eval.mapping:SAMPLES",
    read_only=True,
    companion=COMPANION,
    dialects=(
        Dialect(
            SAMPLES,
            objects_sign,
            lints="harpia_converters.lm_eval.lints:LINTS",
            reads_nan=True,
            one_of=frozenset({"resps"}),
        ),
        # Until 0.4.2, and what `simple_evaluate` returns in Python.
        Dialect(
            "lm-eval-samples-lists",
            lists_sign,
            "lists",
            lints="harpia_converters.lm_eval.lints:LINTS",
            reads_nan=True,
            one_of=frozenset({"resps"}),
        ),
    ),
    id_key="doc_id",
    ids_repeat=True,
)

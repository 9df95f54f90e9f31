"""The format lm-eval-results: metrics and settings of a run (results_*.json)."""

from harpia_converters.lm_eval.detection import RESULTS, VENDOR, results_sign
from harpia_formats.model.format import Container, Dialect, Format

FORMAT = Format(
    id=RESULTS,
    title="Metrics by task and filter, with all settings (results_*.json)",
    vendor=VENDOR,
    dialects=(
        Dialect(
            RESULTS,
            results_sign,
            container=Container.DOCUMENT,
            reads_nan=True,
            one_of=frozenset({"n-shot"}),
        ),
    ),
)

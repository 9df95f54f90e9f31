"""The format deepeval: single-turn goldens and test cases, and test runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.deepeval.runs import dialects
from harpia_formats.model.format import Dialect, Format, Remark

JOINED_PASSAGES, NO_SCORE = "D201", "D202"

#: Keys of answers that other tools have as well.
_answers = ("actual_output", "expected_output", "actualOutput", "expectedOutput")
#: Keys of DeepEval's own, of which a saved golden or test case has some.
_own = (
    "retrieval_context",
    "retrievalContext",
    "tools_called",
    "toolsCalled",
    "expected_tools",
    "expectedTools",
    "source_file",
    "sourceFile",
    "additional_metadata",
    "additionalMetadata",
    "custom_column_key_values",
    "customColumnKeyValues",
    "metrics_data",
    "metricsData",
)
#: Keys of lists of passages.
CONTEXTS = ("retrieval_context", "retrievalContext", "context")
METRICS = ("metrics_data", "metricsData")


def sniff(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a golden or a test case of DeepEval, or ""."""
    answer = next((key for key in _answers if key in row), "")
    own = next((key for key in _own if key in row), "")
    if not (answer and own and isinstance(row.get("input"), str)):
        return ""
    return f"`{answer}` and `{own}`"


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the passages and on the metrics of `row` (D201, D202)."""
    if not isinstance(row, Mapping):
        return
    for key in CONTEXTS:
        if isinstance(row.get(key), str) and row[key]:
            yield Remark(
                JOINED_PASSAGES,
                (key,),
                "the passages are one text, which is cut at each |",
                "give a list of texts if a passage has a | in it",
            )
    for key in METRICS:
        found = row.get(key)
        for number, metric in enumerate(found if isinstance(found, list) else ()):
            if not isinstance(metric, Mapping):
                continue
            if metric.get("score") is None and metric.get("error") is None:
                yield Remark(
                    NO_SCORE,
                    (key, number),
                    "the metric has neither a score nor an error",
                    "give its score, or remove it",
                )


FORMAT = Format(
    id="deepeval",
    title="Goldens, test cases and test runs of DeepEval, with metrics",
    vendor="DeepEval",
    adapter="harpia_converters.deepeval.mapping:DEEPEVAL",
    read_only=True,
    dialects=(
        Dialect("deepeval", sniff, remarks=remarks, one_of=frozenset(_answers)),
        *dialects(remarks),
    ),
)

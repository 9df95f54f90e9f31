"""The rules D2 of DeepEval's goldens and test cases, for rows that are allowed."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule


def _case(more: str) -> bytes:
    """Return a test case with what is `more`, as a line."""
    start = '{"input": "Que rio passa por Lisboa?", "actual_output": "O Tejo.", '
    return f"{start}{more}}}\n".encode()


def _metric(more: str) -> bytes:
    """Return a test case with a metric."""
    name = '"name": "Answer Relevancy", "threshold": 0.5'
    return _case(f'"metricsData": [{{{name}, {more}}}]')


RULES = (
    Rule(
        "D201",
        "joined-passages",
        Severity.NOTE,
        "Passages should be a list of texts.",
        "DeepEval writes the passages of a golden as one text into JSON Lines and "
        "CSV, with | between them. It is cut at each |, also at one in a passage.",
        _case('"retrieval_context": "O Tejo passa por Lisboa.|O Douro, não."'),
        _case('"retrieval_context": ["O Tejo passa por Lisboa.", "O Douro, não."]'),
        "deepeval",
    ),
    Rule(
        "D202",
        "metric-without-score",
        Severity.WARNING,
        "A metric should have a score, or an error.",
        "Without a score it is not known what the metric says, and without an error "
        "it is not known why. It is read as a score without a value.",
        _metric('"score": null, "success": false'),
        _metric('"score": 0.8, "success": true'),
        "deepeval",
    ),
)

"""The rules D2 of DeepEval's goldens and runs, for what the schema allows."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity


def _case(more: str) -> bytes:
    """Return a test case with what is `more`, as a line."""
    start = '{"input": "Que rio passa por Lisboa?", "actual_output": "O Tejo.", '
    return f"{start}{more}}}\n".encode()


def _metric(more: str) -> bytes:
    """Return a test case with a metric."""
    name = '"name": "Answer Relevancy", "threshold": 0.5'
    return _case(f'"metricsData": [{{{name}, {more}}}]')


def _run(conversations: str) -> bytes:
    """Return a test run with one test case, and conversations."""
    case = '{"name": "a", "input": "2+2?", "actualOutput": "4", "metricsData": []}'
    both = f'"testCases": [{case}], "conversationalTestCases": {conversations}'
    return f'{{{both}, "metricsScores": []}}\n'.encode()


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
    Rule(
        "D203",
        "unread-conversations",
        Severity.WARNING,
        "A run should have test cases or conversations, not both.",
        "The records of a file are at one place. Of a run with both the test cases are "
        "read, and the conversations are what stands around them.",
        _run('[{"name": "b", "success": true, "metricsData": [], "turns": []}]'),
        _run("[]"),
        "deepeval",
    ),
)

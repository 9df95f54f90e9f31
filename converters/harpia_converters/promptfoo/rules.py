"""The rules D3 of promptfoo's results, for items that their schema allows."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity


def _item(more: str) -> bytes:
    """Return an item with what is `more`, as a line."""
    start = '{"promptIdx": 0, "testIdx": 0, "provider": {"id": "acme:finch"}, '
    asked = '"prompt": {"raw": "2+2?", "label": "sum"}, "vars": {}, '
    return f"{start}{asked}{more}}}\n".encode()


_passed = '"success": true, "score": 1, "failureReason": 0'
_answer = '"response": {"output": "4"}'
_failed = '"success": %s, "score": 0, "failureReason": 2, "error": "time-out"'

RULES = (
    Rule(
        "D301",
        "no-output-nor-error",
        Severity.WARNING,
        "An item should have an output, or an error.",
        "Without an output there is no answer to score, and without an error nobody "
        "knows why.",
        _item(_passed),
        _item(f"{_passed}, {_answer}"),
        "promptfoo",
    ),
    Rule(
        "D302",
        "error-counts-as-passed",
        Severity.WARNING,
        "A test that ended with an error should not count as passed.",
        "A `failureReason` of 2 says that the test did not run to its end. What it has "
        "as a score is none, and is not read as one.",
        _item(_failed % "true"),
        _item(_failed % "false"),
        "promptfoo",
    ),
)

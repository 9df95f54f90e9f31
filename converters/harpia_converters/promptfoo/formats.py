"""The format promptfoo: results of an evaluation, version 3, and its rules (D3)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Container, Dialect, Format, Remark, UnreadFiles
from harpia_formats.model.problem import Severity

NO_OUTPUT, ERROR_SCORED = "D301", "D302"
#: The value of `failureReason` where the test did not run to its end.
ERROR = 2

#: Keys apart from the two numbers of which an item has one at least.
_item_keys = ("success", "score", "response", "prompt")


def sniff(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` holds the results of an evaluation, or ""."""
    inner = _inner(document)
    # In the beginning of a large file a list that is cut off may be null, and the
    # version may stand behind it.
    items = inner.get("results", "")
    if "table" in inner or not isinstance(items, list | None):
        return ""
    if "version" in inner:
        return "`evalId` and `results.version`"
    has_items = items and isinstance(items[0], Mapping) and sniff_item(items[0])
    return "`evalId` and `results.results`" if has_items else ""


def table_sign(document: Mapping[str, Any]) -> str:
    """Return by which key `document` holds results in version 2, or ""."""
    return "`results.table`" if "table" in _inner(document) else ""


def sniff_item(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is the result of one test, or ""."""
    is_item = {"promptIdx", "testIdx"} <= row.keys()
    is_item = is_item and any(key in row for key in _item_keys)
    return "`promptIdx` and `testIdx`" if is_item else ""


def _inner(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object that holds the results, an empty one if there is none."""
    inner = document.get("results") if "evalId" in document else None
    return inner if isinstance(inner, Mapping) else {}


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an item without output, or with an error (D301, D302)."""
    output = (row.get("response") or {}).get("output")
    has_failed = row.get("failureReason") == ERROR
    if output is None and not has_failed:
        yield Remark(
            NO_OUTPUT,
            (),
            "there is neither an output nor an error",
            "give the answer of the model in `response.output`",
        )
    if has_failed and row.get("success") is True:
        yield Remark(
            ERROR_SCORED,
            ("success",),
            "the test ended with an error, and counts as passed",
            "set it to false",
        )


UNREAD = (UnreadFiles("results of promptfoo in version 2, as a table", table_sign),)

FORMAT = Format(
    id="promptfoo",
    title="The results of an evaluation with promptfoo, version 3",
    vendor="promptfoo",
    adapter="harpia_converters.promptfoo.mapping:PROMPTFOO",
    id_key="testIdx",
    ids_repeat=True,
    read_only=True,
    dialects=(
        Dialect(
            "promptfoo",
            sniff,
            container=Container.WRAPPED,
            rows_at="results",
            rows_in=("results",),
            remarks=remarks,
            one_of=frozenset({"evalId"}),
        ),
        Dialect(
            "promptfoo",
            sniff_item,
            name="items",
            rows_at="results",
            rows_in=("results",),
            remarks=remarks,
            one_of=frozenset({"testIdx"}),
        ),
    ),
)


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

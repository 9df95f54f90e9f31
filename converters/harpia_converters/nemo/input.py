"""nemo-input: questions with their ideal responses, as in an input.json."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.row_checks import (
    FAMILY,
    QUESTION,
    VENDOR,
    sign_of,
    undocumented,
    without_category,
)
from harpia_formats.model.format import Dialect, Format, Remark

#: Keys that a question has not: they belong to answers.
_of_answers = frozenset({"input", "response", "actual_response", "llm_name"})
#: Keys that tell a question by its prompt from the hub's own records.
_of_records = frozenset({"references", "gt", "header", "system"})
#: What tells a question, the surest first; the first that fits is the sign.
_signs = (
    ("prompt", "ideal_response"),
    ("ideal_response",),
    ("prompt", "category"),
    ("prompt", "source"),
)


def sniff(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is a question, or "" if it is none."""
    if _of_answers & row.keys():
        return ""
    if "ideal_response" not in row and _of_records & row.keys():
        return ""
    return next(filter(None, (sign_of(row, *keys) for keys in _signs)), "")


def remarks(row: Any) -> Iterator[Remark]:
    """Yield what is tolerated in a question."""
    if isinstance(row, Mapping):
        yield from without_category(row)
        yield from undocumented(row, QUESTION)


FORMAT = Format(
    id="nemo-input",
    title="Questions with their ideal responses (input.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:INPUT",
    dialects=(
        Dialect("nemo-input", sniff, strict="nemo-input-strict", remarks=remarks),
    ),
)

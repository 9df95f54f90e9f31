"""The format nemo-input: questions with their ideal responses (input.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.detection import ANSWER_KEYS, FAMILY, VENDOR, sign_of
from harpia_converters.nemo.row_checks import (
    QUESTION_KEYS,
    category_remarks,
    key_remarks,
)
from harpia_formats.model.format import Dialect, Format, Remark

#: Keys by which a question is detected, the most specific first.
_signs = (
    ("prompt", "ideal_response"),
    ("ideal_response",),
    ("prompt", "category"),
    ("prompt", "source"),
)


def sniff(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a question, or ""."""
    if ANSWER_KEYS & row.keys():
        return ""
    # Rows of many tools have these keys, and others beside them.
    if "ideal_response" not in row and not row.keys() <= QUESTION_KEYS:
        return ""
    return next(filter(None, (sign_of(row, *keys) for keys in _signs)), "")


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the keys of a question (N101, N102)."""
    if isinstance(row, Mapping):
        yield from category_remarks(row)
        yield from key_remarks(row, QUESTION_KEYS)


FORMAT = Format(
    id="nemo-input",
    title="Questions with their ideal responses (input.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:INPUT",
    dialects=(
        Dialect(
            "nemo-input",
            sniff,
            strict="nemo-input-strict",
            remarks=remarks,
            lints="harpia_converters.nemo.row_lints:INPUT",
            one_of=frozenset({"prompt", "ideal_response"}),
        ),
    ),
)

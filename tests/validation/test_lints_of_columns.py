"""Lints look at the items of a column at once, and find what they find in each."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import validate
from harpia_formats.validation.unit.row_linter import RowLinter

#: Texts of which some are doubtful.
TEXTS = (
    "an answer",
    "",
    "  ",
    "null",
    "9007199254740993",
    "cafÃ©",
    "\ufffd",
    "zero\u200bwidth",
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title>",
    "Error code: 429 - rate limit exceeded",
    "openai.APITimeoutError: Request timed out.",
)
CLEAN = ("an answer", "another one", "中文")
COLUMNS = ("questions", "ground_truth_answers", "predicted_answers")
rows = st.lists(st.sampled_from(TEXTS), min_size=3, max_size=3)
clean_rows = st.lists(st.sampled_from(CLEAN), min_size=3, max_size=3)


def findings(document: bytes) -> list[tuple[str, str, int | None]]:
    """Return the code, pointer and record of each finding in columns of Haystack."""
    report = validate(
        document, format="haystack", lint=True, examples=0, max_problems=0
    )
    return [
        (each.code, each.place.pointer, each.place.record) for each in report.problems
    ]


@pytest.fixture(scope="module")
def one_by_one() -> Iterator[pytest.MonkeyPatch]:
    """Have a patch with which every item is looked at alone."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@examples(20)
@given(found=st.one_of(st.lists(rows, min_size=1), st.lists(clean_rows, min_size=1)))
def test_items_together_have_the_findings_of_each(
    found: list[list[str]], one_by_one: pytest.MonkeyPatch
) -> None:
    """A column gets the same findings, whether its texts are looked at all at once."""
    columns = dict(zip(COLUMNS, zip(*found, strict=True), strict=True))
    document = json.dumps(columns).encode()
    together = findings(document)
    one_by_one.setattr(RowLinter, "_are_clean_texts", lambda *_: False)
    alone = findings(document)
    one_by_one.undo()

    assert together == alone


def test_a_doubtful_item_among_clean_ones_is_found() -> None:
    """One doubtful text in a column of many is reported at its place."""
    columns = {name: ["an answer"] * 500 for name in COLUMNS}
    columns["predicted_answers"][321] = "Error code: 429 - rate limit exceeded"

    found = findings(json.dumps(columns).encode())

    assert ("V302", "/predicted_answers", 322) in found

"""Lints look at the items of a column at once, and find what they find in each."""

import json

from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import validate

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


def findings(rows: list[list[str]]) -> list[tuple[str, str, int | None]]:
    """Return code, pointer and record of each finding on a text in columns of rows."""
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    report = validate(
        json.dumps(columns).encode(),
        format="haystack",
        select=("V",),
        examples=0,
        max_problems=0,
    )
    return [
        (each.code, each.place.pointer, each.place.record) for each in report.problems
    ]


@examples(20)
@given(st.one_of(st.lists(rows, min_size=1), st.lists(clean_rows, min_size=1)))
def test_items_together_have_the_findings_of_each(found: list[list[str]]) -> None:
    """A column has the findings that each of its texts has alone."""
    alone = [
        (code, pointer, number)
        for number, row in enumerate(found, 1)
        for code, pointer, _ in findings([row])
    ]

    assert sorted(findings(found)) == sorted(alone)


def test_a_doubtful_item_among_clean_ones_is_found() -> None:
    """One doubtful text in a column of many is reported at its place."""
    found = [["an answer"] * 3 for _ in range(500)]
    found[321][2] = "Error code: 429 - rate limit exceeded"

    assert ("V302", "/predicted_answers", 322) in findings(found)

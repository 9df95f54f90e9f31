"""Cells that no spreadsheet runs, and the texts that come back from them."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.model.safe_text import marked, unmarked, would_run

TEXTS = st.text(alphabet="'=+-@ \t\r\n;\"a1.,e\uff1d\u00a0", max_size=9) | st.text()


@given(TEXTS)
def test_marks_are_taken_back(text: str) -> None:
    """Any text comes back from its marked form, which no spreadsheet runs."""
    assert unmarked(marked(text)) == text
    assert not would_run(marked(text))
    assert (
        (marked(text) == text)
        or would_run(text)
        or "'" in text
        or ";" in text
        or (set(text) & set("\t\r\n"))
    )


@for_each_case(
    "text, safe",
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\uff1dcmd|' /C calc'!A0", "'\uff1dcmd|' /C calc'!A0"),
        (' "=x"', '\' "=x"'),
        ("\t=x", "'\t'=x"),
        ("see;=x", "see;'=x"),
        ("see\n+x", "see\n'+x"),
        ("'=x", "''=x"),
        ("'tis", "'tis"),
        ("-1.5e-3", "-1.5e-3"),
        ("-1.5x", "'-1.5x"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_beginnings_of_cells_are_marked(text: str, safe: str) -> None:
    """Each beginning of a cell that a spreadsheet may see has one mark more."""
    assert marked(text) == safe
    assert unmarked(safe) == text

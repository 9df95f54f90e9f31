"""Texts of records as lines: nothing is lost, and the value is marked."""

import re

from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.model.safe_text import escaped
from harpia_formats.reporters.html.examples import (
    RecordText,
    marked_markup,
    record_markup,
)
from strict_page import StrictPage

#: Pieces of JSON, whole and broken, short enough for lines that are not shortened.
_json = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ",", ":", " ", '"a b"', '"', "1.50", "\\", "null", "<b>"]
    ),
    max_size=25,
).map("".join)


def _shown(record: RecordText) -> StrictPage:
    return StrictPage(f"<h1>r</h1><pre>{record_markup(record)}</pre>")


@given(_json, st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_no_character_is_lost(text: str, one: int, other: int, plain: bool) -> None:
    """The lines have all characters but white space in their order, and one mark."""
    start, end = sorted((one % (len(text) + 1), other % (len(text) + 1)))
    record = RecordText(text, start, end, 1, is_object=not plain)
    page = _shown(record)
    assert page.faults == []
    found = re.sub(r"\s", "", page.text.removeprefix("r"))
    expected = re.sub(r"\s", "", text)
    assert found == (f"1{expected}" if plain else expected)
    marked = re.findall("<mark>(.*?)</mark>", str(record_markup(record)))
    assert bool(marked) == (start < end)


@given(st.text(), st.text(), st.text())
def test_a_frame_has_its_three_parts(before: str, marked: str, after: str) -> None:
    """Whatever is in them, they are text, and the second one is marked."""
    page = StrictPage(f"<h1></h1><p>{marked_markup(before, marked, after)}</p>")
    assert page.faults == []
    assert page.elements == ["h1", "p", "mark"]
    assert page.text == escaped(before) + escaped(marked) + escaped(after)


def test_long_records_are_cut_around_the_mark() -> None:
    """The beginning and the lines around the value are shown, and what is between."""
    members = [f'"k{at}":{at}' for at in range(200)]
    text = "{" + ",".join(members) + "}"
    start = text.index('"k150"')
    page = _shown(RecordText(text, start, start + 6, 1, is_object=True))
    for part in ('"k0": 0', '"k140": 140', '"k150": 150', "lines not shown"):
        assert part in page.text
    assert '"k50"' not in page.text


def test_deep_nesting_is_not_indented_further_than_a_page_is_wide() -> None:
    """Brackets without an end are lines that start at the same column at last."""
    page = _shown(RecordText("[" * 40, 30, 31, 1, is_object=True))
    assert max(len(line) for line in page.text.splitlines()) <= 40

import csv
import io
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.parsing.csv_blocks import TableFault, TableRow
from harpia_formats.files.parsing.csv_delimiter import (
    delimiter_named,
    how_to_read,
    named,
)
from harpia_formats.files.parsing.csv_records import table_rows

#: All characters that can be delimiters.
DELIMITERS = st.sampled_from(
    [mark for mark in map(chr, range(1, 128)) if mark not in '"\r\n']
)
CELLS = st.text(string.ascii_letters + ',;\t|"\n.*+^]\\- é😀', max_size=6)


def rows_in(data: bytes, delimiter: str) -> list[list[str]]:
    """Return the fields of each record of a table."""
    pieces = table_rows(ByteBuffer(iter([data])), Cursor(), ROW_LIMIT, delimiter)
    return [
        [field.text for field in piece.fields]
        for piece in pieces
        if isinstance(piece, TableRow)
    ]


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5), DELIMITERS)
def test_table_is_read_with_any_delimiter(
    rows: list[list[str]], delimiter: str
) -> None:
    """What Python's csv writes with a delimiter is read back with it."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)

    assert rows_in(text.getvalue().encode(), delimiter) == rows


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5))
def test_unquoted_fields_are_cut_at_the_delimiter(rows: list[list[str]]) -> None:
    """Fields that need no quotes are read as Python's csv reads them."""
    for delimiter in ",;\t|":
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter).writerows(rows)

        assert rows_in(text.getvalue().encode(), delimiter) == rows


def test_fault_names_the_delimiter() -> None:
    """Text behind a closing quote is reported with the name of the delimiter."""
    pieces = table_rows(ByteBuffer(iter([b'"a"b;c\n'])), Cursor(), ROW_LIMIT, ";")
    (fault,) = (piece for piece in pieces if isinstance(piece, TableFault))

    assert "something else than a semicolon" in fault.message


@for_each_case(
    "given_as, delimiter",
    [
        *((";", ";"), ("tab", "\t"), ("TAB", "\t"), ("\\t", "\t"), ("\t", "\t")),
        *(("|", "|"), ("comma", ","), ("semicolon", ";"), ("bar", "|"), ("^", "^")),
    ],
)
def test_delimiter_is_a_character_or_a_name(given_as: str, delimiter: str) -> None:
    """A delimiter is given as itself or by its name."""
    assert delimiter_named(given_as) == delimiter


@for_each_case("text", ["", ";;", "tabs", '"', "\n", "\r", "\0", "é", "、"])
def test_other_text_is_no_delimiter(text: str) -> None:
    """Several characters, quotes, line ends and others than ASCII are refused."""
    with pytest.raises(ValueError, match="is no delimiter"):
        delimiter_named(text)


WRITE = (
    "write a semicolon in its place, as `validate --unsafe-fixes` does if it cuts all "
    "lines alike"
)


@for_each_case(
    "delimiter, name, how",
    [
        (",", "comma", "read the table with `--delimiter ','`"),
        (";", "semicolon", "read the table with `--delimiter ';'`"),
        ("\t", "tab", "read the table with `--delimiter tab`"),
        ("|", "vertical bar", "read the table with `--delimiter '|'`"),
        ("^", "'^'", "read the table with `--delimiter '^'`"),
        ("，", "full-width comma", WRITE),
        ("；", "full-width semicolon", WRITE),
        ("、", "ideographic comma", WRITE),
        ("｜", "full-width vertical bar", WRITE),
    ],
)
def test_delimiter_has_a_name_and_a_remedy(delimiter: str, name: str, how: str) -> None:
    """A delimiter other than the expected one is named, with what to do about it."""
    assert named(delimiter) == name
    assert how_to_read(delimiter, ";") == how

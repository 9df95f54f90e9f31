"""Cut a table into byte ranges of whole records."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harpia_formats.files.framing import byte_ranges as module
from harpia_formats.files.framing.byte_ranges import count_records, csv_ranges
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.framing.unfinished_json import ByteBuffer
from harpia_formats.files.parsing.csv_blocks import (
    TableBlank,
    TableFault,
    TablePiece,
    TableRow,
)
from harpia_formats.files.parsing.csv_records import table_rows
from table_pieces import joined_blanks

_plain = st.text("ab,é\n", max_size=4).map(
    lambda text: '"' + text.replace('"', '""') + '"' if set(",\n") & set(text) else text
)
_quoted = st.text('a"\n,\r', max_size=5).map(
    lambda text: '"' + text.replace('"', '""') + '"'
)
_rows = st.lists(
    st.lists(_plain | _quoted, min_size=1, max_size=3).map(",".join), max_size=12
)


def ranges_of(folder: Path, data: bytes, size: int, block: int) -> list[bytes]:
    """Return the bytes of the ranges of a file, which is read in small blocks."""
    path = folder / "table"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COPIED", block)
        found = list(csv_ranges(path, 0, size))

    assert [begin for begin, _ in found] == [0, *(end for _, end in found)][
        : len(found)
    ]
    assert (found[-1][1] if found else 0) == len(data)
    return [data[begin:end] for begin, end in found]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=_rows,
    size=st.integers(1, 40),
    block=st.integers(1, 30),
    end=st.sampled_from(["", "\n"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_ranges_are_whole_records(  # noqa: PLR0913, PLR0917 - all that may differ
    tmp_path: Path, rows: list[str], size: int, block: int, end: str, line_end: str
) -> None:
    """The records of all ranges are those of the file, and no range is too short."""
    data = (line_end.join(rows) + end).encode()
    parts = ranges_of(tmp_path, data, size, block)
    found: list[TablePiece] = []
    start = Cursor()
    for part in parts:
        found += table_rows(ByteBuffer(iter([part])), start, 1000)
        start = Cursor(start.offset + len(part), start.line + part.count(b"\n"))

    whole = table_rows(ByteBuffer(iter([data])), Cursor(), 1000)
    assert joined_blanks(found) == joined_blanks(whole)
    assert all(len(part) >= size for part in parts[:-1])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.text('a",\n\r', max_size=40), size=st.integers(1, 12))
def test_wrong_end_of_a_range_is_a_fault_in_it(
    tmp_path: Path, data: str, size: int
) -> None:
    """The ranges before the first one with a fault are cut at ends of records."""
    text = data.encode()
    starts = {
        piece.start.offset
        for piece in table_rows(ByteBuffer(iter([text])), Cursor(), 1000)
        if isinstance(piece, TableRow)
    }
    offset = 0
    for part in ranges_of(tmp_path, text, size, 1000):
        pieces = list(table_rows(ByteBuffer(iter([part])), Cursor(offset), 1000))
        if any(isinstance(piece, TableFault) for piece in pieces):
            break
        rows = {each.start.offset for each in pieces if isinstance(each, TableRow)}

        assert rows <= starts
        offset += len(part)


@given(_rows)
def test_records_are_counted_without_being_cut(rows: list[str]) -> None:
    """Each line feed outside of a quoted field ends a record or an empty line."""
    data = "".join(f"{row}\n" for row in rows).encode()

    pieces = table_rows(ByteBuffer(iter([data])), Cursor(), 1000)
    assert count_records(data) == sum(
        piece.lines if isinstance(piece, TableBlank) else 1 for piece in pieces
    )

"""Ranges of a file of lines are whole lines and leave nothing out."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harpia_formats.files.framing import byte_ranges
from harpia_formats.files.framing.byte_ranges import (
    RangeReader,
    count_records,
    csv_ranges,
    line_ranges,
)
from harpia_formats.files.io.reader import SourceError


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=12), max_size=12),
    size=st.integers(1, 40),
    block=st.integers(1, 9),
    ends=st.booleans(),
)
def test_ranges_are_whole_lines(
    tmp_path: Path, lines: list[bytes], size: int, block: int, *, ends: bool
) -> None:
    """Ranges of any size follow each other, and each ends at the end of a line."""
    data = b"\n".join(lines) + b"\n" * ends
    path = tmp_path / "lines"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_ranges, "BLOCK", block)
        found = list(line_ranges(path, 0, size))
        made = [RangeReader("f", begin, end, path) for begin, end in found]
        parts = [b"".join(each) for each in made]

    assert b"".join(parts) == data
    assert all(each.endswith(b"\n") for each in parts[:-1])
    assert all(size <= len(each) for each in parts[:-1])
    assert all(b"\n" not in each[size:-1] for each in parts)
    assert [each.lines for each in made] == [each.count(b"\n") for each in parts]
    assert all(each.consumed == each.total for each in made)


def test_ranges_of_the_usual_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a size ranges have the usual one."""
    monkeypatch.setattr(byte_ranges, "RANGE", 100)
    path = tmp_path / "lines"
    path.write_bytes(b"123456789\n" * 25)

    assert list(line_ranges(path, 0)) == [(0, 110), (110, 220), (220, 250)]
    assert next(line_ranges(path, 0, 50)) == (0, 60)


def plain_csv_ranges(data: bytes, begin: int, size: int) -> list[tuple[int, int]]:
    """Return ranges as `csv_ranges` does, byte by byte."""
    found, start, is_open = [], begin, False
    for at in range(begin, len(data)):
        is_open ^= data[at : at + 1] == b'"'
        is_long = at + 1 - start >= size
        if data[at : at + 1] == b"\n" and not is_open and is_long:
            found.append((start, at + 1))
            start = at + 1
    return [*found, (start, len(data))] if start < len(data) else found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.lists(st.sampled_from([b'"', b"\n", b"a", b"ab,"])).map(b"".join),
    begin=st.integers(0, 5),
    size=st.integers(1, 20),
    block=st.integers(1, 9),
)
def test_ranges_are_whole_records(
    tmp_path: Path, data: bytes, begin: int, size: int, block: int
) -> None:
    """A range of CSV ends at the first line feed outside of quotation marks."""
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_ranges, "COPIED", block)
        found = list(csv_ranges(path, begin, size))

    assert found == plain_csv_ranges(data, begin, size)
    ends = [end for _, end in plain_csv_ranges(data, 0, 1)]
    assert count_records(data) == sum(
        data[:end].endswith(b"\n") and data[:end].count(b'"') % 2 == 0 for end in ends
    )


def test_ranges_begin_at_a_byte(tmp_path: Path) -> None:
    """Bytes before the first range are not read."""
    path = tmp_path / "lines"
    path.write_bytes(b"ab\ncd\n")

    assert list(line_ranges(path, 3, 1)) == [(3, 6)]
    assert list(line_ranges(path, 6, 1)) == []


def test_a_range_of_a_file_that_has_shrunk_is_short(tmp_path: Path) -> None:
    """If a file has become shorter, there are fewer bytes, and they are counted."""
    path = tmp_path / "lines"
    path.write_bytes(b"1\n2\n")
    reader = RangeReader("f", 2, 9, path)

    assert b"".join(reader) == b"2\n"
    assert (reader.consumed, reader.total) == (2, 7)


def test_a_range_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """A file that does not exist is a `SourceError` with its name."""
    with pytest.raises(SourceError, match="f: no such file"):
        list(RangeReader("f", 0, 1, tmp_path / "gone"))

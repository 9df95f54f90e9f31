"""Ranges of a file of lines are whole lines and leave nothing out."""

from collections.abc import Iterator
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
    range_blocks,
    read_range,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote_file import RemoteFile


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


MEGABYTE = 1024 * 1024


class Stored(RemoteFile):
    """A remote file of zeros with some line feeds, which notes what is asked for."""

    def __init__(self, size: int | None, *newlines: int) -> None:
        super().__init__("s3://b/x", "b/x", size)
        object.__setattr__(self, "newlines", newlines)
        object.__setattr__(self, "asked", [])

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, of which none is behind the end."""
        assert begin < end <= (self.size or end)
        self.asked.append((begin, end))  # type: ignore[attr-defined]  # set above
        if not self.newlines:  # type: ignore[attr-defined]  # set above
            return bytes(end - begin)
        data = bytearray(end - begin)
        for at in self.newlines:  # type: ignore[attr-defined]  # set above
            if begin <= at < end:
                data[at - begin] = ord("\n")
        return bytes(data)

    def read_many(self, ranges: list[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the bytes of several ranges, and note how many there were."""
        self.asked.append(len(ranges))  # type: ignore[attr-defined]  # set above
        return (self.read(*each) for each in ranges)


def asked_of(remote: Stored) -> list[object]:
    """Return what was asked for, each range by its two ends, in order."""
    return remote.asked  # type: ignore[attr-defined,no-any-return]  # set when it is made


def test_a_range_has_eight_megabytes(tmp_path: Path) -> None:
    """Without another size, a range ends with the line of the byte behind 8 MiB."""
    path = tmp_path / "lines"
    with path.open("wb") as file:
        file.truncate(9 * MEGABYTE)
        file.seek(8 * MEGABYTE - 1)
        file.write(b"\n\n\n")

    assert list(line_ranges(path, 0)) == [
        (0, 8 * MEGABYTE + 1),
        (8 * MEGABYTE + 1, 9 * MEGABYTE),
    ]


@pytest.mark.parametrize(
    ("newline", "end", "requests"),
    [
        (1_599_999, 3_000_000, 3),
        (1_600_000, 1_600_001, 1),
        (1_665_535, 1_665_536, 1),
        (1_665_536, 1_665_537, 2),
        (2_714_111, 2_714_112, 2),
        (2_714_112, 2_714_113, 3),
        (2_999_999, 3_000_000, 3),
    ],
)
def test_line_ends_of_a_remote_file(newline: int, end: int, requests: int) -> None:
    """A line end is looked for in 64 KiB, then in 1 MiB at a time, to the last byte."""
    remote = Stored(3_000_000, newline)
    asked = [(1_600_000, 1_665_536), (1_665_536, 2_714_112), (2_714_112, 3_000_000)]

    rest = [(end, 3_000_000)] if end < 3_000_000 else []
    assert list(line_ranges(remote, 0, 1_600_000)) == [(0, end), *rest]
    assert asked_of(remote) == [1, *asked[:requests]]


def test_line_ends_are_looked_for_sixteen_at_a_time() -> None:
    """Ranges of a remote file end behind lines, and lines without an end are joined."""
    remote = Stored(100, *range(4, 90, 10))

    assert list(line_ranges(remote, 5, 5)) == [
        (5, 15),
        *((begin, begin + 10) for begin in range(15, 85, 10)),
        (85, 100),
    ]
    assert [each for each in asked_of(remote) if isinstance(each, int)] == [16, 2]
    assert list(line_ranges(Stored(None), 0, 5)) == []
    assert list(line_ranges(Stored(5), 0, 5)) == [(0, 5)]
    assert list(line_ranges(Stored(5), 5, 5)) == []


def test_a_remote_range_is_read_by_large_requests() -> None:
    """A request has 64 MiB, and what it brings is handed on in parts of 256 KiB."""
    remote, end = Stored(100 * MEGABYTE), 64 * MEGABYTE + 5
    sizes = [len(block) for block in range_blocks(remote, 0, end)]

    assert sizes == [256 * 1024] * 256 + [5]
    assert asked_of(remote) == [(0, 64 * MEGABYTE), (64 * MEGABYTE, end)]


@pytest.mark.parametrize(
    ("size", "begin", "end", "asked"),
    [(9, 2, 5, [(2, 5)]), (4, 2, 5, [(2, 4)]), (None, 2, 5, [(2, 5)]), (9, 5, 5, [])],
)
def test_a_remote_range_ends_with_the_file(
    size: int | None, begin: int, end: int, asked: list[tuple[int, int]]
) -> None:
    """Nothing is asked for behind the end of a remote file, if that is known."""
    remote = Stored(size, 3)
    found = read_range(remote, begin, end)

    assert asked_of(remote) == asked
    assert found == b"\0\n\0"[: sum(last - first for first, last in asked)]


def test_a_local_range_is_read_in_parts(tmp_path: Path) -> None:
    """A range of a file is handed on in parts of 256 KiB, from its first byte."""
    path = tmp_path / "x"
    path.write_bytes(bytes(1000) + b"a" * 300_000 + b"b" * 10)
    blocks = list(range_blocks(path, 1000, 301_000))

    assert [len(each) for each in blocks] == [256 * 1024, 300_000 - 256 * 1024]
    assert b"".join(blocks) == b"a" * 300_000
    assert list(range_blocks(path, 1000, 1005, 2)) == [b"aa", b"aa", b"a"]
    assert read_range(path, 300_999, 301_002) == b"abb"


def test_the_bytes_of_a_range_may_be_held() -> None:
    """A range whose bytes are at hand is read in blocks, and counted like another."""
    data = b"a\n" * 200_000
    reader = RangeReader("f", 7, 400_007, data)
    blocks = list(reader)

    assert b"".join(blocks) == data
    assert len(blocks) > 1
    assert (reader.consumed, reader.lines, reader.total) == (400_000, 200_000, 400_000)

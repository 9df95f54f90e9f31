"""Records beyond a limit go to temporary files, on disks with and without room."""

import errno
import io
import pickle
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.io import spill, unpacked_text
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.spill import FixedRecords, FramedRecords, SpillError
from harpia_formats.files.io.unpacked_text import Segment, TextSegments

#: Numbers that are held in memory: none, some, all.
HELD = st.sampled_from([0, 5, 1000])


def filled(held: int = 0) -> FixedRecords:
    """Return a store of three numbers."""
    stored = FixedRecords("B", held)
    stored.extend_bytes(b"abc")
    return stored


def framed(held: int = 0) -> FramedRecords:
    """Return a store of one record."""
    stored = FramedRecords("Q", 1, held)
    stored.append((7,), (b"abc",))
    return stored


def made_files(monkeypatch: pytest.MonkeyPatch) -> list[io.BytesIO]:
    """Return the files that are made from now on."""
    files: list[io.BytesIO] = []

    def made() -> io.BytesIO:
        files.append(io.BytesIO())
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", made)
    return files


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), max_size=9),
    HELD,
    st.data(),
)
def test_numbers_are_read_from_any_place(
    added: list[list[int]], held: int, data: st.DataObject
) -> None:
    """They are the same in memory, in a file, and in both."""
    stored = FixedRecords("Q", held)
    for number, some in enumerate(added):
        if number % 3 == 0:
            stored.extend(some)
        elif number % 3 == 1:
            stored.extend_bytes(array("Q", some))
        else:
            for one in some:
                stored.append(one)
        if data.draw(st.booleans()):
            stored.flush()
    numbers = [one for some in added for one in some]
    begin = data.draw(st.integers(0, len(numbers)))
    end = data.draw(st.integers(begin, len(numbers)))

    assert (len(stored), stored.count_of(0)) == (len(numbers), len(numbers))
    assert list(stored) == numbers
    assert stored.read(begin, end - begin).tolist() == numbers[begin:end]
    assert b"".join(stored.blocks(size=16)) == array("Q", numbers).tobytes()
    stored.close()
    assert list(stored) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 255))), HELD)
def test_parts_have_their_numbers_in_order(
    added: list[tuple[int, int]], held: int
) -> None:
    """Numbers that are added to `held` and counted are as those of a method."""
    stored = FixedRecords("B", held, parts=3)
    for at, (part, number) in enumerate(added):
        if at % 2:
            stored.extend((number,), part)
        else:
            stored.held[part].append(number)
            stored.added(1)

    for part in range(3):
        mine = bytes(number for own, number in added if own == part)
        assert b"".join(stored.blocks(part, 2)) == mine
        assert stored.count_of(part) == len(mine)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=9), st.binary())),
    st.sampled_from([0, 100, 10_000]),
    st.sampled_from([1, 40, 16 * 1024]),
)
def test_framed_records_are_read_by_part_and_by_offset(
    added: list[tuple[int, bytes, bytes]], held: int, piece: int
) -> None:
    """They are the same in memory and in a file, and in pieces of any size."""
    stored = FramedRecords("HQ", 2, held, parts=2)
    assert stored.add_part() == 2
    for number, (part, *fields) in enumerate(added):
        stored.append((part, number), tuple(fields), part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "PIECE", piece)
        for part in range(3):
            found = list(stored.records(part))
            assert [each[1:] for each in found] == [
                ((part, number), [one, other])
                for number, (own, one, other) in enumerate(added)
                if own == part
            ]
            assert [stored.at(each[0]) for each in found] == found
    stored.close()
    assert list(stored.records()) == []


@pytest.mark.parametrize("make", [filled, framed])
def test_a_file_is_made_beyond_the_limit_and_ends_with_its_object(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without so many records there is no file."""
    files = made_files(monkeypatch)
    stored = make(1000)
    assert files == []
    stored = make(0)
    assert [file.closed for file in files] == [False]
    del stored

    assert [file.closed for file in files] == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("make", [filled, framed])
def test_full_disk_is_a_source_error(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found in adding, and not in closing."""

    def full() -> IO[bytes]:
        return Path("/dev/full").open("w+b")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(SourceError, match="temporary file: no space left"):
        make(0)


@pytest.mark.parametrize("make", [filled, framed])
def test_no_temporary_folder_is_a_source_error(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file that cannot be made is an error with the reason."""

    def refused() -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(SourceError, match="temporary file: no usable temporary"):
        make(0)


@pytest.mark.parametrize("make", [filled, framed])
def test_broken_disk_is_a_source_error(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file that cannot be read again is an error."""

    class Broken(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

        readinto = read  # type: ignore[assignment]

    monkeypatch.setattr("tempfile.TemporaryFile", Broken)
    stored = make(0)
    reads = (
        (lambda: list(stored), lambda: stored.read(0, 1))
        if isinstance(stored, FixedRecords)
        else (lambda: list(stored.records()), lambda: stored.at(0))
    )
    for read in reads:
        with pytest.raises(SourceError, match="temporary file: input/output error"):
            read()


def test_disk_that_has_room_again_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Records that were written in part only are written again by the next attempt."""

    class Narrow(io.BytesIO):
        has_room = False

        def write(self, data: Any, /) -> int:
            if not self.has_room:
                super().write(memoryview(data).cast("B")[:1])
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

    monkeypatch.setattr("tempfile.TemporaryFile", Narrow)
    numbers, records = FixedRecords("B", 3), FramedRecords("Q", 1, 1)
    with pytest.raises(SourceError):
        numbers.extend_bytes(b"abc")
    with pytest.raises(SourceError):
        records.append((7,), (b"abc",))
    monkeypatch.setattr(Narrow, "has_room", True)
    numbers.extend_bytes(b"d")
    records.append((8,), (b"d",))

    assert bytes(numbers) == b"abcd"
    assert [each[2] for each in records.records()] == [[b"abc"], [b"d"]]


def test_an_error_says_the_same_in_another_process() -> None:
    """A worker sends it as it is, and who asks for an `OSError` has its reason."""
    error = pickle.loads(pickle.dumps(SpillError("temporary file", "no space left")))  # noqa: S301 - ours

    assert str(error) == "temporary file: no space left"
    assert (error.reason, error.strerror, error.errno) == (
        "no space left",
        "no space left",
        None,
    )


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40), st.integers(1, 9))
def test_segments_come_back_from_a_file(numbers: list[int], held: int) -> None:
    """However many are held in memory, each is what was added, with its last end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpacked_text, "SEGMENTS_HELD", held)
        segments = TextSegments()
        for at, number in enumerate(numbers):
            segments.begin(Segment(number, 0, at, 0, 0, number, number, 0, 0))
            segments.end = at + 7

    assert len(segments) == len(numbers)
    assert [segments[at] for at in range(len(numbers))] == [
        Segment(number, at + 7, at, 0, 0, number, number, 0, 0)
        for at, number in enumerate(numbers)
    ]
    with pytest.raises(IndexError):
        segments[len(numbers)]


def test_no_segments_are_none() -> None:
    """A text without places has no segments."""
    assert not TextSegments()

"""Bytes in temporary files, on disks with and without room."""

import errno
import io
from array import array
from pathlib import Path
from typing import IO, Any

import pytest

from harpia_formats.evaluation.scoring.temporary_bytes import TemporaryBytes
from harpia_formats.files.io.reader import SourceError


def made_files(monkeypatch: pytest.MonkeyPatch) -> list[io.BytesIO]:
    """Return the files that are made from now on."""
    files: list[io.BytesIO] = []

    def made() -> io.BytesIO:
        files.append(io.BytesIO())
        return files[-1]

    monkeypatch.setattr("tempfile.TemporaryFile", made)
    return files


def test_bytes_are_read_from_any_offset() -> None:
    """They are the same after more bytes were appended."""
    stored, part = TemporaryBytes(), bytearray(3)
    stored.append(b"abcde")
    stored.read_into(part, 1)
    stored.append(array("H", [0x6766]))

    assert (bytes(part), stored.size) == (b"bcd", 7)
    stored.read_into(part, 4)
    assert part == b"efg"


def test_a_file_is_made_for_the_first_bytes_and_ends_with_its_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without bytes there is no file."""
    files = made_files(monkeypatch)
    stored = TemporaryBytes()
    stored.read_into(bytearray())
    assert files == []
    stored.append(b"abc")
    assert not files[0].closed
    del stored

    assert [file.closed for file in files] == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found in appending or in reading, and not in closing."""

    def full() -> IO[bytes]:
        return Path("/dev/full").open("w+b")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    stored = TemporaryBytes()
    stored.append(b"a few bytes, which are in the buffer of the file")
    with pytest.raises(SourceError, match="temporary file: no space left"):
        stored.read_into(bytearray(3))
    with pytest.raises(SourceError, match="temporary file: no space left"):
        stored.append(bytes(1_000_000))
    stored.close()


def test_no_temporary_folder_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary file that cannot be made is an error with the reason."""

    def refused() -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(SourceError, match="temporary file: no usable temporary"):
        TemporaryBytes().append(b"a")


def test_disk_that_has_room_again_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bytes that were written in part only are overwritten by the next."""

    class Narrow(io.BytesIO):
        has_room = False

        def write(self, data: Any, /) -> int:
            if not self.has_room:
                super().write(data[:1])
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

    monkeypatch.setattr("tempfile.TemporaryFile", Narrow)
    stored, found = TemporaryBytes(), bytearray(3)
    with pytest.raises(SourceError):
        stored.append(b"lost")
    monkeypatch.setattr(Narrow, "has_room", True)
    stored.append(b"abc")
    stored.read_into(found)

    assert (bytes(found), stored.size) == (b"abc", 3)

import io
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.io.reader import SourceError
from harpia_formats.io.zip_directory import read_directory
from harpia_formats.io.zip_members import RATIO, member_pieces
from zip_archives import DEFLATE, STORED, ZSTD, Entry, archive_of, zstd_module

try:
    zstd_module()
except ImportError:  # pragma: no cover - without the extra
    pytest.skip('needs the extra "zstd"', allow_module_level=True)

CANNOT = "its member 'a' cannot be read:"
TEXT = b'{"id": 1}\n' * 40_000


def read(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive by their names; raises `SourceError`."""
    file = io.BytesIO(data)
    directory = read_directory(file, "x.zip")
    members = map(directory.member, range(len(directory)))
    return {one.name: b"".join(member_pieces(file, one, "x.zip")) for one in members}


def reason(data: bytes) -> str:
    """Return why an archive cannot be read."""
    with pytest.raises(SourceError) as failed:
        read(data)
    return failed.value.reason


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTD])
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("frames", [1, 3])
def test_members_of_each_method(method: int, frames: int, *, is_wide: bool) -> None:
    """Members are read whole, with numbers of eight bytes and in several frames too."""
    entries = [
        Entry("a", TEXT, method, is_wide=is_wide, frames=frames),
        Entry("é/b", b"", method),
        Entry("c", b"[1]", method, frames=frames),
    ]
    found = read(archive_of(entries, is_wide=is_wide))

    assert found == {"a": TEXT, "é/b": b"", "c": b"[1]"}


@given(
    members=st.dictionaries(st.text("abc/é", min_size=1), st.binary(), max_size=5),
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    before=st.binary(max_size=9),
    comment=st.binary(max_size=30),
)
def test_archives_of_the_standard_library(
    members: dict[str, bytes], method: int, before: bytes, comment: bytes
) -> None:
    """What `zipfile` writes is read as it was, with bytes before it and a comment."""
    file = io.BytesIO()
    file.write(before)
    with zipfile.ZipFile(file, "a", method) as archive:
        archive.comment = comment.replace(b"PK", b"")
        for name, data in members.items():
            archive.writestr(f"m{name}", data)

    assert read(file.getvalue()) == {f"m{name}": one for name, one in members.items()}


def test_cut_archive() -> None:
    """Without its directory an archive cannot be read, wherever it was cut."""
    data = archive_of([Entry("a", TEXT, DEFLATE)])
    for size in (4, 100, len(data) - 30, len(data) - 1):
        assert reason(data[:size]).startswith("is a cut zip archive")


def test_member_that_is_missing() -> None:
    """A member that is not where the directory says is named."""
    data = archive_of([Entry("b", b"1"), Entry("a", b"2", place_shift=5)])

    assert reason(data) == f"{CANNOT} it is missing, and its place holds something else"


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTD])
def test_member_that_is_corrupt(method: int) -> None:
    """A member whose bytes are not those of the directory is named."""
    wrong = archive_of([Entry("a", TEXT, method, checksum_shift=1)])
    assert reason(wrong) == f"{CANNOT} its checksum does not match"
    for shift, word in ((1, "fewer"), (-1, "more")):
        found = reason(archive_of([Entry("a", TEXT, method, size_shift=shift)]))
        assert found.startswith(f"{CANNOT} it has {word} than the")


@pytest.mark.parametrize("method", [DEFLATE, ZSTD])
def test_compressed_data_that_is_corrupt(method: int) -> None:
    """Compressed data that cannot be decompressed is an error of its member."""
    noise = bytes(number * number % 251 for number in range(999))
    data = bytearray(archive_of([Entry("a", noise, method)]))
    data[40:60] = b"\xff" * 20

    assert reason(bytes(data)).startswith("its member 'a' ")


def test_last_piece_waits_for_the_checksum() -> None:
    """The end of a corrupt member is not handed on, so that its row stays open."""
    file = io.BytesIO(archive_of([Entry("a", TEXT, DEFLATE, checksum_shift=1)]))
    pieces = member_pieces(file, read_directory(file, "x").member(0), "x")
    found: list[bytes] = []
    with pytest.raises(SourceError):
        found.extend(pieces)

    assert sum(map(len, found)) < len(TEXT)


def test_encrypted_archive() -> None:
    """An encrypted member is named."""
    data = archive_of([Entry("a", b"1", flags=1)])

    assert reason(data) == "is encrypted (member 'a'); decrypt it first"


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/a", "\\a", "c:\\a", ".."])
def test_member_that_leads_outside(name: str) -> None:
    """A member that would be written outside of its folder is refused."""
    assert "leads outside" in reason(archive_of([Entry(name, b"1")]))


def test_unknown_method() -> None:
    """A compression that is not read is named by its number."""
    data = archive_of([Entry("a", b"1", 98)])

    assert reason(data) == f"{CANNOT} it is compressed by method 98, which is not known"


def test_members_that_overlap() -> None:
    """Members that share their bytes, as in a decompression bomb, are refused."""
    data = archive_of([Entry("a", b"1"), Entry("b", b"1", place_shift=-32)])

    assert "overlaps another one" in reason(data)


def test_decompression_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that becomes far too long is refused before it is decompressed."""
    monkeypatch.setattr("harpia_formats.io.zip_members.LARGEST", 100_000)
    bomb = archive_of([Entry("a", b" " * RATIO * 10_000, ZSTD)])
    assert f"{CANNOT} it is a decompression bomb" in reason(bomb)
    # One that hides its size stops where the directory says.
    hidden = Entry("a", b" " * RATIO * 10_000, ZSTD, size_shift=-RATIO * 10_000 + 9)
    assert "more than the 9 bytes" in reason(archive_of([hidden]))


def test_large_members_are_read_in_little_memory() -> None:
    """A member is held in pieces, not as a whole."""
    file = io.BytesIO(archive_of([Entry("a", b"0123456789" * 2_000_000, DEFLATE)]))
    member = read_directory(file, "x").member(0)
    tracemalloc.start()
    try:
        checksum = 0
        for piece in member_pieces(file, member, "x"):
            checksum = zlib.crc32(piece, checksum)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert checksum == member.checksum
    assert peak < 2_000_000

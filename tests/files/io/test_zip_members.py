import io
import tracemalloc
import zipfile
import zlib
from random import Random
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damaged_archives import DAMAGES
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.zip_archive import (
    RATIO,
    check_expansion,
    member_pieces,
    read_directory,
    wide_numbers,
)
from zip_archives import DEFLATE, FAR, STORED, ZSTD, Entry, archive_of, zstd_module

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
    data = archive_of([Entry("b", b"1"), Entry("a", b"2")])
    data = data[:32] + b"?" + data[33:]

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


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("shift", [-2, -1, 1])
def test_end_record_with_a_wrong_number_of_members(
    shift: int, *, is_wide: bool
) -> None:
    """Members that the end record does not count are not passed over."""
    entries = [Entry(name, b"1") for name in "abc"]
    found = reason(archive_of(entries, count_shift=shift, is_wide=is_wide))

    assert found.startswith("is a corrupt zip archive: its directory")


@pytest.mark.parametrize("kept", [0, 1, 2])
@pytest.mark.parametrize("at_end", [False, True])
def test_end_record_of_a_part_of_the_directory(kept: int, *, at_end: bool) -> None:
    """A directory whose beginning or end is left out is refused, too."""
    data = archive_of([Entry(name, b"1") for name in "abc"])
    begin, entry = data.index(b"PK\x01\x02"), 47
    if at_end:
        begin += (3 - kept) * entry
    end = pack("<4s4H2LH", b"PK\5\6", 0, 0, kept, kept, kept * entry, begin, 0)

    assert "its member" in (found := reason(data[:-22] + end)) or "corrupt" in found


def test_two_end_records_that_differ() -> None:
    """A number in both end records has to be the same in both."""
    data = archive_of([Entry("a", b"1")], is_wide=True)
    end = pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0)

    assert reason(data[:-22] + end).endswith("its two end records differ")


def test_locator_that_leads_elsewhere() -> None:
    """The end record of zip64 is where its locator says."""
    data = bytearray(archive_of([Entry("a", b"1")], is_wide=True))
    data[-22 - 20 + 8] += 1

    assert reason(bytes(data)).endswith("not where its locator says")


def test_end_record_in_a_comment() -> None:
    """Of two end records none is chosen where the last one is not at the end."""
    data = archive_of([Entry("a", b"1")])
    inner = archive_of([])
    with_comment = data[:-2] + pack("<H", 30) + inner + b"12345678"

    assert reason(with_comment).endswith("its end record is not where it ends")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (Entry("a", b"1", local_name="b"), "another name, 'b'"),
        (Entry("a", b"1", local_size_shift=5), "other sizes: 1 bytes that become 6"),
        (Entry("a", b"1", local_flags=1), "the mark of an encrypted member"),
    ],
)
def test_header_that_differs_from_the_directory(entry: Entry, expected: str) -> None:
    """A member that is described in two ways is not read in either."""
    assert f"{CANNOT} the header before it has {expected}" in reason(
        archive_of([entry])
    )


def test_members_of_a_stream_are_read() -> None:
    """A header before a member may leave its sizes to the descriptor behind it."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    file = Pipe()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", TEXT)
        with archive.open("b", "w", force_zip64=True) as member:
            member.write(TEXT)

    assert read(file.getvalue()) == {"a": TEXT, "b": TEXT}


def test_two_members_of_one_name() -> None:
    """Two members of one name are refused, since each might be meant."""
    data = archive_of([Entry("a", b"1"), Entry("b", b"1"), Entry("a", b"2")])

    assert reason(data).endswith("two of its members have the name 'a'")


@given(st.integers(0, 2**32), st.sampled_from(sorted(DAMAGES)))
def test_damaged_archives(seed: int, damage: str) -> None:
    """A damaged archive is refused, or its members are those that it had."""
    members = {"a": TEXT[:5_000], "b/c": b"[1]" * 50, "d": b""}
    entries = [
        Entry(name, data, method)
        for method, (name, data) in zip(
            (ZSTD, DEFLATE, STORED), members.items(), strict=True
        )
    ]
    random = Random(seed)  # noqa: S311 - damage, no secret
    data = DAMAGES[damage](archive_of(entries), random)
    try:
        found = read(data)
    except SourceError:
        return

    assert list(found.values()) == list(members.values())


@pytest.mark.parametrize("size", [0, 3, 8, 10, 16, 21, 24])
def test_wide_numbers_that_are_cut(size: int) -> None:
    """Of an extra field that ends too early the numbers that are there are read."""
    extra = pack("<2H", 1, 24) + pack("<3Q", 7, 8, 9)[:size]
    whole = (7, 8, 9)[: size // 8] + (FAR,) * (3 - size // 8)

    assert wide_numbers(extra, FAR, FAR, FAR) == whole


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
    monkeypatch.setattr("harpia_formats.files.io.zip_archive.LARGEST", 100_000)
    bomb = archive_of([Entry("a", b" " * RATIO * 10_000, ZSTD)])
    assert f"{CANNOT} it is a decompression bomb" in reason(bomb)
    # One that hides its size stops where the directory says.
    hidden = Entry("a", b" " * RATIO * 10_000, ZSTD, size_shift=-RATIO * 10_000 + 9)
    assert "more than the 9 bytes" in reason(archive_of([hidden]))


@pytest.mark.parametrize("size", [100_000, 100_001])
def test_expansion_of_all_members(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many members, none of which is a bomb, are one together."""
    monkeypatch.setattr("harpia_formats.files.io.zip_archive.LARGEST", 100_000)
    sizes = (50_000, size - 50_000)
    entries = [Entry(f"m{at}", bytes(one), ZSTD) for at, one in enumerate(sizes)]
    file = io.BytesIO(archive_of(entries))
    directory = read_directory(file, "x")
    if size == 100_000:
        check_expansion(directory, "x")
        return

    with pytest.raises(SourceError, match="decompression bomb: its members have"):
        check_expansion(directory, "x")


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

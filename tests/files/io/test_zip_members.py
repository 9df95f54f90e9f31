import io
import itertools
import tracemalloc
import zipfile
import zlib
from hashlib import shake_128
from random import Random
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from damaged_archives import DAMAGES
from harpia_formats.files.io import zip_archive
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.zip_archive import (
    RATIO,
    Member,
    ZipDirectory,
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
    assert failed.value.path == "x.zip"
    return failed.value.reason


@for_each_case(
    "method, is_wide, frames",
    itertools.product([STORED, DEFLATE, ZSTD], [False, True], [1, 3]),
)
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


def test_header_that_is_lost() -> None:
    """What stands in the place of a header is not read as one."""
    name = "a" * 40
    data = archive_of([Entry(name, b"1")])

    assert reason(bytes(30) + data[30:]) == (
        f"its member '{name}' cannot be read: it is missing, and its place holds "
        "something else"
    )


def test_archive_that_is_cut_as_it_is_read() -> None:
    """A file that has become shorter since its directory was read is an error."""
    file = io.BytesIO(archive_of([Entry("a", TEXT)]))
    member = read_directory(file, "x.zip").member(0)
    file.truncate(1_000)
    with pytest.raises(SourceError) as failed:
        list(member_pieces(file, member, "x.zip"))

    assert failed.value.path == "x.zip"
    assert failed.value.reason == f"{CANNOT} the archive ends in it"


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


def test_number_of_members_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many members as the limit are read, and one more is an error that says so."""
    data = archive_of([Entry("a", b"1", STORED), Entry("b", b"2", STORED)])
    monkeypatch.setattr(zip_archive, "MOST_MEMBERS", 2)
    assert read(data) == {"a": b"1", "b": b"2"}

    monkeypatch.setattr(zip_archive, "MOST_MEMBERS", 1)
    assert reason(data) == "has 2 members, more than the 1 that are read"


@pytest.mark.parametrize("bit", range(16))
def test_encrypted_archive(bit: int) -> None:
    """A member that has one of the three marks of encryption is named, and no other."""
    data = archive_of([Entry("a", b"1", flags=1 << bit)])
    if bit in {0, 6, 13}:
        assert reason(data) == "is encrypted (member 'a'); decrypt it first"
    else:
        assert read(data) == {"a": b"1"}


def test_name_in_the_old_encoding() -> None:
    """The name of a member without the mark of UTF-8 is in the code page 437."""
    data = archive_of([Entry("é", b"1", flags=0), Entry("é", b"1")])

    assert [*read(data)] == ["├⌐", "é"]


@pytest.mark.parametrize("name", ["ab:c", ":a", "a..b", "c/d:e"])
def test_member_that_stays_inside(name: str) -> None:
    """A colon that is not behind the letter of a drive leads nowhere."""
    assert read(archive_of([Entry(name, b"1")])) == {name: b"1"}


@pytest.mark.parametrize("is_wide", [False, True])
def test_bytes_before_an_archive(*, is_wide: bool) -> None:
    """What stands before an archive, as a program that unpacks it, moves all places."""
    entries = [Entry("a", TEXT, DEFLATE, is_wide=is_wide), Entry("b", b"1")]

    assert read(b"12345678" + archive_of(entries, is_wide=is_wide)) == {
        "a": TEXT,
        "b": b"1",
    }


@pytest.mark.parametrize("is_wide", [False, True])
def test_empty_archive(*, is_wide: bool) -> None:
    """An archive without members has none, at the beginning of a file too."""
    assert read(archive_of([], is_wide=is_wide)) == {}


def test_directory_that_hides_its_members() -> None:
    """An end record without members in a file that has some is refused."""
    data = archive_of([Entry("a", b"1")])

    assert reason(data[: data.index(b"PK\1\2")] + archive_of([])) == (
        "is a corrupt zip archive: its end record says that it has no members"
    )


def test_longest_comment() -> None:
    """The end record is found before a comment of any length."""
    data = archive_of([Entry("a", TEXT, STORED)])
    comment = b"c" * 0xFFFF

    assert read(data[:-2] + pack("<H", len(comment)) + comment) == {"a": TEXT}


@pytest.mark.parametrize("before", [b"", b"12345678"])
@pytest.mark.parametrize("gap", [24, 25])
def test_bytes_that_belong_to_no_member(gap: int, before: bytes) -> None:
    """Behind a member there may be a descriptor, and no more."""
    data = archive_of([Entry("a", b"1")])
    begin = data.index(b"PK\1\2")
    end = data[:-6] + pack("<LH", begin + gap, 0)
    found = before + data[:begin] + bytes(gap) + end[begin:]
    if gap == 24:
        assert read(found) == {"a": b"1"}
    else:
        assert reason(found) == (
            "is a corrupt zip archive: 25 bytes before its directory belong to no "
            "member"
        )


@pytest.mark.parametrize(
    ("disk", "first", "here"), [(1, 0, 1), (0, 1, 1), (0, 0, 2), (1, 1, 2)]
)
def test_archive_on_several_disks(disk: int, first: int, here: int) -> None:
    """A part of an archive is not read as the whole."""
    data = archive_of([Entry("a", b"1")])
    counts = pack("<4H", disk, first, here, 1)

    assert reason(data[:-18] + counts + data[-10:]) == (
        "is a corrupt zip archive: its end record has two numbers of members"
    )


@pytest.mark.parametrize(("length", "begin"), [(10_000, 32), (47, 33), (20, 59)])
def test_directory_that_is_elsewhere(length: int, begin: int) -> None:
    """A directory is as long as its end record says, and before it."""
    data = archive_of([Entry("a", b"1")])

    assert reason(data[:-10] + pack("<2LH", length, begin, 0)) == (
        "is a corrupt zip archive: its directory is wrong"
    )


def test_entry_without_its_mark() -> None:
    """Each entry of a directory begins with its mark."""
    data = archive_of([Entry("a", b"1")]).replace(b"PK\1\2", b"PK\1\1")

    assert reason(data) == "is a corrupt zip archive: its directory is wrong"


@for_each_case("name", ["../a", "a/../../b", "/a", "\\a", "c:\\a", ".."])
def test_member_that_leads_outside(name: str) -> None:
    """A member that would be written outside of its folder is refused."""
    assert "leads outside" in reason(archive_of([Entry(name, b"1")]))


@pytest.mark.parametrize("name", ["a.json\0.txt", "\0", "folder/\0a"])
def test_a_name_with_a_nul_is_refused(name: str) -> None:
    """Other readers end a name at its NUL, so that two names would be one."""
    assert "has a NUL" in reason(archive_of([Entry(name, b"1")]))


@for_each_case("is_wide, shift", itertools.product([False, True], [-2, -1, 1]))
def test_end_record_with_a_wrong_number_of_members(
    shift: int, *, is_wide: bool
) -> None:
    """Members that the end record does not count are not passed over."""
    entries = [Entry(name, b"1") for name in "abc"]
    found = reason(archive_of(entries, count_shift=shift, is_wide=is_wide))

    assert found.startswith("is a corrupt zip archive: its directory")


@for_each_case("kept, at_end", itertools.product([0, 1, 2], [False, True]))
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


@pytest.mark.parametrize(
    ("begin", "values", "expected"),
    [
        (8, pack("<H", DEFLATE), "another compression, method 8"),
        (14, pack("<L", 5), "another checksum"),
        (14, bytes(12), "other sizes: 0 bytes that become 0"),
        (6, pack("<2HL3L", 8, 0, 0, 0, 2, 1), "other sizes: 2 bytes that become 1"),
        (6, pack("<2HL3L", 8, 0, 0, 5, 0, 0), "other sizes: 0 bytes that become 0"),
    ],
)
def test_numbers_that_differ(begin: int, values: bytes, expected: str) -> None:
    """A header leaves its numbers out only if it says that a descriptor has them."""
    data = archive_of([Entry("a", b"1", flags=0)])

    assert reason(data[:begin] + values + data[begin + len(values) :]) == (
        f"{CANNOT} the header before it has {expected}"
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


@pytest.mark.parametrize("name", ["a", "c"])
def test_two_members_of_one_name(name: str) -> None:
    """Two members of one name are refused, since each might be meant."""
    data = archive_of([Entry(name, b"1"), Entry("b", b"1"), Entry(name, b"2")])

    assert reason(data) == (
        f"is a corrupt zip archive: two of its members have the name '{name}'"
    )


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


def test_wide_numbers_among_other_fields() -> None:
    """Numbers of eight bytes are read of their field alone, wherever it stands."""
    other = pack("<2H5s", 0x5455, 5, b"12345")
    field = pack("<2HQ", 1, 8, 7)

    assert wide_numbers(other + field + other, 3, FAR, FAR) == (3, 7, FAR)
    assert wide_numbers(other, FAR, 3) == (FAR, 3)


def test_unknown_method() -> None:
    """A compression that is not read is named by its number."""
    data = archive_of([Entry("a", b"1", 98)])

    assert reason(data) == f"{CANNOT} it is compressed by method 98, which is not known"


def test_members_that_overlap() -> None:
    """Members that share their bytes, as in a decompression bomb, are refused."""
    for shift in (-32, -2):
        data = archive_of([Entry("a", b"1"), Entry("b", b"1", place_shift=shift)])
        assert reason(data).endswith("its member 'b' overlaps another one")


def test_member_that_overlaps_the_directory() -> None:
    """A member that would be longer than what is before the directory is refused."""
    data = archive_of([Entry("a", b"1")])
    packed = data.index(b"PK\1\2") + 20
    longer = data[:packed] + pack("<L", 100) + data[packed + 4 :]

    assert reason(longer) == (
        "is a corrupt zip archive: its member 'a' overlaps another one"
    )


def test_directory_in_another_order() -> None:
    """Members may stand in another order than their entries."""
    entries = [
        Entry("a", b"1", place_shift=32, local_name="b"),
        Entry("b", b"1", place_shift=-32, local_name="a"),
    ]

    assert read(archive_of(entries)) == {"a": b"1", "b": b"1"}


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


@pytest.mark.parametrize(
    ("packed", "largest"), [(1, 268_435_456), (2_000_000, 400_000_000)]
)
def test_limit_of_expansion(packed: int, largest: int) -> None:
    """Up to 256 MiB or 200 times as many bytes as are packed are no bomb."""
    for size in (largest, largest + 1):
        directory = ZipDirectory()
        directory.add(Member("a", 0, packed, size, STORED, 0))
        if size == largest:
            check_expansion(directory, "x.zip")
            continue
        with pytest.raises(SourceError) as failed:
            check_expansion(directory, "x.zip")
        assert str(failed.value) == (
            f"x.zip: is a decompression bomb: its members have {packed:,} bytes and "
            f"become {size:,}"
        )


def test_member_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member of as many bytes as it may have is read."""
    monkeypatch.setattr("harpia_formats.files.io.zip_archive.LARGEST", 100_000)
    data = archive_of([Entry("a", bytes(100_000), ZSTD)])

    assert read(data) == {"a": bytes(100_000)}


def test_member_that_is_longer_is_not_read_to_its_end() -> None:
    """Reading stops once a member has more bytes than it should."""
    data = archive_of([Entry("a", TEXT, size_shift=9 - len(TEXT))])
    file = io.BytesIO(data)
    member = read_directory(file, "x.zip").member(0)
    with pytest.raises(SourceError, match="more than the 9 bytes"):
        list(member_pieces(file, member, "x.zip"))

    assert file.tell() < len(data) / 2


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(shake_128(b"a").digest(20_000) * 2, id="repeated from far away"),
        pytest.param(bytes(65_537), id="all input is taken before all is put out"),
    ],
)
def test_deflate_data(data: bytes) -> None:
    """What repeats bytes far away, and what is much shorter when packed, is read."""
    assert read(archive_of([Entry("a", data, DEFLATE)])) == {"a": data}


def test_bytes_behind_deflate_data() -> None:
    """What follows compressed data within its member is not passed over."""
    data = archive_of([Entry("a", b"1" * 99, DEFLATE, more=b"more")])

    assert reason(data) == (
        f"{CANNOT} other bytes that are not deflate follow the compressed data"
    )


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

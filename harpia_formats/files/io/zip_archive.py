"""The members of a zip archive: where they are, and their bytes, in little memory."""

import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from struct import Struct
from typing import Any, BinaryIO

from msgspec.structs import replace

from harpia_formats.files.io.encodings import CODECS, Codec, DecompressedStream
from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError, printable

#: Bytes at the end of an archive in which its end record is: with a comment.
_TAIL = 22 + 0xFFFF
_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY, _HEADER = b"PK\x01\x02", b"PK\x03\x04"
_end = struct.Struct("<4s4H2LH")
_end_64 = struct.Struct("<4sQ2H2L4Q")
#: The record that says where the end record of a large archive is.
_locator = struct.Struct("<4sLQL")
_entry = struct.Struct("<4s6H3L5H2L")
_field, _number = struct.Struct("<2H"), struct.Struct("<Q")
#: Stand for a number of eight bytes, of four and of two.
_FAR, _MANY = 0xFFFFFFFF, 0xFFFF
_IS_UTF8, IS_ENCRYPTED = 1 << 11, 1 | 1 << 6 | 1 << 13
#: The extra field of a member with numbers of eight bytes.
_WIDE = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a zip archive, as the directory describes it."""

    name: str
    #: Where its header is, from the beginning of the file.
    offset: int
    #: Its bytes in the archive, and without compression.
    packed: int
    size: int
    method: int
    checksum: int


@dataclass(slots=True)
class ZipDirectory:
    """The members of a zip archive in the order of the directory."""

    #: The names one behind the other, and where each ends.
    _names: bytearray = field(default_factory=bytearray)
    _ends: "array[int]" = field(default_factory=lambda: array("Q", (0,)))
    _offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    _packed: "array[int]" = field(default_factory=lambda: array("Q"))
    _sizes: "array[int]" = field(default_factory=lambda: array("Q"))
    _methods: "array[int]" = field(default_factory=lambda: array("H"))
    _checksums: "array[int]" = field(default_factory=lambda: array("L"))

    def __len__(self) -> int:
        return len(self._offsets)

    def name(self, number: int) -> str:
        """Return the name of a member by its number, from 0."""
        return self._names[self._ends[number] : self._ends[number + 1]].decode()

    def member(self, number: int) -> Member:
        """Return a member by its number, from 0."""
        return Member(
            self.name(number),
            self._offsets[number],
            self._packed[number],
            self._sizes[number],
            self._methods[number],
            self._checksums[number],
        )

    def add(self, member: Member) -> None:
        """Add a member."""
        self._names += member.name.encode()
        self._ends.append(len(self._names))
        self._offsets.append(member.offset)
        self._packed.append(member.packed)
        self._sizes.append(member.size)
        self._methods.append(member.method)
        self._checksums.append(member.checksum)

    def totals(self) -> tuple[int, int]:
        """Return the bytes of all members in the archive, and without compression."""
        return sum(self._packed), sum(self._sizes)

    def last(self) -> Member:
        """Return the member that is behind all others in the archive."""
        return self.member(max(range(len(self)), key=self._offsets.__getitem__))

    def repeated(self) -> str:
        """Return a name that two members have, or ""."""
        # Hashes take less memory than names.
        hashes = {hash(self.name(number)) for number in range(len(self))}
        if len(hashes) == len(self):
            return ""
        names = sorted(map(self.name, range(len(self))))
        return next((one for one, other in pairwise(names) if one == other), "")

    def overlap(self, limit: int) -> str:
        """Return the name of a member whose bytes are also those of another, or "".

        No member may reach beyond the place `limit`, where the directory begins.
        """
        numbers: range | list[int] = range(len(self))
        offsets = self._offsets
        if any(offsets[at] < offsets[at - 1] for at in range(1, len(self))):
            numbers = sorted(numbers, key=offsets.__getitem__)
        end, before = 0, 0
        for number in numbers:
            if offsets[number] < end:
                return self.name(number)
            end, before = offsets[number] + _SMALLEST + self._packed[number], number
        return self.name(before) if end > limit else ""


#: Bytes of the header before a member, at least.
_SMALLEST = 30
#: Bytes of the descriptor behind a member, at most.
_DESCRIPTOR = 24
#: Members of an archive, whose directory is held in memory.
MOST_MEMBERS = 4_000_000


def read_directory(file: BinaryIO, name: str) -> ZipDirectory:
    """Read the directory of the zip archive called `name`.

    Raises `SourceError` if it is cut, encrypted or corrupt, if two members have one
    name, or if a member would be written outside of the folder in which the archive is
    unpacked.
    """
    end = _end_record(file, name)
    # What stands before the archive moves all of its places.
    shift = end.at - end.length - end.begin
    if shift < 0 or end.length < end.count * _entry.size:
        raise _corrupt(name, "its directory is wrong")
    if end.count > MOST_MEMBERS:
        reason = f"has {end.count:,} members, more than the {MOST_MEMBERS:,}"
        raise SourceError(name, f"{reason} that are read")
    file.seek(end.begin + shift)
    found = ZipDirectory()
    for member in _entries(file, end.count, name):
        found.add(_checked_member(member, shift, name))
    if file.tell() != end.at:
        reason = f"its directory does not end behind the {end.count:,} members"
        raise _corrupt(name, f"{reason} that its end record says it has")
    if overlap := found.overlap(end.begin + shift):
        reason = f"its member '{printable(overlap)}' overlaps another one"
        raise _corrupt(name, reason)
    if not len(found):
        file.seek(0)
        if file.read(len(_HEADER)) == _HEADER:
            raise _corrupt(name, "its end record says that it has no members")
    elif gap := _bytes_behind(file, found.last(), end.begin + shift):
        reason = f"{gap:,} bytes before its directory belong to no member"
        raise _corrupt(name, reason)
    if repeated := found.repeated():
        reason = f"two of its members have the name '{printable(repeated)}'"
        raise _corrupt(name, reason)
    return found


def _bytes_behind(file: BinaryIO, member: Member, limit: int) -> int:
    """Return how many bytes from a member to the place `limit` are no descriptor.

    Entries that a wrong beginning hides would be among them.
    """
    file.seek(member.offset)
    header = file.read(_SMALLEST)
    if len(header) < _SMALLEST or not header.startswith(_HEADER):
        return 0  # reported when the member is read
    more = sum(_field.unpack_from(header, _SMALLEST - _field.size))
    gap = limit - member.offset - _SMALLEST - more - member.packed
    return gap if gap > _DESCRIPTOR else 0


def _corrupt(name: str, reason: str) -> SourceError:
    return SourceError(name, f"is a corrupt zip archive: {reason}")


@dataclass(frozen=True, slots=True)
class _End:
    """What the end record of an archive says of its directory, and where that ends."""

    at: int
    #: The members of the directory, its bytes, and where it begins.
    count: int
    length: int
    begin: int


def _end_record(file: BinaryIO, name: str) -> _End:
    """Read the end record. Raises `SourceError` if there is none, or a wrong one."""
    size = file.seek(0, 2)
    first = max(0, size - _TAIL)
    file.seek(first)
    tail = file.read(_TAIL)
    found = tail.rfind(_END)
    if found < 0 or len(tail) - found < _end.size:
        reason = "is a cut zip archive: the directory at its end is missing"
        raise SourceError(name, reason)
    *_, comment = narrow = _end.unpack_from(tail, found)
    if found + _end.size + comment != len(tail):
        raise _corrupt(name, "its end record is not where it ends")
    numbers, at = narrow[1:-1], first + found
    wide = _wide_end_record(file, at, name)
    if wide:
        # A number that both records have is the same in both.
        is_same = all(
            one in (other, mark)
            for one, other, mark in zip(numbers, wide, _MARKS, strict=True)
        )
        if not is_same:
            raise _corrupt(name, "its two end records differ")
        numbers, at = wide, at - _locator.size - _end_64.size
    disk, first_disk, here, count, length, begin = numbers
    if disk or first_disk or here != count:
        raise _corrupt(name, "its end record has two numbers of members")
    return _End(at, count, length, begin)


#: What stands in an end record for each number that is in the one of zip64.
_MARKS = (_MANY,) * 4 + (_FAR,) * 2


def _wide_end_record(file: BinaryIO, at: int, name: str) -> tuple[int, ...]:
    """Return the numbers of the zip64 end record before the place `at`, () without.

    Raises `SourceError` if it is not where its locator says.
    """
    place = at - _locator.size - _end_64.size
    if place < 0:
        return ()
    file.seek(place)
    record = file.read(_end_64.size + _locator.size)
    sign, _, offset, _ = _locator.unpack_from(record, _end_64.size)
    if sign != _LOCATOR:
        return ()
    numbers: tuple[int, ...] = _end_64.unpack_from(record)[4:]
    *_, length, begin = numbers
    shift = place - length - begin
    if not record.startswith(_END_64) or offset + shift != place:
        raise _corrupt(name, "its zip64 end record is not where its locator says")
    return numbers


def _entries(file: BinaryIO, count: int, name: str) -> Iterator[Member]:
    """Yield the entries of a directory; raises `SourceError`."""
    for _ in range(count):
        head = file.read(_entry.size)
        if len(head) < _entry.size or not head.startswith(_ENTRY):
            raise _corrupt(name, "its directory is wrong")
        _, _, _, flags, method, _, _, *numbers = _entry.unpack(head)
        checksum, packed, size, *sizes, _, _, _, offset = numbers
        raw, extra, _ = (file.read(length) for length in sizes)
        text = member_name(raw, flags)
        if flags & IS_ENCRYPTED:
            reason = f"is encrypted (member '{printable(text)}'); decrypt it first"
            raise SourceError(name, reason)
        size, packed, offset = wide_numbers(extra, size, packed, offset)
        yield Member(text, offset, packed, size, method, checksum)


def member_name(raw: bytes, flags: int) -> str:
    """Return the name of a member in the encoding that its flags tell."""
    return raw.decode("utf-8" if flags & _IS_UTF8 else "cp437", "replace")


def wide_numbers(extra: bytes, *numbers: int) -> tuple[int, ...]:
    """Return numbers of a member, those that need it from its extra field."""
    if _FAR not in numbers:
        return numbers
    while len(extra) >= _field.size:
        kind, length = _field.unpack_from(extra)
        end = _field.size + length
        data, extra = extra[_field.size : end], extra[end:]
        if kind == _WIDE:
            whole = data[: len(data) & ~7]  # it may be cut
            wide = (number for (number,) in _number.iter_unpack(whole))
            return tuple(
                next(wide, number) if number == _FAR else number for number in numbers
            )
    return numbers


def _checked_member(member: Member, shift: int, name: str) -> Member:
    """Return a member with its place in the file.

    Raises `SourceError` if its name leads outside of the archive, or has a NUL, at
    which other readers end it: members with several names for them would have one.
    """
    if "\0" in member.name:
        reason = f"the name '{printable(member.name)}' of a member has a NUL"
        raise _corrupt(name, reason)
    steps = member.name.replace("\\", "/").split("/")
    if ".." in steps or not steps[0] or ":" in steps[0][1:2]:
        reason = f"its member '{printable(member.name)}' leads outside of it"
        raise SourceError(name, f"is refused: {reason}")
    if not shift:
        return member
    return Member(
        member.name,
        member.offset + shift,
        member.packed,
        member.size,
        member.method,
        member.checksum,
    )


_STORED, _DEFLATE, _ZSTD = 0, 8, 93
_MEMBER_HEADER = b"PK\x03\x04"
_header = Struct("<4s5H3L2H")
#: The sizes of a member are in the descriptor behind it, not in its header.
_HAS_DESCRIPTOR = 1 << 3
#: A member of more bytes than these that becomes so many times as long by being
#: decompressed is a decompression bomb: text seldom becomes 50 times as long. The same
#: is true of all members together.
LARGEST, RATIO = 256 * 1024 * 1024, 200


def check_expansion(directory: ZipDirectory, name: str) -> None:
    """Raise `SourceError` if all members together are a decompression bomb."""
    packed, size = directory.totals()
    if size > max(LARGEST, RATIO * packed):
        reason = "is a decompression bomb: its members have"
        raise SourceError(name, f"{reason} {packed:,} bytes and become {size:,}")


def member_pieces(file: BinaryIO, member: Member, name: str) -> Iterator[bytes]:
    """Yield the bytes of a member of the zip archive called `name`.

    The last piece is yielded once the checksum of all was compared. Raises
    `SourceError` if the member is missing, corrupt or a decompression bomb.
    """
    try:
        yield from _checked_pieces(_pieces(file, member, name), member, name)
    except SourceError as error:
        reason = f"its member '{printable(member.name)}' cannot be read: {error.reason}"
        raise SourceError(name, reason) from error


def _checked_pieces(
    pieces: Iterator[bytes], member: Member, name: str
) -> Iterator[bytes]:
    """Yield `pieces`; raises `SourceError` if they are not those of the directory."""
    if member.size > max(LARGEST, RATIO * member.packed):
        reason = f"it is a decompression bomb: {member.packed:,} bytes become"
        raise SourceError(name, f"{reason} {member.size:,}")
    held, size, checksum = b"", 0, 0
    for piece in pieces:
        size += len(piece)
        checksum = zlib.crc32(piece, checksum)
        if size > member.size:
            break
        if held:
            yield held
        held = piece
    if size != member.size:
        more = "more" if size > member.size else "fewer"
        reason = f"it has {more} than the {member.size:,} bytes that it should have"
        raise SourceError(name, reason)
    if checksum != member.checksum:
        raise SourceError(name, "its checksum does not match")
    if held:
        yield held


def _pieces(file: BinaryIO, member: Member, name: str) -> Iterator[bytes]:
    """Yield what the packed bytes of a member become; raises `SourceError`."""
    packed = FullReader(_PackedBytes(file, member, name).pull)
    if member.method == _STORED:
        pull = packed.read
    else:
        codec = _codec_of(member.method)
        if codec is None:
            reason = f"it is compressed by method {member.method}, which is not known"
            raise SourceError(name, reason)
        pull = DecompressedStream(name, codec, packed).pull
    while piece := pull(BLOCK):
        yield piece


class _PackedBytes:
    """The bytes of a member as they are in the archive."""

    def __init__(self, file: BinaryIO, member: Member, name: str) -> None:
        """Go to the first of them. Raises `SourceError` if the member is missing."""
        self._file = file
        self._left = member.packed
        self._name = name
        file.seek(member.offset)
        header = file.read(_header.size)
        if len(header) < _header.size or not header.startswith(_MEMBER_HEADER):
            raise SourceError(name, "it is missing, and its place holds something else")
        *numbers, name_size, extra_size = _header.unpack(header)
        own_name, extra = file.read(name_size), file.read(extra_size)
        differs = _difference(member, numbers, own_name, extra)
        if differs:
            raise SourceError(name, f"the header before it has {differs}")

    def pull(self, size: int) -> bytes:
        """Return some of the bytes, at most `size`, none at the end."""
        if not self._left:
            return b""
        piece = self._file.read(min(size, self._left))
        if not piece:
            raise SourceError(self._name, "the archive ends in it")
        self._left -= len(piece)
        return piece


def _difference(member: Member, numbers: list[Any], name: bytes, extra: bytes) -> str:
    """Return in what a header differs from the directory's entry, "" in nothing."""
    _, _, flags, method, _, _, checksum, packed, size = numbers
    if member_name(name, flags) != member.name:
        return f"another name, '{printable(member_name(name, flags))}'"
    if flags & IS_ENCRYPTED:
        return "the mark of an encrypted member, which the directory has not"
    if method != member.method:
        return f"another compression, method {method}"
    size, packed = wide_numbers(extra, size, packed)
    if flags & _HAS_DESCRIPTOR and not (size or packed or checksum):
        return ""
    if (size, packed) != (member.size, member.packed):
        return f"other sizes: {packed:,} bytes that become {size:,}"
    return "" if checksum == member.checksum else "another checksum"


class _Inflate:
    """A decompressor of raw deflate data."""

    __slots__ = ("_inflate", "_is_full")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=-15)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not (self._is_full or self._inflate.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        piece = self._inflate.decompress(
            self._inflate.unconsumed_tail or data, max_length
        )
        self._is_full = len(piece) == max_length
        return piece


_DEFLATE_CODEC = Codec("deflate", "", (), BLOCK, lambda: (_Inflate, zlib.error), "")


def _codec_of(method: int) -> Codec | None:
    """Return the compression of a method number, None if it is not read."""
    if method == _DEFLATE:
        return _DEFLATE_CODEC
    if method == _ZSTD:
        zstd = next(codec for codec in CODECS if codec.name == "zstd")
        return replace(zstd, step=BLOCK)
    return None

"""The directory of a zip archive: where its members are, in little memory.

The standard library's `zipfile` holds some 700 bytes for each member; here it is the
name and some 40, since an evaluation log may have a member for each of a million
samples. Source: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3 to 4.5.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from harpia_formats.io.reader import SourceError, printable

#: Bytes at the end of an archive in which its end record is: with a comment.
_TAIL = 22 + 0xFFFF
_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY = b"PK\x01\x02"
_end = struct.Struct("<4s4H2LH")
_end_64 = struct.Struct("<4sQ2H2L4Q")
_entry = struct.Struct("<4s6H3L5H2L")
_field, _number = struct.Struct("<2H"), struct.Struct("<Q")
#: Bytes of the record that says where the end record of a large archive is.
_LOCATOR_SIZE = 20
#: Stands for a number of eight bytes.
_FAR = 0xFFFFFFFF
_IS_UTF8, _IS_ENCRYPTED = 1 << 11, 1 | 1 << 6 | 1 << 13
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

    def overlap(self) -> str:
        """Return the name of a member whose bytes are also those of another, or ""."""
        numbers: range | list[int] = range(len(self))
        offsets = self._offsets
        if any(offsets[at] < offsets[at - 1] for at in range(1, len(self))):
            numbers = sorted(numbers, key=offsets.__getitem__)
        end = 0
        for number in numbers:
            if offsets[number] < end:
                return self.name(number)
            end = offsets[number] + _SMALLEST + self._packed[number]
        return ""


#: Bytes of the header before a member, at least.
_SMALLEST = 30


def read_directory(file: BinaryIO, name: str) -> ZipDirectory:
    """Read the directory of the zip archive called `name`.

    Raises `SourceError` if it is cut, encrypted or corrupt, or if a member would be
    written outside of the folder in which the archive is unpacked.
    """
    size = file.seek(0, 2)
    at, count, begin, length = _place_of_directory(file, size, name)
    # What stands before the archive moves all of its places.
    shift = at - length - begin
    if shift < 0 or length < count * _entry.size:
        raise SourceError(name, "is a corrupt zip archive: its directory is wrong")
    file.seek(begin + shift)
    found = ZipDirectory()
    for member in _entries(file, count, name):
        found.add(_checked(member, shift, name))
    if overlap := found.overlap():
        reason = f"its member '{printable(overlap)}' overlaps another one"
        raise SourceError(name, f"is a corrupt zip archive: {reason}")
    return found


def _place_of_directory(
    file: BinaryIO, size: int, name: str
) -> tuple[int, int, int, int]:
    """Return where the directory ends, its members, where it begins, and its bytes."""
    first = max(0, size - _TAIL)
    file.seek(first)
    tail = file.read(_TAIL)
    found = tail.rfind(_END)
    if found < 0 or len(tail) - found < _end.size:
        reason = "is a cut zip archive: the directory at its end is missing"
        raise SourceError(name, reason)
    _, _, _, _, count, length, begin, _ = _end.unpack_from(tail, found)
    at = first + found
    far = at - _LOCATOR_SIZE - _end_64.size
    if far < 0:
        return at, count, begin, length
    file.seek(far)
    record = file.read(_end_64.size + _LOCATOR_SIZE)
    if record[_end_64.size :].startswith(_LOCATOR) and record.startswith(_END_64):
        *_, count, length, begin = _end_64.unpack_from(record)
        at = far
    return at, count, begin, length


def _entries(file: BinaryIO, count: int, name: str) -> Iterator[Member]:
    """Yield the entries of a directory; raises `SourceError`."""
    for _ in range(count):
        head = file.read(_entry.size)
        if len(head) < _entry.size or not head.startswith(_ENTRY):
            raise SourceError(name, "is a corrupt zip archive: its directory is wrong")
        _, _, _, flags, method, _, _, *numbers = _entry.unpack(head)
        checksum, packed, size, *sizes, _, _, _, offset = numbers
        raw, extra, _ = (file.read(length) for length in sizes)
        text = raw.decode("utf-8" if flags & _IS_UTF8 else "cp437", "replace")
        if flags & _IS_ENCRYPTED:
            reason = f"is encrypted (member '{printable(text)}'); decrypt it first"
            raise SourceError(name, reason)
        size, packed, offset = _wide(extra, size, packed, offset)
        yield Member(text, offset, packed, size, method, checksum)


def _wide(extra: bytes, *numbers: int) -> tuple[int, ...]:
    """Return numbers of a member, those that need it from its extra field."""
    if _FAR not in numbers:
        return numbers
    while len(extra) >= _field.size:
        kind, length = _field.unpack_from(extra)
        data, extra = extra[_field.size :][:length], extra[_field.size + length :]
        if kind == _WIDE:
            wide = (number for (number,) in _number.iter_unpack(data[: length & ~7]))
            return tuple(
                next(wide, number) if number == _FAR else number for number in numbers
            )
    return numbers


def _checked(member: Member, shift: int, name: str) -> Member:
    """Return a member with its place in the file.

    Raises `SourceError` if its name leads outside of the archive.
    """
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

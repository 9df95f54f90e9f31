"""Zip archives with what the standard library does not write: zstd, and mistakes."""

import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from struct import pack
from typing import Any

STORED, DEFLATE, ZSTD = 0, 8, 93
#: What stands for a number of eight bytes.
FAR = 0xFFFFFFFF


def zstd_module() -> Any:
    """Return the module of zstd; raises `ImportError` without the extra."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - only zstd data needs it
    else:
        from backports import zstd  # noqa: PLC0415 - the extra may be missing
    return zstd


@dataclass
class Entry:
    """A member of an archive, and what is wrong with it."""

    name: str
    data: bytes
    method: int = STORED
    #: Added to the checksum, to the size in the directory, and to the place.
    checksum_shift: int = 0
    size_shift: int = 0
    place_shift: int = 0
    flags: int = 1 << 11
    is_wide: bool = False
    #: What differs in the header before it: its name, its size, and marks.
    local_name: str = ""
    local_size_shift: int = 0
    local_flags: int = 0
    #: zstd frames of which the data consists.
    frames: int = 1
    #: What follows the compressed data.
    more: bytes = b""

    @property
    def packed(self) -> bytes:
        """The bytes of it in the archive."""
        return self._compressed() + self.more

    def _compressed(self) -> bytes:
        if self.method == DEFLATE:
            deflate = zlib.compressobj(wbits=-15)
            return deflate.compress(self.data) + deflate.flush()
        if self.method == ZSTD:
            width = -(-len(self.data) // self.frames) or 1
            begins = range(0, len(self.data) or 1, width)
            parts = (self.data[at : at + width] for at in begins)
            return b"".join(map(zstd_module().compress, parts))
        return self.data


def archive_of(
    entries: Iterable[Entry], *, is_wide: bool = False, count_shift: int = 0
) -> bytes:
    """Return a zip archive with members; `is_wide` writes an end record of zip64.

    `count_shift` is added to the number of members in the end record.
    """
    body, directory, count = bytearray(), bytearray(), 0
    for entry in entries:
        name, packed = entry.name.encode(), entry.packed
        checksum = zlib.crc32(entry.data) + entry.checksum_shift & FAR
        size, place = len(entry.data) + entry.size_shift, len(body) + entry.place_shift
        common = pack("<3HL", entry.flags, entry.method, 0, 0)
        sizes, extra = pack("<2L", len(packed), size), b""
        if entry.is_wide:
            extra = pack("<2H3Q", 1, 24, size, len(packed), place)
            sizes, place = pack("<2L", FAR, FAR), FAR
        crc = pack("<L", checksum)
        own_name = entry.local_name.encode() or name
        own_flags = pack("<H", entry.flags | entry.local_flags)
        body += b"PK\x03\x04\x14\0" + own_flags + common[2:4] + b"\0\0\0\0" + crc
        own_size = size + entry.local_size_shift
        body += pack("<2L2H", len(packed), own_size, len(own_name), 0)
        body += own_name + packed
        directory += b"PK\x01\x02\x14\0\x14\0" + common[:4] + b"\0\0\0\0" + crc + sizes
        directory += pack("<5H2L", len(name), len(extra), 0, 0, 0, 0, place)
        directory += name + extra
        count += 1
    count += count_shift
    begin, length = len(body), len(directory)
    end = b""
    if is_wide:
        end = b"PK\x06\x06" + pack(
            "<Q2H2L4Q", 44, 45, 45, 0, 0, count, count, length, begin
        )
        end += b"PK\x06\x07" + pack("<LQL", 0, begin + length, 1)
        count, length, begin = 0xFFFF, FAR, FAR
    end += b"PK\x05\x06" + pack("<4H2LH", 0, 0, count, count, length, begin, 0)
    return bytes(body + directory + end)

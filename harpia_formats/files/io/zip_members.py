"""The bytes of members of a zip archive, decompressed in pieces.

Before version 3.14 the standard library's `zipfile` refuses members compressed by zstd,
which evaluation tools write by default.
"""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from struct import Struct
from typing import Any, BinaryIO

from harpia_formats.files.io.compression import CODECS, Codec, DecompressedStream
from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError, printable
from harpia_formats.files.io.zip_directory import (
    IS_ENCRYPTED,
    Member,
    ZipDirectory,
    member_name,
    wide_numbers,
)

_STORED, _DEFLATE, _ZSTD = 0, 8, 93
_HEADER = b"PK\x03\x04"
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
        yield from _checked(_pieces(file, member, name), member, name)
    except SourceError as error:
        reason = f"its member '{printable(member.name)}' cannot be read: {error.reason}"
        raise SourceError(name, reason) from error


def _checked(pieces: Iterator[bytes], member: Member, name: str) -> Iterator[bytes]:
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
        if len(header) < _header.size or not header.startswith(_HEADER):
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

"""Decompress data in bounded memory; the compression is recognized by its bytes."""

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError

#: Bytes that bzip2, xz and zstd decompress in one call, so that a corrupt byte loses no
#: more than these.
STEP = 4 * 1024
#: Bytes of memory that xz may use (`xz -9` needs 65 MiB); zstd has the same limit.
MEMORY = 128 * 1024 * 1024


class _Decompressor(Protocol):
    """The interface that the decompressors of bz2, lzma and zstd share."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """A decompressor of gzip that returns all data before a corrupt byte."""

    __slots__ = ("_failure", "_full", "_inflate")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)
        self._full = False
        self._failure: zlib.error | None = None

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not (self._full or self._inflate.unconsumed_tail or self._failure)

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if self._failure:
            raise self._failure
        data = self._inflate.unconsumed_tail or data
        before = self._inflate.copy()
        try:
            piece = self._inflate.decompress(data, max_length)
        except zlib.error as error:
            self._failure = error
            self._inflate = before
            return b"".join(self._salvage(data))
        self._full = len(piece) == max_length
        return piece

    def _salvage(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` decompresses to, byte by byte, up to the failure."""
        for at in range(len(data)):
            try:
                yield self._inflate.decompress(data[at : at + 1])
            except zlib.error:
                return


#: Creates a decompressor, and the class of the errors that it raises.
_Loaded = tuple[Callable[[], _Decompressor], type[Exception]]


@dataclass(frozen=True, slots=True)
class Codec:
    """One kind of compression."""

    name: str
    suffix: str
    #: Byte sequences, one of which its data begins with.
    magics: tuple[bytes, ...]
    #: Bytes to decompress in one call; a call that fails loses them.
    step: int
    load: Callable[[], _Loaded]
    #: The end of the message if it cannot be imported.
    missing: str


def _load_gzip() -> _Loaded:
    return _Gzip, zlib.error


def _load_bzip2() -> _Loaded:
    import bz2  # noqa: PLC0415 - only bzip2 data needs it

    return bz2.BZ2Decompressor, OSError


def _load_xz() -> _Loaded:
    import lzma  # noqa: PLC0415 - only xz data needs it

    return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MEMORY), lzma.LZMAError


def _load_zstd() -> _Loaded:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - only zstd data needs it
    else:
        from backports import zstd  # noqa: PLC0415 - the extra may be missing

    return zstd.ZstdDecompressor, zstd.ZstdError


#: The first bytes of skippable frames (RFC 8878, section 3.1.2).
_SKIPPABLE = tuple(bytes((first, 0x2A, 0x4D, 0x18)) for first in range(0x50, 0x60))
_NO_MODULE = "needs a Python that was built with"
_EXTRA = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'
CODECS = (
    Codec("gzip", ".gz", (b"\x1f\x8b",), BLOCK, _load_gzip, f"{_NO_MODULE} zlib"),
    Codec("bzip2", ".bz2", (b"BZh",), STEP, _load_bzip2, f"{_NO_MODULE} bz2"),
    Codec("xz", ".xz", (b"\xfd7zXZ\x00",), STEP, _load_xz, f"{_NO_MODULE} lzma"),
    Codec("zstd", ".zst", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), STEP, _load_zstd, _EXTRA),
)
#: Bytes of a file by which its compression is recognized.
LONGEST_MAGIC = max(len(magic) for codec in CODECS for magic in codec.magics)


def codec_of(name: str, head: bytes) -> Codec | None:
    """Return the compression of data that begins with `head`, None if it has none.

    Raises `SourceError` if the suffix of `name` stands for another compression.
    """
    found = next((codec for codec in CODECS if head.startswith(codec.magics)), None)
    for codec in CODECS:
        if head and codec is not found and name.lower().endswith(codec.suffix):
            reason = (
                f"is not {codec.name} data although its name ends in {codec.suffix}"
            )
            raise SourceError(name, reason)
    return found


class DecompressedStream:
    """The data in one or more compressed members, one behind the other.

    They are called streams in xz and frames in zstd.
    """

    __slots__ = ("_codec", "_decompressor", "_error", "_name", "_new", "_raw", "_rest")

    def __init__(self, name: str, codec: Codec, raw: FullReader) -> None:
        self._name = name
        self._codec = codec
        self._raw = raw
        try:
            self._new, self._error = codec.load()
        except ImportError as error:
            raise SourceError(name, codec.missing) from error
        self._decompressor = self._new()
        #: Compressed bytes that were read and not yet decompressed.
        self._rest = b""

    def pull(self, size: int) -> bytes:
        """Return some of the data, at most `size` bytes, none at the end.

        Raises `SourceError` if the data is corrupt or truncated.
        """
        while not (piece := self._step(min(size, self._codec.step))):
            if self._decompressor.eof and not self._next_member():
                return b""
        return piece

    def _step(self, size: int) -> bytes:
        """Decompress up to `size` bytes, perhaps none."""
        data = b""
        if self._decompressor.eof:
            return data
        if self._decompressor.needs_input:
            data = self._rest or self._raw.read(BLOCK)
            self._rest = b""
            if not data:
                raise SourceError(self._name, "compressed data is truncated")
        try:
            return self._decompressor.decompress(data, size)
        except self._error as error:
            raise SourceError(self._name, _corrupt_reason(error)) from error

    def _next_member(self) -> bool:
        """Skip padding and begin the next member; tell whether there is one."""
        rest = self._decompressor.unused_data
        while not (rest := rest.lstrip(b"\0")):
            rest = self._raw.read(BLOCK)
            if not rest:
                return False
        if len(rest) < LONGEST_MAGIC:
            rest += self._raw.read(BLOCK)
        if not rest.startswith(self._codec.magics):
            raise SourceError(self._name, self._trailing_reason(rest))
        self._rest = rest
        self._decompressor = self._new()
        return True

    def _trailing_reason(self, rest: bytes) -> str:
        """Return what is wrong with bytes that are no next member."""
        if any(magic.startswith(rest) for magic in self._codec.magics):
            return "compressed data is truncated"
        name = self._codec.name
        return f"other bytes that are not {name} follow the compressed data"


def _corrupt_reason(error: Exception) -> str:
    """Return the error of a decompressor as the end of a message."""
    message = str(error).lower()
    if "memory" in message:
        return "compressed data needs too much memory to decompress"
    if "data check" in message or "checksum" in message:
        return "compressed data is corrupt (checksum does not match)"
    return "compressed data is corrupt"

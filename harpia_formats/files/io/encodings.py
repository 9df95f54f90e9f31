"""How the bytes of a file are encoded: their compression, and the text encoding."""

import codecs
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from msgspec import Struct

from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError
from harpia_formats.model.problem import OptionError

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


class Codec(Struct, frozen=True):
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
_MAGICS = tuple(magic for codec in CODECS for magic in codec.magics)
LONGEST_MAGIC = max(map(len, _MAGICS))
#: What the names of compressed files end in.
SUFFIXES = tuple(codec.suffix for codec in CODECS)


def codec_of(name: str, head: bytes) -> Codec | None:
    """Return the compression of data that begins with `head`, None if it has none.

    Raises `SourceError` if the suffix of `name` stands for another compression.
    """
    if not (head.startswith(_MAGICS) or name.lower().endswith(SUFFIXES)):
        return None
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


_MARKS = (  # the longer ones first, since one begins with another
    (b"\xff\xfe\x00\x00", "UTF-32LE"),
    (b"\x00\x00\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
)
_ZEROS: dict[tuple[bool, ...], str] = {
    (True, True, True, False): "UTF-32BE",
    (False, True, True, True): "UTF-32LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, False, True): "UTF-16LE",
}
#: Encodings of Chinese, each with the characters that are the most frequent in texts
#: that are written in it. GB18030 holds GBK, and that GB2312.
_CHINESE = {
    "GB18030": frozenset(
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
        "过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心问"
        "答案对错请选择下列哪项"
    ),
    "Big5": frozenset(
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年"
        "過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心問"
        "答案對錯請選擇下列哪項"
    ),
}
#: Ideographs that a text must have to be taken for Chinese, and the least share of them
#: that is frequent. In texts of other languages hardly any is.
_FEWEST, _LEAST_SHARE = 6, 0.08


def wide_encoding(head: bytes) -> str | None:
    """Return the name of the encoding if `head`, four bytes, is UTF-16 or UTF-32.

    None if it is neither. Source: byte order marks, else the pattern of zeros in
    RFC 4627, section 3.
    """
    if head.isascii() and 0 not in head:
        return None
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return _ZEROS.get(tuple(byte == 0 for byte in head))


def chinese_encoding(head: bytes) -> str | None:
    """Return the encoding of Chinese that `head`, the start of a text, is in.

    None if it is UTF-8 as far as it goes, if it is in no such encoding, or if that is
    not certain.
    """
    if head.isascii() or _is_utf8(head):
        return None
    shares = {name: _frequent_share(head, name) for name in _CHINESE}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _LEAST_SHARE else None


def _is_utf8(head: bytes) -> bool:
    """Return whether a text has a character of UTF-8 that is not ASCII.

    A text with damaged bytes has others that are whole.
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        text = head.decode("utf-8", "surrogateescape")
        others = [letter for letter in text if letter > "\x7f"]
        return 2 * sum(map(_is_whole, others)) > len(others)
    return True


def _is_whole(letter: str) -> bool:
    """Return whether a letter is no byte that is not UTF-8."""
    return not "\udc80" <= letter <= "\udcff"


def _frequent_share(head: bytes, encoding: str) -> float:
    """Return the share of ideographs that are frequent if `head` is in an encoding.

    0 if it cannot be, or has few ideographs.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(head)
    except UnicodeDecodeError:
        return 0
    ideographs = [letter for letter in text if "\u4e00" <= letter <= "\u9fff"]
    others = sum(letter > "\x7f" for letter in text) - len(ideographs)
    has_kana = any("\u3040" <= letter <= "\u30ff" for letter in text)
    if has_kana or len(ideographs) < max(_FEWEST, others):
        return 0
    frequent = [letter for letter in ideographs if letter in _CHINESE[encoding]]
    return len(frequent) / len(ideographs) if len(set(frequent)) > 1 else 0


def other_encoding(head: bytes) -> str:
    """Return why text that begins with `head` is not read, "" if it may be UTF-8."""
    wide = wide_encoding(head[:4])
    if wide is not None:
        # If the name says the byte order, iconv keeps the mark as a character.
        marked = b"\xff\xfe" in head[:4] or b"\xfe\xff" in head[:4]
        order = "little endian" if wide.endswith("LE") else "big endian"
        name = wide[:-2] if marked else wide
        return _not_utf8(f"{wide[:-2]} ({order})", name)
    chinese = chinese_encoding(head)
    if chinese is None:
        return ""
    shown = "GBK or GB18030" if chinese == "GB18030" else chinese
    return _not_utf8(f"{shown} by its first characters", chinese)


def _not_utf8(shown: str, name: str) -> str:
    """Return that a text is not UTF-8, with the commands that read and convert it."""
    return (
        f"is {shown}, not UTF-8; read it with `--encoding {name}`, or "
        f"convert it with: iconv -f {name} -t UTF-8"
    )


#: Encodings of the names of hosts: Python has them, but no file is written in them, and
#: they are decoded to another text piece by piece than as a whole.
_OF_HOST_NAMES = {"idna", "punycode"}


def checked_encoding(name: str) -> str:
    """Return the name of an encoding of text; raises `OptionError` for another one."""
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # codecs of bytes, such as zlib, refuse a text
        is_known = found.name not in _OF_HOST_NAMES
    except (LookupError, UnicodeError, ValueError):
        is_known = False
    if not is_known:
        reason = f"no encoding of text is called {name!r}"
        raise OptionError(f"{reason}; use one such as gb18030, big5 or utf-16")
    return found.name


class EncodedPath(str):
    """A path or URL with what the user says of it: its encoding, or its name."""

    #: As `checked_encoding` returns it, None for UTF-8.
    encoding: str | None
    #: The name that standard input has, None for that of the file.
    name: str | None

    __slots__ = ("encoding", "name")

    @classmethod
    def of(
        cls,
        place: str | os.PathLike[str],
        encoding: str | None,
        name: str | None = None,
    ) -> Self:
        """Return a path with its encoding and its name."""
        path = cls(os.fspath(place))
        path.encoding = encoding
        path.name = name
        return path


class RecodedText:
    """Text in any encoding as UTF-8."""

    __slots__ = ("_decoder", "_encoding", "_name", "_raw", "_read", "_rest")

    def __init__(self, name: str, encoding: str, raw: FullReader) -> None:
        """Decode what `raw` reads of the file `name`."""
        self._name = name
        self._encoding = encoding
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)()
        #: Bytes that were read, and text that was not yet taken.
        self._read = 0
        self._rest = b""

    def pull(self, size: int) -> bytes:
        """Return some of the text as UTF-8, at most `size` bytes, none at the end.

        Raises `SourceError` for bytes that are not in the encoding.
        """
        while not self._rest:
            data = self._raw.read(BLOCK)
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeError as error:
                reason = _not_in_encoding(self._encoding, error, self._read)
                raise SourceError(self._name, reason) from None
            self._read += len(data)
            self._rest = text.encode("utf-8", "surrogatepass")
            if not data:
                break
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _not_in_encoding(encoding: str, error: UnicodeError, before: int) -> str:
    """Return why a text is not in an encoding, with `before` bytes before its part."""
    if isinstance(error, UnicodeDecodeError):
        at, byte = before + error.start, error.object[error.start]
        reason = f"the byte 0x{byte:02X} at about offset {at:,} is no character in it"
    elif encoding in {"utf-16", "utf-32"}:
        reason = (
            "it does not begin with a byte order mark; if it has none, name the order "
            f"of its bytes: {encoding}-le or {encoding}-be"
        )
    else:
        reason = str(error)
    return f"is not {encoding}: {reason}"

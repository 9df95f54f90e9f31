"""Bytes in: from files, folders, patterns and standard input, compressed or not."""

import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self

#: Bytes in a block, and in one read from the disk.
BLOCK = 64 * 1024
#: Bytes that bzip2, xz and zstd give at a time: more is not lost at a fault.
STEP = 4 * 1024
#: Bytes of memory that xz may take (`xz -9` needs 65 MiB); zstd has the same limit.
MEMORY = 128 * 1024 * 1024
#: Names that a near name is looked for among; a folder can hold millions.
NEIGHBOURS = 2_000

STANDARD_INPUT = "<stdin>"


class SourceError(Exception):
    """Something could not be read: what, as shown to the user, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{_printable(self.path)}: {_printable(self.reason)}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where bytes come from."""

    #: As shown to the user.
    name: str
    #: A regular file or FIFO, bytes in memory, or an open binary stream.
    origin: Path | bytes | BinaryIO


def find_sources(arguments: Iterable[str | os.PathLike[str]]) -> list[Source]:
    """Return what `arguments` name, in their order and each path once.

    An argument is `-` for standard input, a file, a folder (all data files below
    it) or a pattern of file names.  Raise `SourceError` where one names nothing
    that can be read.
    """
    found: dict[Path | str, Source] = {}
    for argument in arguments:
        for each in _sources_of(os.fspath(argument)):
            origin = each.origin
            # Not resolved: a link and its target are two names of the user's.
            key = origin.absolute() if isinstance(origin, Path) else "-"
            found.setdefault(key, each)
    return list(found.values())


def open_source(source: Source, size: int = BLOCK) -> "Reader":
    """Open `source` for one pass in decompressed blocks of `size` bytes.

    Raise `SourceError` if it cannot be opened, `ValueError` if `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"a block of {size} bytes")
    return Reader(source, size)


class Reader:
    """The decompressed bytes of one source, in blocks, once.

    All blocks but the last have the full size.  Iterating raises `SourceError`
    where nothing more can be read, after the last good data: gzip data is kept up
    to the byte that is wrong, of other corrupt data less than `STEP` bytes before
    the fault are lost.
    """

    __slots__ = (
        "_blocks",
        "_consumed",
        "_size",
        "_source",
        "_stream",
        "name",
        "total",
    )

    def __init__(self, source: Source, size: int = BLOCK) -> None:
        self._source = source
        #: As shown to the user.
        self.name = source.name
        self._size = size
        self._stream = _stream_of(source)
        self._consumed = 0
        #: Bytes of the file as it lies on the disk; none if unknown, as of a pipe.
        self.total = _size_of(source, self._stream)
        self._blocks = self._read_blocks()

    @property
    def consumed(self) -> int:
        """Bytes taken so far, before decompression."""
        return self._consumed

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._blocks.close()
        if self._stream is not self._source.origin:
            self._stream.close()

    def _read_blocks(self) -> Generator[bytes, None, None]:
        raw = _Steady(self._pull)
        codec = _codec_of(self.name, raw.peek(_LONGEST_MAGIC))
        data = _Steady(_Members(self.name, codec, raw).pull) if codec else raw
        encoding = wide_encoding(data.peek(4))
        if encoding is not None:
            raise SourceError(self.name, _advice(encoding))
        while block := data.read(self._size):
            yield block

    def _pull(self, size: int) -> bytes:
        # A buffered `read` would wait until it has all; `read1` returns what is there.
        read = getattr(self._stream, "read1", self._stream.read)
        try:
            piece: bytes = read(size)
        except OSError as error:
            raise SourceError(self.name, _plain(error)) from error
        self._consumed += len(piece)
        return piece


def wide_encoding(head: bytes) -> str | None:
    """Return the name of the encoding if `head`, four bytes, is UTF-16 or UTF-32.

    Source: byte order marks, else the pattern of zeros in RFC 4627, section 3.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return _ZEROS.get(tuple(each == 0 for each in head))


_MARKS = (  # the longer first: one begins with the other
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


def _advice(encoding: str) -> str:
    order = "little endian" if encoding.endswith("LE") else "big endian"
    return (
        f"is {encoding[:-2]} ({order}), not UTF-8; "
        f"convert it with: iconv -f {encoding} -t UTF-8"
    )


# Opening


def _stream_of(source: Source) -> BinaryIO:
    origin = source.origin
    if isinstance(origin, bytes):
        return io.BytesIO(origin)
    if isinstance(origin, Path):
        try:
            return origin.open("rb", buffering=0)
        except OSError as error:
            raise SourceError(source.name, _plain(error)) from error
    if not _waits(origin):
        reason = "is in non-blocking mode, where a pause looks like the end"
        raise SourceError(source.name, reason)
    return origin


def _waits(stream: BinaryIO) -> bool:
    """Return whether reading from `stream` waits for data, as far as is known."""
    try:
        return os.get_blocking(stream.fileno())
    except (AttributeError, OSError):  # no file behind it; or Windows before 3.12
        return True


def _size_of(source: Source, stream: BinaryIO) -> int | None:
    if isinstance(source.origin, bytes):
        return len(source.origin)
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError):  # no file behind it
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class _Steady:
    """Reads that come short only at the end, and a failure only after all data."""

    __slots__ = ("_ended", "_failure", "_head", "_pull")

    def __init__(self, pull: Callable[[int], bytes]) -> None:
        self._pull = pull
        self._head = b""
        self._ended = False
        self._failure: SourceError | None = None

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes and keep them for reading."""
        if len(self._head) < size:
            self._head = self.read(size)
        return self._head[:size]

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end, none behind it."""
        pieces = [self._head[:size]] if self._head else []
        self._head = self._head[size:]
        missing = size - sum(map(len, pieces))
        while missing and (piece := self._next(missing)):
            pieces.append(piece)
            missing -= len(piece)
        if self._failure and not pieces:
            raise self._failure
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        if self._ended:  # a terminal would have to be ended twice
            return b""
        try:
            piece = self._pull(size)
        except SourceError as error:
            self._failure = error
            piece = b""
        self._ended = not piece
        return piece


# Decompressing


class _Decompressor(Protocol):
    """What the decompressors of bz2, lzma and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """The same for gzip; keeps all data up to the byte that is wrong."""

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
        """Yield what `data` gives byte by byte up to the failure, known to come."""
        for each in range(len(data)):
            try:
                yield self._inflate.decompress(data[each : each + 1])
            except zlib.error:
                return


#: What makes a decompressor, and what that raises.
_Loaded = tuple[Callable[[], _Decompressor], type[Exception]]


@dataclass(frozen=True, slots=True)
class _Codec:
    """One kind of compression."""

    name: str
    suffix: str
    #: The first bytes of its data, one of these.
    magics: tuple[bytes, ...]
    #: Bytes to ask a decompressor for; what one call gives is lost if it fails.
    step: int
    load: Callable[[], _Loaded]
    #: What to say where it cannot be imported.
    missing: str


def _load_gzip() -> _Loaded:
    return _Gzip, zlib.error


def _load_bzip2() -> _Loaded:
    import bz2  # noqa: PLC0415 - start-up time

    return bz2.BZ2Decompressor, OSError


def _load_xz() -> _Loaded:
    import lzma  # noqa: PLC0415 - start-up time

    return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MEMORY), lzma.LZMAError


def _load_zstd() -> _Loaded:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - start-up time
    else:
        from backports import zstd  # noqa: PLC0415 - an extra

    return zstd.ZstdDecompressor, zstd.ZstdError


_SKIPPABLE = tuple(bytes((each, 0x2A, 0x4D, 0x18)) for each in range(0x50, 0x60))
_NO_MODULE = "needs a Python that was built with"
_EXTRA = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'
_CODECS = (
    _Codec("gzip", ".gz", (b"\x1f\x8b",), BLOCK, _load_gzip, f"{_NO_MODULE} zlib"),
    _Codec("bzip2", ".bz2", (b"BZh",), STEP, _load_bzip2, f"{_NO_MODULE} bz2"),
    _Codec("xz", ".xz", (b"\xfd7zXZ\x00",), STEP, _load_xz, f"{_NO_MODULE} lzma"),
    _Codec(
        "zstd", ".zst", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), STEP, _load_zstd, _EXTRA
    ),
)
_LONGEST_MAGIC = max(len(magic) for each in _CODECS for magic in each.magics)


def _codec_of(name: str, head: bytes) -> _Codec | None:
    """Return the compression of data that begins with `head`, none if it has none."""
    found = next((each for each in _CODECS if head.startswith(each.magics)), None)
    for each in _CODECS:
        if head and each is not found and name.lower().endswith(each.suffix):
            reason = f"is not {each.name} data although its name ends in {each.suffix}"
            raise SourceError(name, reason)
    return found


class _Members:
    """Compressed data: one or more members, streams or frames behind each other."""

    __slots__ = ("_codec", "_decompressor", "_error", "_name", "_new", "_raw", "_rest")

    def __init__(self, name: str, codec: _Codec, raw: _Steady) -> None:
        self.name = name
        self._codec = codec
        self._raw = raw
        try:
            self._new, self._error = codec.load()
        except ImportError as error:
            raise SourceError(name, codec.missing) from error
        self._decompressor = self._new()
        #: Compressed bytes that were read but not yet handed over.
        self._rest = b""

    def pull(self, size: int) -> bytes:
        """Return some of the data, at most `size` bytes, none at the end."""
        while not (piece := self._step(min(size, self._codec.step))):
            if self._decompressor.eof and not self._next_member():
                return b""
        return piece

    def _step(self, size: int) -> bytes:
        data = b""
        if self._decompressor.eof:
            return data
        if self._decompressor.needs_input:
            data = self._rest or self._raw.read(BLOCK)
            self._rest = b""
            if not data:
                raise SourceError(self.name, "compressed data is truncated")
        try:
            return self._decompressor.decompress(data, size)
        except self._error as error:
            raise SourceError(self.name, _fault(error)) from error

    def _next_member(self) -> bool:
        """Go to the next member behind padding, if there is one."""
        rest = self._decompressor.unused_data
        while not (rest := rest.lstrip(b"\0")):
            rest = self._raw.read(BLOCK)
            if not rest:
                return False
        if len(rest) < _LONGEST_MAGIC:
            rest += self._raw.read(BLOCK)
        if not rest.startswith(self._codec.magics):
            raise SourceError(self.name, self._garbage(rest))
        self._rest = rest
        self._decompressor = self._new()
        return True

    def _garbage(self, rest: bytes) -> str:
        if any(each.startswith(rest) for each in self._codec.magics):
            return "compressed data is truncated"
        name = self._codec.name
        return f"there is something that is not {name} behind the compressed data"


def _fault(error: Exception) -> str:
    """Return in plain words what a decompressor complains of."""
    complaint = str(error).lower()
    if "memory" in complaint:
        return "compressed data needs too much memory to decompress"
    if "data check" in complaint or "checksum" in complaint:
        return "compressed data is corrupt (checksum does not match)"
    return "compressed data is corrupt"


# Finding

_SUFFIXES = tuple(
    data + compression
    for data in (".jsonl", ".ndjson", ".json")
    for compression in ("", *(each.suffix for each in _CODECS))
)
_UNREADABLE = (
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISBLK, "is a block device"),
    (stat.S_ISCHR, "is a character device"),
)


def _sources_of(argument: str) -> Iterable[Source]:
    if argument == "-":
        return [_standard_input()]
    try:
        mode = os.stat(argument).st_mode  # noqa: PTH116 - Path("") is the folder "."
    except (FileNotFoundError, NotADirectoryError) as error:
        return _matches(argument, error)
    except (OSError, ValueError) as error:
        raise SourceError(argument, _plain(error)) from error
    if stat.S_ISDIR(mode):
        return _data_in(argument)
    for is_kind, reason in _UNREADABLE:
        if is_kind(mode):
            raise SourceError(argument, reason)
    if not os.access(argument, os.R_OK):
        raise SourceError(argument, "permission denied")
    return [Source(argument, Path(argument))]


def _standard_input() -> Source:
    if sys.stdin is None:  # in a process without a console
        raise SourceError(STANDARD_INPUT, "is closed")
    return Source(STANDARD_INPUT, sys.stdin.buffer)


def _data_in(folder: str) -> list[Source]:
    files = _data_files(Path(folder))
    if not files:
        kinds = "*.jsonl, *.ndjson or *.json, also compressed"
        raise SourceError(folder, f"no data files in this folder ({kinds})")
    return [Source(str(each), each) for each in files]


def _data_files(folder: Path) -> list[Path]:
    return sorted(
        inner / each.name
        for inner, entries in _walk(folder)
        for each in entries
        if each.name.lower().endswith(_SUFFIXES) and each.is_file(follow_symlinks=False)
    )


def _walk(folder: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Yield `folder` and those below with their visible entries; follow no links."""
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        entries = [each for each in _entries(inner) if not each.name.startswith(".")]
        yield inner, entries
        folders = (each for each in entries if each.is_dir(follow_symlinks=False))
        waiting.extend(inner / each.name for each in folders)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise SourceError(str(folder), _plain(error)) from error


def _matches(pattern: str, error: OSError) -> list[Source]:
    if not _is_pattern(pattern):
        raise SourceError(pattern, _missing(Path(pattern))) from error
    try:
        files = _files_matching(pattern)
    except OSError as denied:
        raise SourceError(pattern, _plain(denied)) from denied
    if not files:
        raise SourceError(pattern, "no file matches this pattern") from error
    return [Source(str(each), each) for each in sorted(files)]


def _files_matching(pattern: str) -> set[Path]:
    files = set()
    for each in _expand(Path(), Path(pattern).parts):
        if each.is_file():
            files.add(each)
        elif each.is_dir():
            files.update(_data_files(each))
    return files


def _is_pattern(text: str) -> bool:
    return any(each in text for each in "*?[")


def _expand(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield what lies at the pattern `parts` below `folder`; `**` follows no links.

    The glob module does, and finds a file forty times through a link to a parent.
    """
    if not parts:
        yield folder
        return
    head, *rest = parts
    if head == "**":
        for each, _ in _walk(folder) if folder.is_dir() else ():
            yield from _expand(each, rest or ["*"])
    elif not _is_pattern(head) or os.path.lexists(folder / head):
        yield from _expand(folder / head, rest)
    elif folder.is_dir():
        for name in _matching_names(folder, head):
            yield from _expand(folder / name, rest)


def _matching_names(folder: Path, pattern: str) -> list[str]:
    from fnmatch import filter as matching  # noqa: PLC0415 - start-up time

    hidden = pattern.startswith(".")
    names = (each.name for each in _entries(folder))
    return matching((each for each in names if hidden or each[0] != "."), pattern)


def _missing(path: Path) -> str:
    """Return why there is nothing at `path`, and what the user may have meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - start-up time

    if path.is_symlink():
        return "is a symbolic link to something that does not exist"
    if not path.parent.is_dir():
        return f"does not exist: there is no folder {path.parent}"
    try:
        names = [each.name for each in islice(path.parent.iterdir(), NEIGHBOURS)]
    except OSError:  # one may open what is in it, but not list it
        names = []
    near = get_close_matches(path.name, names)
    return (
        f"does not exist; did you mean {' or '.join(near)}?"
        if near
        else ("does not exist")
    )


# Words


def _plain(error: Exception) -> str:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return reason[:1].lower() + reason[1:]


def _printable(text: str) -> str:
    """Return `text` in one line: a file name may hold anything."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in text
    )

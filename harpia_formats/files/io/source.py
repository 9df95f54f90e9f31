"""Read bytes from files, standard input and memory, compressed or not."""

import io
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, Self, cast

from msgspec import Struct

from harpia_formats.files.io.encodings import (
    LONGEST_MAGIC,
    Codec,
    DecompressedStream,
    RecodedText,
    codec_of,
    other_encoding,
)
from harpia_formats.files.io.file_kinds import (
    KIND_BYTES,
    OtherKindError,
    Unpacker,
    kind_of,
    unpacker_of_file,
)
from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError, error_reason
from harpia_formats.files.io.remote_file import RemoteFile

if TYPE_CHECKING:  # most files are not unpacked
    from harpia_formats.files.io.unpacked_text import TextPlaces


class FileState(NamedTuple):
    """Which file it is, its size in bytes, and when it was written last (ns)."""

    device: int
    inode: int
    size: int
    written: int


def state_of_stream(stream: Any) -> FileState | None:
    """Return the state of an open file, None for what is no regular file."""
    try:
        return _state_of(os.fstat(stream.fileno()))
    except (AttributeError, OSError):  # not a file
        return None


def state_of_path(path: Path) -> FileState | None:
    """Return the state of the file at a path, None for what is no regular file.

    Raises `OSError` if there is none.
    """
    return _state_of(os.stat(path))  # noqa: PTH116 - faster, which counts in many small files


def reason_of_change(path: Path, state: FileState | None) -> str:
    """Return how the file at a path differs from its earlier `state`, "" if not at all.

    A file without a state, such as a pipe, cannot differ.
    """
    if state is None:
        return ""
    try:
        now = state_of_path(path)
    except OSError as error:
        return f"cannot be found any more at the end: {error_reason(error)}"
    if now == state:
        return ""
    if now is None or (now.device, now.inode) != (state.device, state.inode):
        return "was replaced by another file while it was read"
    sizes = f"it had {state.size:,} bytes, and has {now.size:,} now"
    if now.size == state.size:
        sizes = f"it still has {now.size:,} bytes"
    return f"was changed while it was read: {sizes}"


def _state_of(status: os.stat_result) -> FileState | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


STANDARD_INPUT = "<stdin>"


class Source(Struct, frozen=True):
    """A file, stream or bytes to read, with its name."""

    #: As shown to the user.
    name: str
    #: A regular file or FIFO, a remote file, bytes in memory, or an open binary stream;
    #: or the folder that `folder_unpacker` reads.
    origin: Path | RemoteFile | bytes | BinaryIO
    #: Whether it was found in a folder, not named by the user.
    is_found: bool = False
    #: What makes text of files that are none; each is asked for each file.
    unpackers: tuple[Unpacker, ...] = ()
    #: What makes text of the folder that it is, None for what is no folder.
    folder_unpacker: Unpacker | None = None
    #: The encoding of its text that the user named, None for UTF-8.
    encoding: str | None = None


def open_source(source: Source, size: int = BLOCK) -> "SourceReader":
    """Open `source` for one pass in decompressed blocks of `size` bytes.

    Raises `SourceError` if it cannot be opened, `ValueError` if `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"a block of {size} bytes")
    return SourceReader(source, size)


class ReadProgress(Protocol):
    """The progress of reading something, as a progress bar shows it."""

    @property
    def name(self) -> str:
        """Its name as shown to the user."""

    @property
    def total(self) -> int | None:
        """Its size in bytes, None if that is unknown."""

    @property
    def consumed(self) -> int:
        """Bytes read so far."""


class BytesRead(Struct, frozen=True):
    """The progress of reading a file in parts."""

    name: str
    total: int | None
    consumed: int


class SourceReader:
    """The decompressed bytes of one source in blocks, to be iterated once.

    All blocks but the last have the full size. Iterating raises `SourceError` behind
    the last good data if no more can be read: gzip data is returned up to the corrupt
    byte, of other corrupt data less than `STEP` bytes before it are lost.
    """

    __slots__ = (
        "_blocks",
        "_consumed",
        "_read",
        "_size",
        "_source",
        "_stack",
        "_state",
        "_stream",
        "file",
        "name",
        "places",
        "total",
        "unpacker",
    )

    def __init__(self, source: Source, size: int = BLOCK) -> None:
        self._source = source
        #: As shown to the user.
        self.name = source.name
        self._size = size
        self._stream = _stream_of(source)
        # A buffered `read` would wait for all bytes; `read1` returns those available.
        self._read = getattr(self._stream, "read1", self._stream.read)
        self._consumed = 0
        self._state = (
            state_of_stream(self._stream) if isinstance(source.origin, Path) else None
        )
        #: Bytes of the file on the disk; None if unknown, as of a pipe.
        self.total = self._state.size if self._state else _size_of(source, self._stream)
        #: The file that holds exactly these bytes and can be read in ranges, known with
        #: the first block; None if they are compressed or unpacked, or not from a file.
        self.file: Path | RemoteFile | None = None
        #: Where the text of a file that was unpacked stands in it, known with the first
        #: block; None if the file holds the text itself.
        self.places: TextPlaces | None = None
        #: The name of what unpacks it, known with the first block; empty if it is text.
        self.unpacker = ""
        #: Closes the files from which text is unpacked.
        self._stack = ExitStack()
        self._blocks = self._read_blocks()

    @property
    def consumed(self) -> int:
        """Bytes read so far, before decompression."""
        if self.places is not None and self.total is not None:
            return min(self._consumed, self.total)
        return self._consumed

    def change(self) -> SourceError | None:
        """Return the error that the file is not what it was when it was opened.

        None if it is, and for what is no file of this machine.
        """
        origin = self._source.origin
        if not isinstance(origin, Path):
            return None
        reason = reason_of_change(origin, self._state)
        return SourceError(self.name, reason) if reason else None

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
        self._stack.close()
        if self._stream is not self._source.origin:
            self._stream.close()

    def beginning(self, size: int) -> bytes:
        """Return the first bytes, of a file of any kind; not to be iterated then.

        They are decompressed if they can be. Raises `SourceError`.
        """
        raw = FullReader(self._pull)
        head = raw.peek(max(size, LONGEST_MAGIC))
        try:
            codec = codec_of(self.name, head)
            if codec is not None:
                data = DecompressedStream(self.name, codec, raw)
                return FullReader(data.pull).peek(size)
        except SourceError:  # not what its name says, or damaged
            pass
        return head[:size]

    def copy_to(self, copy: IO[bytes]) -> None:
        """Write the bytes as they are on the disk to `copy`; not to be iterated then.

        Raises `SourceError` if not all can be read.
        """
        while piece := self._pull(BLOCK):
            copy.write(piece)

    def _read_blocks(self) -> Generator[bytes, None, None]:
        source = self._source
        if source.folder_unpacker is not None:
            assert isinstance(source.origin, Path)  # noqa: S101 - folders are local
            yield from self._unpacked(source.folder_unpacker, source.origin)
            return
        raw = FullReader(self._pull)
        if self.total is not None and isinstance(self._source.origin, Path):
            # A small file is read at once; of a pipe no more is asked for than needed.
            raw.peek(self._size)
        codec = self._codec(raw)
        data = (
            FullReader(DecompressedStream(self.name, codec, raw).pull) if codec else raw
        )
        head = data.peek(KIND_BYTES)
        unpacker = unpacker_of_file(source.unpackers, head, self.name)
        if unpacker is not None:
            yield from self._unpacked(unpacker, self._seekable(data, codec is None))
            return
        if source.encoding is not None:
            text = RecodedText(self.name, source.encoding, data)
            data = FullReader(text.pull)
            head = data.peek(KIND_BYTES)
        _check_text(head, self.name)
        origin = self._source.origin
        has_ranges = isinstance(origin, RemoteFile) and origin.ranged
        is_file = isinstance(origin, Path) or has_ranges
        is_plain = codec is None and source.encoding is None
        if is_plain and is_file and self.total is not None:
            self.file = cast("Path | RemoteFile", origin)
        while block := data.read(self._size):
            yield block

    def _unpacked(
        self, unpacker: Unpacker, file: BinaryIO | Path
    ) -> Generator[bytes, None, None]:
        """Yield the text that `unpacker` makes of a file or folder, in blocks."""
        from harpia_formats.files.io.unpacked_text import UnpackedText  # noqa: PLC0415 - only for files that are unpacked

        text = UnpackedText(unpacker, file, self.name)
        self._stack.callback(text.close)
        self.places = text.places
        self.unpacker = unpacker.name
        data = FullReader(text.pull)
        while block := data.read(self._size):
            yield block

    def _seekable(self, data: FullReader, is_plain: bool) -> BinaryIO:  # noqa: FBT001 - private
        """Return a file with the bytes of `data` that can seek; maybe a copy of them.

        `is_plain` tells that they are not compressed.
        """
        from harpia_formats.files.io.unpacked_text import seekable  # noqa: PLC0415 - only for files that are unpacked

        origin = self._source.origin if is_plain else None
        try:
            file = seekable(origin, self._stream, self.total, data, self._note)
        except OSError as error:
            reason = f"cannot be copied to be unpacked: {error_reason(error)}"
            raise SourceError(self.name, reason) from error
        return self._stack.enter_context(file)

    def _note(self, size: int) -> None:
        """Count so many bytes that were read of the file, some of them once more."""
        self._consumed += size

    def _codec(self, raw: FullReader) -> Codec | None:
        """Return the compression of the file; raises `SourceError`."""
        try:
            return codec_of(self.name, raw.peek(LONGEST_MAGIC))
        except SourceError:
            # Not what its name says: it may be a pointer to the data, or a page.
            head = raw.peek(KIND_BYTES)
            kind = kind_of(head, self.name)
            if kind is not None and codec_of("", head) is None:
                raise OtherKindError(self.name, kind) from None
            raise

    def _pull(self, size: int) -> bytes:
        try:
            piece: bytes = self._read(size)
        except OSError as error:
            raise SourceError(self.name, error_reason(error)) from error
        self._consumed += len(piece)
        return piece


def _check_text(head: bytes, name: str) -> None:
    """Raise `SourceError` for a file that begins with `head` and is no UTF-8."""
    kind = kind_of(head, name)
    if kind is not None:
        raise OtherKindError(name, kind)
    reason = other_encoding(head)
    if reason:
        raise SourceError(name, reason)


def small_text(source: Source, most: int) -> bytes | None:
    """Return the bytes of a file of at most `most` bytes, read at once.

    None if it has more, and if it is not certain that a `SourceReader` returns just
    these bytes. A pipe must not be given.
    """
    origin = source.origin
    if not isinstance(origin, Path) or source.folder_unpacker or source.encoding:
        return None
    try:
        with _stream_of(source) as stream:
            state = state_of_stream(stream)
            if state is None or state.size > most:
                return None
            data = stream.read(state.size + 1)
        head = data[:KIND_BYTES]
        codec = codec_of(source.name, head)
        _check_text(head, source.name)
    except (OSError, SourceError):
        return None
    if codec or unpacker_of_file(source.unpackers, head, source.name):
        return None
    is_whole = len(data) == state.size and not reason_of_change(origin, state)
    return data if is_whole else None


def _stream_of(source: Source) -> BinaryIO:
    """Open the stream of a source; raises `SourceError`."""
    origin = source.origin
    if source.folder_unpacker is not None:
        return io.BytesIO()  # its unpacker opens the files in it
    if isinstance(origin, bytes):
        return io.BytesIO(origin)
    if isinstance(origin, Path):
        try:
            return open(origin, "rb", buffering=0)  # noqa: PTH123 - faster, which counts in many small files
        except OSError as error:
            raise SourceError(source.name, error_reason(error)) from error
    if isinstance(origin, RemoteFile):
        return cast("BinaryIO", origin.open())
    if not _is_blocking(origin):
        reason = "is in non-blocking mode, where a pause looks like the end"
        raise SourceError(source.name, reason)
    return origin


def _is_blocking(stream: BinaryIO) -> bool:
    """Tell whether reading from `stream` waits for data, true if that is unknown."""
    try:
        return os.get_blocking(stream.fileno())
    except (AttributeError, OSError):  # not a file; or Windows before Python 3.12
        return True


def _size_of(source: Source, stream: BinaryIO) -> int | None:
    """Return the bytes of a source before decompression, None if unknown."""
    if isinstance(source.origin, bytes):
        return len(source.origin)
    if isinstance(source.origin, RemoteFile):
        return source.origin.size
    state = state_of_stream(stream)
    return None if state is None else state.size

"""Sinks of bytes: the interface, the error, an open stream, compressed output."""

import codecs
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from harpia_formats.files.io.encodings import CODECS
from harpia_formats.files.io.reader import error_reason
from harpia_formats.model.problem import HarpiaFormatsError, OptionError
from harpia_formats.model.safe_text import escaped_lines


class SinkError(HarpiaFormatsError):
    """An output cannot be written: its name as shown to the user, and the reason."""

    hides_values = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path}: {self.reason}"

    @property
    def outcome(self) -> str:
        """What came of the output, and why."""
        return f"nothing was written: {self.reason}"


class DurabilityError(SinkError):
    """An output is in place and whole, but the disk may not have its name yet."""

    def __str__(self) -> str:
        return f"{self.path}: {self.outcome}"

    @property
    def outcome(self) -> str:
        """What came of the output, and why."""
        return (
            "written, but it is not known whether it outlives a power failure: "
            f"{self.reason}"
        )


class Sink(Protocol):
    """Where bytes are written; an output appears with `commit`, not before."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of an earlier run that was killed."""

    @property
    def is_begun(self) -> bool:
        """Whether bytes were written that cannot be taken back."""

    def write(self, data: bytes) -> None:
        """Write `data` behind what was written."""

    def finish(self) -> None:
        """Do all of `commit` that is likely to fail, so that `commit` does not."""

    def commit(self) -> None:
        """Make the output appear."""

    def discard(self) -> None:
        """Remove what was written, as far as possible."""


class ByteStream(Protocol):
    """What a `StreamSink` needs of an open stream."""

    def write(self, data: Any, /) -> object:
        """Write `data`, or a part of it; return how many bytes, if that is known."""

    def flush(self) -> None:
        """Hand over what was written."""

    def isatty(self) -> bool:
        """Return whether it is a terminal."""


def _write_all(stream: ByteStream, data: bytes) -> None:
    """Write all of `data`, also to a stream that takes only a part of it.

    Standard output that Python does not buffer (-u) does where its reader leaves.
    """
    rest = memoryview(data)
    while rest:
        taken = stream.write(rest)
        if not isinstance(taken, int):  # a stream of another kind, which takes all
            return
        if not taken:
            raise BlockingIOError("it is in non-blocking mode")
        rest = rest[taken:]


class TerminalStream:
    """A terminal, which gets UTF-8 text whose control characters are escaped.

    Data could move its cursor, rename its window or hide text. Bytes that are no UTF-8
    are escaped as well.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        #: A carriage return at the end of what was written: a line feed may follow.
        self._held = ""

    def write(self, data: bytes, /) -> None:
        """Write `data`, escaped."""
        text = self._held + self._decoder.decode(data)
        self._held = "\r" if text.endswith("\r") else ""
        self._write(text.removesuffix(self._held))

    def flush(self) -> None:
        """Write what was held back, and flush the terminal."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        self._write(text)
        self._stream.flush()

    def _write(self, text: str) -> None:
        # An escape is one line of ASCII; a lone surrogate was escaped, too.
        _write_all(self._stream, escaped_lines(text).encode("utf-8"))

    def isatty(self) -> bool:
        """Return true."""
        return True


def standard_output() -> ByteStream:
    """Return the stream of bytes of standard output, which escapes on a terminal.

    Raises `SinkError` if it takes text only.
    """
    stream: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    if stream is None:
        reason = "it takes text only; name a file as the output"
        raise SinkError("standard output", reason)
    return TerminalStream(stream) if stream.isatty() else stream


class StreamSink:
    """An open stream, to which bytes are written at once.

    If nobody reads it any more, writing raises `BrokenPipeError`.
    """

    notes: Sequence[str] = ()

    def __init__(self, stream: ByteStream, name: str = "standard output") -> None:
        """Write to a stream; raises `OptionError` for one of text, or none."""
        if not hasattr(stream, "write") or hasattr(stream, "encoding"):
            kind = type(stream).__name__
            raise OptionError(f"an output is a path or an open binary file, not {kind}")
        self._stream = stream
        self._name = name
        #: Whether bytes were written, which cannot be taken back.
        self.is_begun = False

    def write(self, data: bytes) -> None:
        """Write `data`; raises `SinkError`."""
        self.is_begun = self.is_begun or bool(data)
        with self._errors():
            _write_all(self._stream, data)

    def finish(self) -> None:
        """Flush the stream; raises `SinkError`."""
        with self._errors():
            self._stream.flush()

    def commit(self) -> None:
        """Flush the stream; raises `SinkError`."""
        self.finish()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise `SinkError` for an error of the system, but for a closed pipe."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SinkError(self._name, error_reason(error)) from error

    def discard(self) -> None:
        """Do nothing, since written bytes cannot be taken back."""


def compressing_stream(name: str, raw: IO[bytes]) -> Any:
    """Return a stream that compresses into `raw` as `name` says, or `raw` itself.

    Raises `ImportError` if the package for the compression is not installed.
    """
    suffix = name.lower()
    codec = next((codec for codec in CODECS if suffix.endswith(codec.suffix)), None)
    return raw if codec is None else _OPENERS[codec.name](raw)


def _gzip(raw: IO[bytes]) -> Any:
    import gzip  # noqa: PLC0415 - only output with this suffix needs it

    # Neither name nor time, so that equal input gives equal bytes.
    return gzip.GzipFile("", "wb", 6, raw, mtime=0)


def _bzip2(raw: IO[bytes]) -> Any:
    import bz2  # noqa: PLC0415 - only output with this suffix needs it

    return bz2.BZ2File(raw, "wb")


def _xz(raw: IO[bytes]) -> Any:
    import lzma  # noqa: PLC0415 - only output with this suffix needs it

    return lzma.LZMAFile(raw, "wb")


def _zstd(raw: IO[bytes]) -> Any:
    missing = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - only output with this suffix needs it
        else:
            from backports import zstd  # noqa: PLC0415 - the extra may be missing
    except ImportError as error:
        raise ImportError(missing) from error
    return zstd.ZstdFile(raw, "wb")


_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstd": _zstd,
}


def suffix_of(name: str) -> str:
    """Return the last suffix of `name` in lower case, without that of a compression."""
    uncompressed = name.lower()
    for codec in CODECS:
        uncompressed = uncompressed.removesuffix(codec.suffix)
    return Path(uncompressed).suffix


def check_name(place: Path) -> None:
    """Raise `SinkError` if a path cannot be looked up, such as one that is too long.

    That there is no such file is no error.
    """
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        raise SinkError(str(place), error_reason(error)) from error


def check_folder(place: Path) -> None:
    """Raise `SinkError` if a file may not be made in the folder of a path.

    It is for the time before the input is read: a path whose folder does not exist, or
    that is no regular file, is left to who opens it.
    """
    try:
        folder = Path(os.path.realpath(place)).parent
        if not stat.S_ISREG(place.stat().st_mode):
            return
    except FileNotFoundError:
        pass
    except (OSError, ValueError):  # no name of a file
        return
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise SinkError(str(place), _why_not(folder))


def _why_not(folder: Path) -> str:
    """Return why a file may not be made in a folder."""
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        return "read-only file system"
    return "permission denied"

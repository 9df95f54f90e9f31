"""Bytes out: to a file that is whole or not there, or to standard output."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from harpia_formats.io.compression import CODECS
from harpia_formats.io.reader import error_reason

#: Bytes that the disk gets together.
TOGETHER = 8 * 1024 * 1024


class SinkError(Exception):
    """Something could not be written: what, as shown to the user, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path}: {self.reason}"


class Sink(Protocol):
    """Where bytes go; nothing is there for good before `commit`."""

    def write(self, data: bytes) -> None:
        """Write `data` behind what was written."""

    def finish(self) -> None:
        """Do all of `commit` that can well fail, so that it need not."""

    def commit(self) -> None:
        """Let what was written be there."""

    def discard(self) -> None:
        """Forget what was written, as far as that can be."""


class StreamSink:
    """An open stream, which has at once what is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write `data`."""
        self._stream.write(data)

    def finish(self) -> None:
        """Hand on what is still held."""
        self._stream.flush()

    def commit(self) -> None:
        """Do the same."""
        self.finish()

    def discard(self) -> None:
        """Do nothing: what was written is gone."""


class FileSink:
    """A file that takes the place of another one once it is whole.

    It is compressed if its name says so. It is written beside its place, in a file
    that nobody else takes for it. What is no file, such as a pipe or `/dev/null`, is
    written at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # What a link points to is replaced, not the link.
        self._place = Path(os.path.realpath(path))
        self._part: Path | None = None
        self._is_finished = False
        #: Bytes that were written since the disk was given some, and where it ended.
        self._waiting = self._given = 0
        try:
            self._raw = self._opened()
        except OSError as error:
            raise SinkError(str(path), error_reason(error)) from error
        self._stream: Any = self._raw
        try:
            self._stream = compressing_stream(path.name, self._raw)
        except ImportError as error:
            self.discard()
            raise SinkError(str(path), str(error)) from error

    def _opened(self) -> IO[bytes]:
        place = self._place
        if place.exists() and not place.is_file():
            return place.open("wb")
        number, name = tempfile.mkstemp(
            prefix=f".{place.name}.", suffix=".part", dir=place.parent
        )
        self._part = Path(name)
        return os.fdopen(number, "wb")

    def write(self, data: bytes) -> None:
        """Write `data`; raises `SinkError`."""
        self._safely(lambda: self._stream.write(data))
        self._waiting += len(data)
        if self._waiting >= TOGETHER:
            with suppress(OSError):  # it is only a favour
                self._give()
            self._waiting = 0

    def _give(self) -> None:
        """Let the disk begin with what was written, so that nobody waits at the end."""
        if sys.platform == "linux" and self._part is not None:
            end = self._raw.tell()
            size, advice = end - self._given, os.POSIX_FADV_DONTNEED
            # It is not the advice that is wanted, but that dirty pages go out by it.
            os.posix_fadvise(self._raw.fileno(), self._given, size, advice)
            self._given = end

    def finish(self) -> None:
        """Have all bytes on the disk, beside their place; raises `SinkError`."""
        if not self._is_finished:
            self._safely(self._finish)
            self._is_finished = True

    def commit(self) -> None:
        """Put the file into its place; raises `SinkError`."""
        self.finish()
        self._safely(self._replace)

    def _finish(self) -> None:
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.flush()
        if self._part is None:
            self._raw.close()
            return
        os.fsync(self._raw.fileno())
        self._raw.close()
        self._part.chmod(_mode_of(self._place))

    def _replace(self) -> None:
        if self._part is not None:
            self._part.replace(self._place)

    def _safely(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as error:
            self.discard()
            raise SinkError(str(self._path), error_reason(error)) from error

    def discard(self) -> None:
        """Remove what was written."""
        for each in (self._stream, self._raw):
            try:
                each.close()
            except OSError:
                continue
        if self._part is not None:
            self._part.unlink(missing_ok=True)


def _mode_of(place: Path) -> int:
    """Return the permissions of the file at `place`, or those that a new one gets."""
    try:
        return place.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def compressing_stream(name: str, raw: IO[bytes]) -> Any:
    """Return a stream that compresses into `raw` as `name` says, or `raw` itself."""
    codec = next((each for each in CODECS if name.lower().endswith(each.suffix)), None)
    return raw if codec is None else _OPENERS[codec.name](raw)


def _gzip(raw: IO[bytes]) -> Any:
    import gzip  # noqa: PLC0415 - only for compressed output

    # Neither name nor time: equal input gives equal bytes.
    return gzip.GzipFile("", "wb", 6, raw, mtime=0)


def _bzip2(raw: IO[bytes]) -> Any:
    import bz2  # noqa: PLC0415 - only for compressed output

    return bz2.BZ2File(raw, "wb")


def _xz(raw: IO[bytes]) -> Any:
    import lzma  # noqa: PLC0415 - only for compressed output

    return lzma.LZMAFile(raw, "wb")


def _zstd(raw: IO[bytes]) -> Any:
    missing = 'needs the extra "zstd": pip install "harpia-formats[zstd]"'
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - only for compressed output
        else:
            from backports import zstd  # noqa: PLC0415 - an extra
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
    """Return the last suffix of `name` in lower case, that of compression left out."""
    plain_name = name.lower()
    for each in CODECS:
        plain_name = plain_name.removesuffix(each.suffix)
    return Path(plain_name).suffix

"""Write local files, which appear only when they are complete."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from harpia_formats.io.compressed_output import compressing_stream
from harpia_formats.io.reader import error_reason
from harpia_formats.io.sink import SinkError

#: Bytes after which the system is asked to write to the disk.
TOGETHER = 8 * 1024 * 1024


class FileSink:
    """A file that replaces the one at its path when it is complete.

    It is compressed if its name has the suffix of a compression. Until `commit` it has
    a temporary name in the same folder. A path that is no regular file, such as a pipe
    or `/dev/null`, is written at once.
    """

    def __init__(self, path: Path) -> None:
        """Create the temporary file; raises `SinkError`."""
        self._path = path
        # The target of a link is replaced, not the link.
        self._place = Path(os.path.realpath(path))
        self._part: Path | None = None
        self._is_finished = False
        #: Bytes written since the disk was given some, and the offset behind those.
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
        self._guarded(lambda: self._stream.write(data))
        self._waiting += len(data)
        if self._waiting >= TOGETHER:
            with suppress(OSError):  # it would only save time
                self._write_back()
            self._waiting = 0

    def _write_back(self) -> None:
        """Let the disk begin to write, so that `finish` takes less time."""
        if sys.platform == "linux" and self._part is not None:
            end = self._raw.tell()
            size, advice = end - self._given, os.POSIX_FADV_DONTNEED
            # Not the advice itself is needed: it makes Linux write dirty pages.
            os.posix_fadvise(self._raw.fileno(), self._given, size, advice)
            self._given = end

    def finish(self) -> None:
        """Write all bytes to the disk, under the temporary name; raises `SinkError`."""
        if not self._is_finished:
            self._guarded(self._finish)
            self._is_finished = True

    def commit(self) -> None:
        """Replace the file at the path; raises `SinkError`."""
        self.finish()
        self._guarded(self._replace)

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

    def _guarded(self, act: Callable[[], object]) -> None:
        """Call `act`; raise `SinkError` and remove the file if it fails."""
        try:
            act()
        except OSError as error:
            self.discard()
            raise SinkError(str(self._path), error_reason(error)) from error

    def discard(self) -> None:
        """Remove the temporary file; raises nothing if it cannot be closed."""
        for stream in (self._stream, self._raw):
            try:
                stream.close()
            except OSError:
                continue
        if self._part is not None:
            self._part.unlink(missing_ok=True)


def _mode_of(place: Path) -> int:
    """Return the permissions of the file at `place`, or those of a new file."""
    try:
        return place.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask

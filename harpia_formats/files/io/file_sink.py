"""Write local files, which appear only when they are complete."""

import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from harpia_formats.files.io.compressed_output import compressing_stream
from harpia_formats.files.io.part_file import (
    create_part_file,
    mark_complete,
    remove_abandoned,
)
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.rename import rename_to_new, sync_folder
from harpia_formats.files.io.sink import SinkError

#: Bytes after which the system is asked to write to the disk.
TOGETHER = 8 * 1024 * 1024


class FileSink:
    """A file that appears at its path, or replaces the one there, when it is complete.

    One that is replaced keeps its permissions, and its owner and group where this
    process may set them. It is compressed if its name has the suffix of a compression.
    Until `commit` it has a temporary name in the same folder. A path that is no regular
    file, such as a pipe or `/dev/null`, is written at once.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        """Create the temporary file; raises `SinkError`.

        Unless `overwrite`, `commit` fails if there is a file at the path by then.
        """
        self._path = path
        self._overwrite = overwrite
        # The target of a link is replaced, not the link.
        self._place = Path(os.path.realpath(path))
        self._part: Path | None = None
        #: Holds the lock of the complete temporary file until it has its final name;
        #: before, the open file holds it. Many files may be open at once.
        self._lock: int | None = None
        #: What the user should know of an earlier run that was killed.
        self.notes: Sequence[str] = ()
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
        with suppress(FileNotFoundError):
            # Unlike `exists` this fails for a name that is too long, or a link that
            # leads to itself.
            if not stat.S_ISREG(self._path.stat().st_mode):
                return place.open("wb")
        self.notes = remove_abandoned(place)
        self._part, descriptor = create_part_file(place)
        return os.fdopen(descriptor, "wb")

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
        """Put the file into place; raises `SinkError`."""
        self.finish()
        self._guarded(self._put_into_place)

    def _finish(self) -> None:
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.flush()
        if self._part is None:
            self._raw.close()
            return
        os.fsync(self._raw.fileno())
        if os.name == "posix":  # other systems rename no open file
            self._lock = os.dup(self._raw.fileno())
        self._raw.close()
        self._part.chmod(_mode_of(self._place))
        _keep_owner(self._part, self._place)
        self._part = mark_complete(self._part)

    def _put_into_place(self) -> None:
        if self._part is None:
            return
        if self._overwrite:
            self._part.replace(self._place)
        else:
            rename_to_new(self._part, self._place)
        self._release()
        sync_folder(self._place.parent)

    def _release(self) -> None:
        """Release the lock of the temporary file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
        self._release()


def _keep_owner(part: Path, place: Path) -> None:
    """Give a file the owner and the group of the one at `place`, where that may be."""
    if os.name != "posix":
        return
    with suppress(OSError):  # there is no such file
        wanted, given = place.stat(), part.stat()
        if wanted.st_gid != given.st_gid:
            with suppress(OSError):  # not a group of this user
                os.chown(part, -1, wanted.st_gid)
        if wanted.st_uid != given.st_uid:
            os.chown(part, wanted.st_uid, -1)


def _mode_of(place: Path) -> int:
    """Return the permissions of the file at `place`, or those of a new file."""
    try:
        return place.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask

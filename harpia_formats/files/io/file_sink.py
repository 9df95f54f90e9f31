"""Write a local file, which appears under its name once it is whole.

What a killed run has left behind is removed by a later one.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from errno import EDQUOT, EEXIST, EIO, ENOENT, ENOSPC
from pathlib import Path
from typing import IO, Any

from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.sink import (
    DurabilityError,
    Sink,
    SinkError,
    compressing_stream,
)
from harpia_formats.files.io.urls import is_url, real_path


def acquire_lock(descriptor: int) -> bool:
    """Try to lock an open file until it is closed; return whether that succeeded.

    The system releases the lock when the process ends, even if it is killed. The result
    is false if another process holds the lock, and always on a system or a file system
    without such locks.
    """
    try:
        import fcntl  # noqa: PLC0415 - exists on POSIX only

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


PREFIX = "harpia-formats-"
#: The lock file in a folder, held by the process that made it.
LOCK = "lock"


@contextmanager
def temporary_folder(parent: str | None) -> Iterator[str]:
    """Yield the path of a new folder in `parent`, or in the default place if None.

    It is removed at the end. A killed process cannot do that, so folders left by
    killed processes are removed at the beginning. Raises `OSError` if the folder cannot
    be made.
    """
    parent = parent or tempfile.gettempdir()
    _remove_abandoned(Path(parent))
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as folder:
        place = Path(folder, LOCK)
        # The name that others look for appears only once the lock is held.
        hidden = place.with_suffix(".new")
        lock = os.open(hidden, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if acquire_lock(lock):
                hidden.rename(place)
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    """Remove temporary folders whose lock no process holds."""
    for lock_file in parent.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):
            lock = os.open(lock_file, os.O_RDWR)
            try:
                if acquire_lock(lock):
                    shutil.rmtree(lock_file.parent, ignore_errors=True)
            finally:
                os.close(lock)


#: What a temporary name ends with while the file is written, and once it is complete.
PARTIAL, COMPLETE = ".part", ".complete"
#: Bytes of the longest name of a file on common file systems.
LONGEST_NAME = 255
_mark = ".harpia-"
_random_bytes = 6


def create_part_file(place: Path) -> tuple[Path, int]:
    """Create a locked temporary file next to `place`; return its path and descriptor.

    Raises `OSError`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        # As `secrets.token_hex`, which loads OpenSSL.
        random = os.urandom(_random_bytes).hex()
        path = place.with_name(f"{_prefix(place.name)}{random}{PARTIAL}")
        try:
            descriptor = os.open(path, flags, 0o600)
            # Before it was locked, another process may have removed it as abandoned.
            if not acquire_lock(descriptor) or path.exists():
                return path, descriptor
            os.close(descriptor)
        except FileExistsError:
            continue
        except BaseException:  # an interrupt, too, leaves no temporary file
            path.unlink(missing_ok=True)
            raise


def mark_complete(part: Path) -> Path:
    """Rename a temporary file as one that is complete; return its new path.

    Raises `OSError`.
    """
    return part.rename(part.with_suffix(COMPLETE))


def remove_abandoned(place: Path) -> list[str]:
    """Remove the temporary files for `place` that killed processes left.

    Return a sentence for each that was complete but not in place.
    """
    return [
        f"{place}: an earlier run was killed after it had written this file and before "
        "it put it into place; other outputs of that run may be in place"
        for path in _part_files(place)
        if _is_removed(path) and path.suffix == COMPLETE
    ]


def _part_files(place: Path) -> Iterator[Path]:
    """Yield the paths of all temporary files for `place`."""
    prefix = _prefix(place.name)
    try:
        with os.scandir(place.parent) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    except OSError:
        return
    yield from (
        place.with_name(name)
        for name in sorted(names)
        if name.endswith((PARTIAL, COMPLETE))
    )


def _is_removed(path: Path) -> bool:
    """Remove a file if no process holds its lock.

    Return whether it is gone with this call, under all of its names.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    with closing(os.fdopen(descriptor, "rb")), suppress(OSError):
        if acquire_lock(descriptor):
            path.unlink()
            return os.fstat(descriptor).st_nlink == 0
    return False


def _prefix(name: str) -> str:
    """Return what the temporary names for a file called `name` begin with.

    A name that would be too long for the file system is cut, and a digest tells it from
    others with the same beginning.
    """
    rest = len(_mark) + 2 * _random_bytes + len(COMPLETE) + 1
    encoded = os.fsencode(name)
    if len(encoded) + rest <= LONGEST_NAME:
        return f".{name}{_mark}"
    from hashlib import blake2b  # noqa: PLC0415 - only very long names need it

    digest = blake2b(encoded, digest_size=8).hexdigest()
    cut = encoded[: LONGEST_NAME - rest - len(digest) - 1]
    return f".{cut.decode('utf-8', 'ignore')}-{digest}{_mark}"


def rename_to_new(path: Path, place: Path) -> None:
    """Rename a file to a name that no other file has.

    Raises `FileExistsError` if there is a file called `place`, and `OSError`.
    """
    try:
        # Unlike a rename, a second name never replaces another file.
        place.hardlink_to(path)
    except FileExistsError:
        raise FileExistsError(EEXIST, _meanwhile, str(place)) from None
    except (OSError, NotImplementedError):  # a file system without second names
        if os.path.lexists(place):
            raise FileExistsError(EEXIST, _meanwhile, str(place)) from None
        path.rename(place)
        return
    path.unlink()


_meanwhile = "a file of that name has appeared meanwhile; `--overwrite` replaces it"


#: Why no file can be put where there is no folder for it.
NO_FOLDER = "its folder does not exist"


#: Errors of a disk; any other says that the system cannot write names alone.
_disk_errors = (EIO, ENOSPC, EDQUOT)


def sync_folder(folder: Path) -> None:
    """Write the names of the files in a folder to the disk, where the system can.

    Raises `OSError` if the disk fails.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in _disk_errors:
            raise


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
        self._place = Path(real_path(path))
        self._part: Path | None = None
        #: Holds the lock of the complete temporary file until it has its final name;
        #: before, the open file holds it. Many files may be open at once.
        self._lock: int | None = None
        #: What the user should know of an earlier run that was killed.
        self.notes: Sequence[str] = ()
        #: Whether bytes were written to a path that is no regular file.
        self.is_begun = False
        self._is_finished = False
        #: Bytes written since the disk was given some, and the offset behind those.
        self._waiting = self._given = 0
        try:
            self._raw = self._opened()
        except (OSError, ValueError) as error:
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
                # What `/dev/stdout` leads to may be a pipe without a name.
                return self._path.open("wb")
        if not place.parent.is_dir():
            raise FileNotFoundError(ENOENT, NO_FOLDER)
        self.notes = remove_abandoned(place)
        self._part, descriptor = create_part_file(place)
        return os.fdopen(descriptor, "wb")

    def write(self, data: bytes) -> None:
        """Write `data`; raises `SinkError`."""
        self.is_begun = self.is_begun or (self._part is None and bool(data))
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
        """Put the file into place; raises `SinkError`.

        After `DurabilityError` the file is in place.
        """
        self.finish()
        self._guarded(self._put_into_place)
        if self._part is not None:
            self._sync_name()

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

    def _sync_name(self) -> None:
        """Write the name of the file to the disk; raises `DurabilityError`."""
        try:
            sync_folder(self._place.parent)
        except OSError as error:
            raise DurabilityError(str(self._path), error_reason(error)) from error

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
            # An interrupt may come when it is renamed and the new name is not noted.
            self._part.with_suffix(COMPLETE).unlink(missing_ok=True)
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


def open_sink(place: str, *, overwrite: bool) -> Sink:
    """Return a sink for the local path or the URL `place`.

    Unless `overwrite`, its `commit` fails if there is a file by then. Raises
    `SinkError`.
    """
    if is_url(place):
        from harpia_formats.files.io.remote_sink import RemoteSink  # noqa: PLC0415 - for remote files only

        return RemoteSink(place, overwrite=overwrite)
    return FileSink(Path(place), overwrite=overwrite)


def write_file(place: str, blocks: Iterable[bytes], *, overwrite: bool) -> None:
    """Write `blocks` to a path or URL, whose file appears complete or not at all.

    Raises `SinkError`, also if there is a file already, unless `overwrite`, and what
    reading `blocks` raises.
    """
    sink = open_sink(place, overwrite=overwrite)
    try:
        for data in blocks:
            sink.write(data)
        sink.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        sink.discard()
        raise

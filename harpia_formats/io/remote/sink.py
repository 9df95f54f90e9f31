"""Bytes out to remote files, which are whole or not there."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Any, Protocol

from harpia_formats.io.remote.errors import reason_of
from harpia_formats.io.remote.file import filesystem_of
from harpia_formats.io.sink import SinkError, compressing_stream
from harpia_formats.io.urls import file_name_of, masked, scheme_of

#: Stores whose upload in parts is seen only when it is completed.
_of_parts = {"s3", "s3a", "gs", "gcs"}
#: Stores where a change is a commit, so that there is one for all of a file.
_of_commits = {"hf"}
_read_only = {"http", "https"}


class _Upload(Protocol):
    """A file on its way."""

    @property
    def raw(self) -> IO[bytes]: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...


class RemoteSink:
    """A remote file that is there once it is whole; compressed if its name says so."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._upload = self._safely(lambda: _upload_to(url))
        try:
            self._stream: Any = compressing_stream(file_name_of(url), self._upload.raw)
        except ImportError as error:
            self.discard()
            raise SinkError(masked(url), str(error)) from error

    def write(self, data: bytes) -> None:
        """Write `data`; raises `SinkError`."""
        self._guarded(lambda: self._stream.write(data))

    def finish(self) -> None:
        """Write what a compressor still holds; raises `SinkError`."""
        stream, self._stream = self._stream, self._upload.raw
        if stream is not self._upload.raw:
            self._guarded(stream.close)

    def commit(self) -> None:
        """Let the file be there; raises `SinkError`."""
        self.finish()
        self._guarded(self._upload.commit)

    def discard(self) -> None:
        """Remove what was written, as far as the server allows."""
        with suppress(Exception):
            self._upload.discard()

    def _guarded(self, act: Callable[[], Any]) -> None:
        try:
            self._safely(act)
        except SinkError:
            self.discard()
            raise

    def _safely(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except SinkError:
            raise
        except Exception as error:
            raise SinkError(masked(self._url), reason_of(error, self._url)) from error


def check_remote_output(url: str, *, overwrite: bool) -> None:
    """Refuse an output that is there already, or cannot be. Raises `SinkError`."""
    name = masked(url)
    if url.endswith("/"):
        raise SinkError(name, "is a folder")
    if scheme_of(url) in _read_only:
        raise SinkError(name, "what is behind http can be read only")
    try:
        filesystem, path = filesystem_of(url)
        is_there = not overwrite and filesystem.exists(path)
    except Exception as error:
        raise SinkError(name, reason_of(error, url)) from error
    if is_there:
        raise SinkError(name, "is there already; --overwrite replaces it")


def _upload_to(url: str) -> _Upload:
    filesystem, path = filesystem_of(url)
    if scheme_of(url) in _of_parts:
        return _Parts(filesystem.open(path, "wb", autocommit=False))
    if scheme_of(url) in _of_commits:
        return _Whole(filesystem, path)
    return _Moved(filesystem, path)


class _Parts:
    """An upload in parts, which are put together at the end."""

    def __init__(self, raw: Any) -> None:
        self.raw: Any = raw

    def commit(self) -> None:
        """Send the last part, and have them put together."""
        self.raw.close()
        self.raw.commit()

    def discard(self) -> None:
        """Give the parts up; nothing is sent any more."""
        self.raw.closed = True  # else it would be finished when it is forgotten
        self.raw.discard()


class _Moved:
    """A file with a name that nobody takes for the final one, which it gets at last."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        folder, _, name = path.rpartition("/")
        self._part = f"{folder}/.{name}.{secrets.token_hex(4)}.part"
        filesystem.makedirs(folder or "/", exist_ok=True)
        self.raw: Any = filesystem.open(self._part, "wb")

    def commit(self) -> None:
        """Give it its name."""
        self.raw.close()
        self._filesystem.mv(self._part, self._path)

    def discard(self) -> None:
        """Remove it."""
        self.raw.close()
        self._filesystem.rm(self._part)


class _Whole:
    """A file of this machine that is sent as a whole."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        self.raw: Any = TemporaryFile()  # noqa: SIM115 - closed when it is sent

    def commit(self) -> None:
        """Send it."""
        self.raw.seek(0)
        with self._filesystem.open(self._path, "wb") as file:
            while block := self.raw.read(1024 * 1024):
                file.write(block)
        self.raw.close()

    def discard(self) -> None:
        """Forget it."""
        self.raw.close()

"""Write remote files, which appear only when they are complete."""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Any, Protocol

from harpia_formats.files.io.remote_file import filesystem_of, reason_of
from harpia_formats.files.io.sink import SinkError, compressing_stream
from harpia_formats.files.io.urls import file_name_of, masked, scheme_of

_s3 = {"s3", "s3a"}
#: Schemes of stores in which an upload in parts appears only when it is completed.
_multipart = {*_s3, "gs", "gcs"}
#: Schemes of stores in which each write is a commit, so a file is written at once.
_committing = {"hf"}
#: Schemes that cannot be written.
_read_only = {"http", "https"}


class _Upload(Protocol):
    """An upload under way."""

    @property
    def raw(self) -> IO[bytes]: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...


class RemoteSink:
    """A remote file that appears when it is complete.

    It is compressed if its name has the suffix of a compression.
    """

    #: A store of others shows no files of killed runs that could be removed.
    notes: Sequence[str] = ()
    #: What was uploaded is removed, as far as the server allows.
    is_begun = False

    def __init__(self, url: str, *, overwrite: bool) -> None:
        self._url = url
        self._overwrite = overwrite
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
        """Write what the compressor still holds; raises `SinkError`."""
        stream, self._stream = self._stream, self._upload.raw
        if stream is not self._upload.raw:
            self._guarded(stream.close)

    def commit(self) -> None:
        """Make the file appear; raises `SinkError`, also if there is one meanwhile."""
        self.finish()
        if not self._overwrite:
            self._guarded(self._check_new)
        self._guarded(self._upload.commit)

    def _check_new(self) -> None:
        """Raise `SinkError` if there is a file at the URL."""
        filesystem_of(self._url)[0].invalidate_cache()
        check_remote_output(self._url, overwrite=False)

    def discard(self) -> None:
        """Remove what was written, as far as the server allows; raises nothing."""
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
    """Raise `SinkError` if `url` cannot be written, or exists without `overwrite`."""
    name = masked(url)
    if url.endswith("/"):
        raise SinkError(name, "is a folder")
    if scheme_of(url) in _read_only:
        raise SinkError(name, "http and https can only be read")
    try:
        filesystem, path = filesystem_of(url)
        exists = not overwrite and filesystem.exists(path)
    except Exception as error:
        raise SinkError(name, reason_of(error, url)) from error
    if exists:
        raise SinkError(name, "already exists; `--overwrite` replaces it")


def _upload_to(url: str) -> _Upload:
    """Begin an upload in the way of the store; raises any error of the file system."""
    filesystem, path = filesystem_of(url)
    if scheme_of(url) in _multipart:
        if scheme_of(url) in _s3:
            _send_unasked(filesystem)
        return _MultipartUpload(filesystem.open(path, "wb", autocommit=False))
    if scheme_of(url) in _committing:
        return _SingleUpload(filesystem, path)
    return _RenamedUpload(filesystem, path)


def _send_unasked(filesystem: Any) -> None:
    """Have S3 sent data without asking whether it takes them.

    A store that does not answer such a question is waited for without end.
    """
    from botocore.handlers import add_expect_header  # noqa: PLC0415 - for S3 only

    filesystem.s3.meta.events.unregister("before-call.s3", add_expect_header)


class _MultipartUpload:
    """An upload in parts, which the store joins at the end."""

    def __init__(self, raw: Any) -> None:
        self.raw: Any = raw

    def commit(self) -> None:
        """Send the last part, and have the parts joined."""
        self.raw.close()
        self.raw.commit()

    def discard(self) -> None:
        """Drop the parts; nothing more is sent."""
        self.raw.closed = True  # else its destructor would complete the upload
        self.raw.discard()


class _RenamedUpload:
    """A file with a temporary name, which is renamed at the end."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        folder, _, name = path.rpartition("/")
        self._part = f"{folder}/.{name}.{secrets.token_hex(4)}.part"
        filesystem.makedirs(folder or "/", exist_ok=True)
        self.raw: Any = filesystem.open(self._part, "wb")

    def commit(self) -> None:
        """Rename the file."""
        self.raw.close()
        self._filesystem.mv(self._part, self._path)

    def discard(self) -> None:
        """Remove the file."""
        self.raw.close()
        self._filesystem.rm(self._part)


class _SingleUpload:
    """A local temporary file that is sent at the end."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        self.raw: Any = TemporaryFile()  # noqa: SIM115 - closed when it is sent

    def commit(self) -> None:
        """Send the file; if that fails or is interrupted, nothing of it appears."""
        self.raw.seek(0)
        file = self._filesystem.open(self._path, "wb")
        try:
            while block := self.raw.read(1024 * 1024):
                file.write(block)
            file.close()
        except BaseException:
            file.closed = True  # else its destructor would commit what was written
            raise
        self.raw.close()

    def discard(self) -> None:
        """Delete the file."""
        self.raw.close()

"""Read remote files in large blocks, by one ranged request for each."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harpia_formats.files.io.remote.errors import is_final, reason_of
from harpia_formats.files.io.urls import masked, scheme_of

if TYPE_CHECKING:  # only remote files need threads
    from concurrent.futures import Future, ThreadPoolExecutor

#: Bytes of the first request and of the largest one: the beginning is enough to detect
#: a format, and a whole file is read in few requests.
FIRST, LARGEST = 256 * 1024, 8 * 1024 * 1024
#: Seconds to wait for a connection, and for the next bytes of an answer.
TIMEOUT = 30
#: Seconds before each new attempt at a request that failed.
PAUSES = (0.5, 2.0)
_web = ("http", "https")
#: Schemes in which equal paths are the same file.
_hosts_in_path = {*_web, "s3", "gs", "hf", "memory"}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A remote file as it was found: plain data, the same in every process."""

    #: The URL given by the user; it may hold secrets and is not shown.
    url: str
    #: The path of the file in its file system.
    path: str
    #: Its size in bytes, None if the server does not report it.
    size: int | None
    #: A text that changes with the content, "" if the server reports none.
    version: str = ""
    #: Whether the server supports ranged requests.
    ranged: bool = True

    def __repr__(self) -> str:
        # Clusters log the arguments of failed tasks.
        return f"RemoteFile({masked(self.url)!r})"

    @property
    def identity(self) -> str:
        """A text that is the same for all URLs of the same file."""
        scheme = scheme_of(self.url)
        # In other file systems the path does not include the host.
        host = "" if scheme in _hosts_in_path else self.url
        return f"{scheme}://{self.path} {host}"

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, by one request.

        Raises `OSError` if the request fails or returns fewer bytes.
        """
        data: bytes = self._retried(lambda: _range_of(self, begin, end))
        if len(data) != end - begin:
            raise OSError(f"gave {len(data):,} of {end - begin:,} bytes at {begin:,}")
        return data

    def read_many(self, ranges: list[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the bytes of several ranges, by concurrent requests.

        Raises `OSError` as `read` does.
        """
        with _thread_pool(len(ranges) or 1) as pool:
            yield from pool.map(lambda range_: self.read(*range_), ranges)

    def _retried(self, act: Callable[[], Any]) -> Any:
        """Return the result of `act`, repeated after errors that may be temporary.

        Raises `OSError` with a plain message if it fails for good.
        """
        for pause in (*PAUSES, None):
            try:
                return act()
            except Exception as error:
                if pause is None or is_final(error):
                    raise OSError(reason_of(error, self.url)) from error
                time.sleep(pause)
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def check_unchanged(self) -> None:
        """Raise `OSError` if the file was replaced since it was found."""
        if self.version and self._retried(self._current_version) != self.version:
            raise OSError("was replaced by another file while it was read")

    def _current_version(self) -> str:
        filesystem, path = self.filesystem()
        return version_of(filesystem.info(path))

    def filesystem(self) -> tuple[Any, str]:
        """Return the file system and the path in it; raises any error of fsspec."""
        return filesystem_of(self.url)[0], self.path

    def open(self) -> "RemoteStream":
        """Return a stream of the bytes from the beginning on.

        Nothing is read yet, so nothing is raised.
        """
        if self.ranged and self.size is not None:
            return RemoteStream(_RangedBlocks(self, self.size))
        return RemoteStream(_StreamedBlocks(self))


def filesystem_of(url: str) -> tuple[Any, str]:
    """Return the file system of `url` and the path in it; raises any fsspec error."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 - for remote files only

    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme_of(url) in _web:
        import aiohttp  # noqa: PLC0415 - for web servers only

        # The default limits the time of the whole answer, which may be long.
        timeout = aiohttp.ClientTimeout(None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
        options |= {
            "client_kwargs": {"timeout": timeout},
            "headers": {"Accept-Encoding": "identity"},
        }
    filesystem, path = url_to_fs(url, **options)
    return filesystem, path


def version_of(info: Any) -> str:
    """Return a text that changes with the content of a file, "" if there is none.

    `info` describes the file.
    """
    keys = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "mtime")
    return next((str(info[key]) for key in keys if info.get(key)), "")


def _range_of(remote: RemoteFile, begin: int, end: int) -> bytes:
    """Return the bytes of a range; raises any error of the file system."""
    filesystem, path = remote.filesystem()
    if scheme_of(remote.url) in _web:
        from harpia_formats.files.io.remote.http import web_range  # noqa: PLC0415 - for web servers only

        return web_range(filesystem, path, begin, end)
    data: bytes = filesystem.cat_file(path, start=begin, end=end)
    return data


def _thread_pool(count: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - for remote files only

    return ThreadPoolExecutor(count)


@dataclass(slots=True)
class _RangedBlocks:
    """The blocks of a file, by a request for each; the next one is made ahead."""

    remote: RemoteFile
    size: int
    _at: int = 0
    _block: int = FIRST
    _pool: "ThreadPoolExecutor | None" = None
    _next: "Future[bytes] | None" = None

    def block(self) -> bytes:
        """Return the next block, an empty one at the end; raises `OSError`."""
        if self._at >= self.size:
            if self._pool is not None:  # else one request returned the whole file
                self.remote.check_unchanged()
            return b""
        end = min(self._at + self._block, self.size)
        coming, self._next = self._next, None
        data = coming.result() if coming else self.remote.read(self._at, end)
        self._at = end
        self._block = min(self._block * 4, LARGEST)
        # `detect` needs the beginning only, so the second block is not read ahead.
        if coming or self._pool is not None or end >= LARGEST // 2:
            self._request_next()
        elif end < self.size:
            self._pool = _thread_pool(1)
        return data

    def _request_next(self) -> None:
        """Request the next block in a thread, if there is one."""
        if self._at >= self.size:
            return
        self._pool = self._pool or _thread_pool(1)
        end = min(self._at + self._block, self.size)
        self._next = self._pool.submit(self.remote.read, self._at, end)

    def close(self) -> None:
        """Cancel the requests."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class _StreamedBlocks:
    """The blocks of a file whose server supports no ranges, by a single request."""

    remote: RemoteFile
    _file: Any = None

    def block(self) -> bytes:
        """Return the next block, an empty one at the end; raises `OSError`."""
        try:
            if self._file is None:
                filesystem, path = self.remote.filesystem()
                web = {"block_size": 0} if scheme_of(self.remote.url) in _web else {}
                self._file = filesystem.open(path, "rb", **web)
            data: bytes = self._file.read(FIRST)
        except Exception as error:
            raise OSError(reason_of(error, self.remote.url)) from error
        return data

    def close(self) -> None:
        """End the request."""
        if self._file is not None:
            self._file.close()


class RemoteStream:
    """A remote file as a stream, read once from the beginning to the end."""

    def __init__(self, blocks: "_RangedBlocks | _StreamedBlocks") -> None:
        self._blocks = blocks
        self._held = b""
        self._taken = 0

    def read(self, size: int) -> bytes:
        """Return some bytes, at most `size`, none at the end; raises `OSError`."""
        if self._taken == len(self._held):
            self._held, self._taken = self._blocks.block(), 0
        piece = self._held[self._taken : self._taken + size]
        self._taken += len(piece)
        return piece

    def close(self) -> None:
        """End the requests."""
        self._blocks.close()

"""Remote files, read in large blocks: one ranged request for each."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harpia_formats.io.remote.errors import is_final, reason_of
from harpia_formats.io.urls import masked, scheme_of

if TYPE_CHECKING:  # only remote files need threads
    from concurrent.futures import Future, ThreadPoolExecutor

#: Bytes of the first request and of the largest one: a beginning is enough to tell a
#: format, and a whole file is read in few requests.
FIRST, LARGEST = 256 * 1024, 8 * 1024 * 1024
#: Seconds to wait for a connection, and for the next bytes of an answer.
PATIENCE = 30
#: Seconds before a request that failed is made once more, and again.
PAUSES = (0.5, 2.0)
_web = ("http", "https")
#: Where two paths that are equal are the same file.
_told_by_path = {*_web, "s3", "gs", "hf", "memory"}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A remote file as it was found: plain data, the same in every process."""

    #: What the file system is made from; it may hold secrets and is not shown.
    url: str
    #: The file in the file system.
    path: str
    #: Its bytes, if the server tells.
    size: int | None
    #: What changes with its content, "" if the server tells nothing.
    version: str = ""
    #: Whether the server gives ranges.
    ranged: bool = True

    def __repr__(self) -> str:
        # Clusters write what failed work was given to their logs.
        return f"RemoteFile({masked(self.url)!r})"

    @property
    def identity(self) -> str:
        """What is the same for the same file, however it was named."""
        scheme = scheme_of(self.url)
        # The path of others does not tell the host.
        host = "" if scheme in _told_by_path else self.url
        return f"{scheme}://{self.path} {host}"

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, by one request; raises `OSError`."""
        data: bytes = self._asked(lambda: _range_of(self, begin, end))
        if len(data) != end - begin:
            raise OSError(f"gave {len(data):,} of {end - begin:,} bytes at {begin:,}")
        return data

    def read_many(self, ranges: list[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the bytes of several ranges, asked for together; raises `OSError`."""
        with _threads(len(ranges) or 1) as pool:
            yield from pool.map(lambda each: self.read(*each), ranges)

    def _asked(self, act: Callable[[], Any]) -> Any:
        """Return what `act` returns, which is tried again where that may help."""
        for pause in (*PAUSES, None):
            try:
                return act()
            except Exception as error:
                if pause is None or is_final(error):
                    raise OSError(reason_of(error, self.url)) from error
                time.sleep(pause)
        raise AssertionError  # pragma: no cover - the last try returns or raises

    def check_unchanged(self) -> None:
        """Raise `OSError` if the file is another one than when it was found."""
        if self.version and self._asked(lambda: _version_now(self)) != self.version:
            raise OSError("was replaced by another file while it was read")

    def open(self) -> "RemoteStream":
        """Return the bytes in order, from the beginning; raises `OSError`."""
        if self.ranged and self.size is not None:
            return RemoteStream(_Ranges(self, self.size))
        return RemoteStream(_Stream(self))


def filesystem_of(url: str) -> tuple[Any, str]:
    """Return the file system of `url`, and the path in it. Raises what it raises."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 - for remote files only

    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme_of(url) in _web:
        import aiohttp  # noqa: PLC0415 - likewise

        # The usual limit is on all of an answer, which may be long.
        timeout = aiohttp.ClientTimeout(None, sock_connect=PATIENCE, sock_read=PATIENCE)
        options |= {
            "client_kwargs": {"timeout": timeout},
            "headers": {"Accept-Encoding": "identity"},
        }
    filesystem, path = url_to_fs(url, **options)
    return filesystem, path


def version_of(info: Any) -> str:
    """Return what changes with the content of a file that `info` tells of."""
    keys = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "mtime")
    return next((str(info[each]) for each in keys if info.get(each)), "")


def _version_now(remote: RemoteFile) -> str:
    filesystem, path = _filesystem(remote)
    return version_of(filesystem.info(path))


def _filesystem(remote: RemoteFile) -> tuple[Any, str]:
    return filesystem_of(remote.url)[0], remote.path


def _range_of(remote: RemoteFile, begin: int, end: int) -> bytes:
    filesystem, path = _filesystem(remote)
    if scheme_of(remote.url) in _web:
        from harpia_formats.io.remote.http import web_range  # noqa: PLC0415 - for one kind of file

        return web_range(filesystem, path, begin, end)
    data: bytes = filesystem.cat_file(path, start=begin, end=end)
    return data


def _threads(count: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as above

    return ThreadPoolExecutor(count)


@dataclass(slots=True)
class _Ranges:
    """The blocks of a file, by a request for each; the next one is under way."""

    remote: RemoteFile
    size: int
    _at: int = 0
    _block: int = FIRST
    _pool: "ThreadPoolExecutor | None" = None
    _coming: "Future[bytes] | None" = None

    def block(self) -> bytes:
        """Return the next bytes, none at the end; raises `OSError`."""
        if self._at >= self.size:
            if self._pool is not None:  # else one request gave all
                self.remote.check_unchanged()
            return b""
        end = min(self._at + self._block, self.size)
        coming, self._coming = self._coming, None
        data = coming.result() if coming else self.remote.read(self._at, end)
        self._at = end
        self._block = min(self._block * 4, LARGEST)
        # Of most files the beginning is all that `detect` wants.
        if coming or self._pool is not None or end >= LARGEST // 2:
            self._order()
        elif end < self.size:
            self._pool = _threads(1)
        return data

    def _order(self) -> None:
        if self._at >= self.size:
            return
        self._pool = self._pool or _threads(1)
        end = min(self._at + self._block, self.size)
        self._coming = self._pool.submit(self.remote.read, self._at, end)

    def close(self) -> None:
        """Ask for nothing more."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class _Stream:
    """The bytes of a file whose server gives no ranges, by a single request."""

    remote: RemoteFile
    _file: Any = None

    def block(self) -> bytes:
        """Return the next bytes, none at the end; raises `OSError`."""
        try:
            if self._file is None:
                filesystem, path = _filesystem(self.remote)
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
    """A remote file as a stream, read from the beginning to the end."""

    def __init__(self, blocks: "_Ranges | _Stream") -> None:
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
        """Ask for nothing more."""
        self._blocks.close()

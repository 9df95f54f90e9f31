"""Read remote files in large blocks, with plain messages for their errors."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harpia_formats.files.io.urls import all_masked, masked, scheme_of
from harpia_formats.model.problem import HarpiaFormatsError

if TYPE_CHECKING:  # only remote files need threads
    from concurrent.futures import Future, ThreadPoolExecutor


NEEDS_EXTRA = 'needs the extra "remote": pip install "harpia-formats[remote]"'
#: The package to install in addition to the extra, by the scheme of the URL.
_packages = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface-hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "az": "adlfs",
    "abfs": "adlfs",
    "sftp": "paramiko",
}
#: Messages by the status of an HTTP answer.
_reasons_by_status = {
    401: "permission denied by the server (401): it requires credentials",
    403: "permission denied by the server (403)",
    404: "does not exist",
    410: "does not exist any more",
    416: "became shorter while it was read",
    429: "the server accepts no more requests for now (429); try again later",
}
#: Messages by the name of the error's class, since its package may not be installed.
_reasons_by_class = {
    "NoCredentialsError": "no credentials were found for it; public files are read "
    "with FSSPEC_S3_ANON=true in the environment",
    "PermissionError": "permission denied by the server",
    "GatedRepoError": "permission denied: the repository is gated",
    "RepositoryNotFoundError": "there is no such repository, or it is private",
    "gaierror": "the server cannot be reached: its name is unknown",
    "ConnectionRefusedError": "the server cannot be reached: it refuses connections",
    "TimeoutError": "the server did not answer in time",
    "FSTimeoutError": "the server did not answer in time",
    "ServerTimeoutError": "the server did not answer in time",
    "ConnectTimeoutError": "the server did not answer in time",
    "ReadTimeoutError": "the server did not answer in time",
    "ClientPayloadError": "the connection broke off",
    "IncompleteRead": "the connection broke off",
    "ServerDisconnectedError": "the connection broke off",
    "ConnectionClosedError": "the connection broke off",
    "ConnectionResetError": "the connection broke off",
    "EndpointConnectionError": "the server cannot be reached",
    "ClientConnectorError": "the server cannot be reached",
    "ClientConnectionError": "the server cannot be reached",
    "IsADirectoryError": "is a folder",
    "FileExistsError": "already exists",
    "FileNotFoundError": "does not exist",
}


def reason_of(error: BaseException, url: str) -> str:
    """Return why an access to `url` failed, as the end of a sentence.

    The most specific cause is used, since some file systems report "not found" for
    any error.
    """
    chain = list(_chain(error))
    if isinstance(chain[-1], ImportError) or isinstance(error, ImportError):
        return _missing_package(error, url)
    known = [reason for reason in map(_known_reason, chain) if reason]
    missing = _reasons_by_class["FileNotFoundError"]
    specific = [reason for reason in known if reason != missing]
    found = [*reversed(specific), *known]
    return found[0] if found else _other_reason(error)


def is_final(error: BaseException) -> bool:
    """Tell whether a request that failed by `error` would fail again."""
    finals = (
        FileNotFoundError,
        PermissionError,
        ImportError,
        ValueError,
        _ReplacedError,
    )
    if any(_class_of(cause) == "NoCredentialsError" for cause in _chain(error)):
        return True
    statuses = [getattr(cause, "status", None) for cause in _chain(error)]
    server_fault = 500
    if known := [each for each in statuses if isinstance(each, int)]:
        return known[0] < server_fault and known[0] != 429  # noqa: PLR2004 - too many requests
    return isinstance(error, finals)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and its causes, the first cause last."""
    present: BaseException | None = error
    while present is not None:
        yield present
        present = present.__cause__


def _class_of(error: BaseException) -> str:
    """Return the class of `error` that has a message, "" if none has one."""
    names = (class_.__name__ for class_ in type(error).__mro__)
    return next((name for name in names if name in _reasons_by_class), "")


def _known_reason(error: BaseException) -> str:
    """Return the message for one error, "" if there is none."""
    status = getattr(error, "status", None)
    if isinstance(status, int) and status in _reasons_by_status:
        return _reasons_by_status[status]
    if isinstance(status, int) and status:
        return f"the server answered {status} {getattr(error, 'message', '')}".rstrip()
    if "DNS" in type(error).__name__ or "Name or service not known" in str(error):
        return _reasons_by_class["gaierror"]
    return _reasons_by_class.get(_class_of(error), "")


def _missing_package(error: BaseException, url: str) -> str:
    """Return which package must be installed to read `url`."""
    scheme = scheme_of(url)
    package = _packages.get(scheme)
    name = getattr(error, "name", None) or ""
    if name.partition(".")[0] == "fsspec" or package == "aiohttp":
        return NEEDS_EXTRA
    if package is None:
        return all_masked(str(error))
    return f"{scheme}:// needs one more package: pip install {package}"


def _other_reason(error: BaseException) -> str:
    """Return the first line of the error's own text, or its class."""
    # Without the number of the error, which says nothing of a store.
    words = getattr(error, "strerror", None) or str(error)
    lines = all_masked(words).splitlines() or [""]
    text = lines[0].strip()
    if text.endswith(":"):  # what it announces stands on the next line
        text = " ".join([text, *lines[1:2]]).rstrip(": ")
    name = type(error).__name__
    if not text:
        return f"it failed ({name})"
    return text[:1].lower() + text[1:]


#: The status of an answer that holds the range that was asked for.
_PARTIAL = 206


class _ReplacedError(OSError):
    """There is another file by now."""

    def __str__(self) -> str:
        return "was replaced by another file while it was read"


class NoRangesError(OSError):
    """The server does not support ranges."""

    def __str__(self) -> str:
        return "the server sends whole files only, no ranges of them"


def supports_ranges(filesystem: Any, path: str) -> bool:
    """Tell whether the server supports ranges, by requesting one byte."""
    from fsspec.asyn import sync  # noqa: PLC0415 - for remote files only

    try:
        sync(filesystem.loop, _web_range, filesystem, path, 0, 1)
    except NoRangesError:
        return False
    return True


async def _web_range(
    filesystem: Any, path: str, begin: int, end: int
) -> tuple[bytes, str]:
    """Return the bytes of a range, and the ETag of their file, "" if it has none.

    Raises `NoRangesError` if the server would send the whole file, or any error of
    aiohttp.
    """
    session = await filesystem.set_session()
    given = filesystem.kwargs
    headers = {**given.get("headers", {}), "Range": f"bytes={begin}-{end - 1}"}
    url = filesystem.encode_url(path)
    async with session.get(url, **{**given, "headers": headers}) as answer:
        answer.raise_for_status()
        if answer.status != _PARTIAL:
            raise NoRangesError
        return await answer.read(), answer.headers.get("ETag", "")


async def _s3_range(
    filesystem: Any, path: str, begin: int, end: int
) -> tuple[bytes, str]:
    """Return as `_web_range` does; raises any error of s3fs."""
    bucket, key, version = filesystem.split_path(path)
    answer = await filesystem._call_s3(  # noqa: SLF001 - `cat_file` returns no ETag
        "get_object",
        Bucket=bucket,
        Key=key,
        Range=f"bytes={begin}-{end - 1}",
        **({"VersionId": version} if version else {}),
    )
    async with answer["Body"] as body:
        return await body.read(), answer.get("ETag", "")


#: Bytes of the first request and of the largest one: the beginning is enough to detect
#: a format, and a whole file is read in few requests.
FIRST, LARGEST = 256 * 1024, 8 * 1024 * 1024
#: Seconds to wait for a connection, and for the next bytes of an answer.
TIMEOUT = 30
#: Seconds before each new attempt at a request that failed.
PAUSES = (0.5, 2.0)
_web = ("http", "https")
_s3 = ("s3", "s3a")
#: What returns a range of a file, with its ETag, by the scheme of the URL.
_ranges = dict.fromkeys(_web, _web_range) | dict.fromkeys(_s3, _s3_range)
#: Schemes in which equal paths are the same file.
_hosts_in_path = {*_web, "s3", "gs", "hf", "memory"}


def retried(url: str, act: Callable[[], Any]) -> Any:
    """Return the result of `act`, repeated after errors that may be temporary.

    Raises `OSError` with a plain message if it fails for good, and errors of ours as
    they are.
    """
    for pause in (*PAUSES, None):
        try:
            return act()
        except HarpiaFormatsError:
            raise
        except Exception as error:
            if pause is None or is_final(error):
                raise OSError(reason_of(error, url)) from error
            time.sleep(pause)
    raise AssertionError  # pragma: no cover - the last attempt returns or raises


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
        data: bytes = retried(self.url, lambda: _range_of(self, begin, end))
        return data

    def read_many(self, ranges: list[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the bytes of several ranges, by concurrent requests.

        Raises `OSError` as `read` does.
        """
        with _thread_pool(len(ranges) or 1) as pool:
            yield from pool.map(lambda range_: self.read(*range_), ranges)

    def check_unchanged(self) -> None:
        """Raise `OSError` if the file was replaced since it was found."""
        if self.version and retried(self.url, self._current_version) != self.version:
            raise _ReplacedError

    def _current_version(self) -> str:
        filesystem, path = self.filesystem()
        return version_of(filesystem.info(path))

    def filesystem(self) -> tuple[Any, str]:
        """Return the file system and the path in it; raises any error of fsspec.

        It tries each request once, since `retried` repeats it.
        """
        return filesystem_of(self.url, attempts=1)[0], self.path

    def open(self) -> "RemoteStream":
        """Return a stream of the bytes from the beginning on.

        Nothing is read yet, so nothing is raised.
        """
        if self.ranged and self.size is not None:
            return RemoteStream(_RangedBlocks(self, self.size))
        return RemoteStream(_StreamedBlocks(self))


def filesystem_of(url: str, *, attempts: int = len(PAUSES) + 1) -> tuple[Any, str]:
    """Return the file system of `url` and the path in it; raises any fsspec error.

    That of S3 tries each request `attempts` times.
    """
    from fsspec.core import url_to_fs  # noqa: PLC0415 - for remote files only

    _check_url(url)
    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme_of(url) in _s3:
        options["config_kwargs"] = _s3_limits(attempts)
    if scheme_of(url) in _web:
        import aiohttp  # noqa: PLC0415 - for web servers only

        # The default limits the time of the whole answer, which may be long.
        timeout = aiohttp.ClientTimeout(None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
        options |= {
            "client_kwargs": {"timeout": timeout},
            "headers": {"Accept-Encoding": "identity"},
        }
    # fsspec knows schemes in lower case only.
    filesystem, path = url_to_fs(scheme_of(url) + url[len(scheme_of(url)) :], **options)
    if scheme_of(url) in _s3:
        # It would try five times what its client has tried so often already.
        filesystem.retries = 1
    return filesystem, path


def _check_url(url: str) -> None:
    """Raise `ValueError` for a URL that names no file, since fsspec tells it badly."""
    scheme = scheme_of(url)
    host = url.partition("://")[2].partition("/")[0]
    if scheme == "dask":
        raise ValueError("is a cluster and no file; `--engine` names it")
    if scheme in _s3 and "@" in host:
        raise ValueError("the name of a bucket has no user or password")
    if scheme in _web:
        from urllib.parse import urlsplit  # noqa: PLC0415 - for web servers only

        try:
            urlsplit(url).port  # noqa: B018 - it raises for what is none
        except ValueError:
            # Python's own text may have a part of a password.
            raise ValueError("its host or port is not valid") from None


def _s3_limits(attempts: int) -> dict[str, Any]:
    """Return how long and how often the client of S3 tries, unless the user says it."""
    from fsspec.config import conf  # noqa: PLC0415 - for remote files only

    limits = {
        "connect_timeout": TIMEOUT,
        "read_timeout": TIMEOUT,
        "retries": {"mode": "standard", "total_max_attempts": attempts},
    }
    for scheme in _s3:
        limits |= conf.get(scheme, {}).get("config_kwargs", {})
    return limits


def version_of(info: Any) -> str:
    """Return a text that changes with the content of a file, "" if there is none.

    `info` describes the file.
    """
    keys = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "mtime")
    return next((str(info[key]) for key in keys if info.get(key)), "")


def _range_of(remote: RemoteFile, begin: int, end: int) -> bytes:
    """Return the bytes of a range of the file as it was found.

    Raises `OSError` for fewer bytes or another file, and any error of the file system.
    """
    filesystem, path = remote.filesystem()
    if ask := _ranges.get(scheme_of(remote.url)):
        from fsspec.asyn import sync  # noqa: PLC0415 - for remote files only

        data, etag = sync(filesystem.loop, ask, filesystem, path, begin, end)
        if _is_other(remote.version, etag):
            raise _ReplacedError
    else:
        data = filesystem.cat_file(path, start=begin, end=end)
    if len(data) != end - begin:
        raise OSError(f"gave {len(data):,} of {end - begin:,} bytes at {begin:,}")
    found: bytes = data
    return found


def _is_other(version: str, etag: str) -> bool:
    """Tell whether two ETags differ; they are quoted, and a date is none."""
    one, other = (each.removeprefix("W/") for each in (version, etag))
    return one.startswith('"') and other.startswith('"') and one != other


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

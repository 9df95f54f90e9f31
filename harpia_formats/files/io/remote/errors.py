"""Turn errors of remote file systems into plain messages without secrets."""

from collections.abc import Iterator

from harpia_formats.files.io.urls import all_masked, scheme_of

NEEDS_EXTRA = 'needs the extra "remote": pip install "harpia-formats[remote]"'
#: The package to install beside the extra, by the scheme of the URL.
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
    finals = (FileNotFoundError, PermissionError, ImportError, ValueError)
    if any(_class_of(cause) == "NoCredentialsError" for cause in _chain(error)):
        return True
    status = getattr(error, "status", None)
    server_fault = 500
    if isinstance(status, int):
        return status < server_fault and status != 429  # noqa: PLR2004 - too many requests
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
    lines = all_masked(str(error)).splitlines() or [""]
    text = lines[0].strip()
    name = type(error).__name__
    if not text:
        return f"it failed ({name})"
    return text[:1].lower() + text[1:]

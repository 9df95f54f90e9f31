"""What remote file systems complain of, in plain words and without secrets."""

from collections.abc import Iterator

from harpia_formats.io.urls import all_masked, scheme_of

NEEDS_EXTRA = 'needs the extra "remote": pip install "harpia-formats[remote]"'
#: What has to be installed beside the extra, by the beginning of the address.
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
_of_status = {
    401: "permission denied by the server (401); it wants credentials",
    403: "permission denied by the server (403)",
    404: "does not exist",
    410: "does not exist any more",
    416: "became shorter while it was read",
    429: "the server takes no more requests for now (429); try again later",
}
#: By the names of classes: their packages need not be there.
_of_class = {
    "NoCredentialsError": "no credentials were found for it; files that are open to "
    "all are read with FSSPEC_S3_ANON=true in the environment",
    "PermissionError": "permission denied by the server",
    "GatedRepoError": "permission denied: the repository is gated",
    "RepositoryNotFoundError": "there is no such repository, or it is private",
    "gaierror": "the server cannot be reached: its name is not known",
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
    "FileExistsError": "is there already",
    "FileNotFoundError": "does not exist",
}


def reason_of(error: BaseException, url: str) -> str:
    """Return why something remote failed, as the rest of a sentence.

    The cause that says most is taken: some say "not found" of whatever happens.
    """
    chain = list(_chain(error))
    if isinstance(chain[-1], ImportError) or isinstance(error, ImportError):
        return _missing(error, url)
    said = [each for each in map(_known, chain) if each]
    telling = [each for each in said if each != _of_class["FileNotFoundError"]]
    found = [*reversed(telling), *said]
    return found[0] if found else _unknown(error)


def is_final(error: BaseException) -> bool:
    """Tell whether trying again would come to the same."""
    finals = (FileNotFoundError, PermissionError, ImportError, ValueError)
    if any(_class_of(each) == "NoCredentialsError" for each in _chain(error)):
        return True
    status = getattr(error, "status", None)
    server_fault = 500
    if isinstance(status, int):
        return status < server_fault and status != 429  # noqa: PLR2004 - too many requests
    return isinstance(error, finals)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and what it came from, the first cause last."""
    present: BaseException | None = error
    while present is not None:
        yield present
        present = present.__cause__


def _class_of(error: BaseException) -> str:
    """Return the first name among the classes of `error` that is known, else ""."""
    names = (each.__name__ for each in type(error).__mro__)
    return next((each for each in names if each in _of_class), "")


def _known(error: BaseException) -> str:
    status = getattr(error, "status", None)
    if isinstance(status, int) and status in _of_status:
        return _of_status[status]
    if isinstance(status, int) and status:
        return f"the server answered {status} {getattr(error, 'message', '')}".rstrip()
    if _is_of_name(error):
        return _of_class["gaierror"]
    return _of_class.get(_class_of(error), "")


def _is_of_name(error: BaseException) -> bool:
    return "DNS" in type(error).__name__ or "Name or service not known" in str(error)


def _missing(error: BaseException, url: str) -> str:
    scheme = scheme_of(url)
    package = _packages.get(scheme)
    name = getattr(error, "name", None) or ""
    if name.partition(".")[0] == "fsspec" or package == "aiohttp":
        return NEEDS_EXTRA
    if package is None:
        return all_masked(str(error))
    return f"{scheme}:// needs one more package: pip install {package}"


def _unknown(error: BaseException) -> str:
    lines = all_masked(str(error)).splitlines() or [""]
    text = lines[0].strip()
    name = type(error).__name__
    if not text:
        return f"it failed ({name})"
    return text[:1].lower() + text[1:]

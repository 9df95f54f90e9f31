"""Ranges of files on web servers, some of which do not support ranges."""

from typing import Any

#: The status of an answer that holds the range that was asked for.
_PARTIAL = 206


class NoRangesError(OSError):
    """The server does not support ranges."""

    def __str__(self) -> str:
        return "the server sends whole files only, no ranges of them"


def web_range(filesystem: Any, path: str, begin: int, end: int) -> bytes:
    """Return the bytes of a range.

    Raises `NoRangesError` if the server would send the whole file, or any error of
    aiohttp.
    """
    from fsspec.asyn import sync  # noqa: PLC0415 - for remote files only

    data: bytes = sync(filesystem.loop, _range, filesystem, path, begin, end)
    return data


def supports_ranges(filesystem: Any, path: str) -> bool:
    """Tell whether the server supports ranges, by requesting one byte."""
    try:
        web_range(filesystem, path, 0, 1)
    except NoRangesError:
        return False
    return True


async def _range(filesystem: Any, path: str, begin: int, end: int) -> bytes:
    session = await filesystem.set_session()
    given = filesystem.kwargs
    headers = {**given.get("headers", {}), "Range": f"bytes={begin}-{end - 1}"}
    url = filesystem.encode_url(path)
    async with session.get(url, **{**given, "headers": headers}) as answer:
        answer.raise_for_status()
        if answer.status != _PARTIAL:
            raise NoRangesError
        data: bytes = await answer.read()
        return data

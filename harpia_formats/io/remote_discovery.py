"""Find the remote files that a URL names: a file, a folder or a pattern."""

from typing import Any

from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.errors import reason_of
from harpia_formats.io.remote.file import RemoteFile, filesystem_of, version_of
from harpia_formats.io.remote.http import supports_ranges
from harpia_formats.io.source import Source
from harpia_formats.io.urls import masked, scheme_of


def remote_sources(url: str, suffixes: tuple[str, ...]) -> list[Source]:
    """Return what `url` names: a file, or those with `suffixes` in a folder or pattern.

    Raises `SourceError` where it names nothing that can be read.
    """
    try:
        filesystem, path = filesystem_of(url)
        if "*" in path:
            return _matching(filesystem, url, path)
        info = filesystem.info(path)
        if info.get("type") == "directory":
            return _below(filesystem, url, path, suffixes)
        return [Source(masked(url), _file(filesystem, url, path, info))]
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(masked(url), reason_of(error, url)) from error


def _matching(filesystem: Any, url: str, path: str) -> list[Source]:
    found = filesystem.glob(path, detail=True)
    files = {name: each for name, each in found.items() if _is_file(each)}
    if not files:
        raise SourceError(masked(url), "no file matches this pattern")
    return [_source(filesystem, url, each, files[each]) for each in sorted(files)]


def _below(
    filesystem: Any, url: str, path: str, suffixes: tuple[str, ...]
) -> list[Source]:
    found = filesystem.find(path, detail=True)
    names = [
        each
        for each, info in found.items()
        if _is_file(info)
        and each.lower().endswith(suffixes)
        and not _is_hidden(each.removeprefix(path))
    ]
    if not names:
        kinds = "*.jsonl, *.ndjson, *.json or *.csv, also compressed"
        raise SourceError(masked(url), f"no data files in this folder ({kinds})")
    return [_source(filesystem, url, each, found[each]) for each in sorted(names)]


def _is_file(info: Any) -> bool:
    # A key that ends in a slash stands for a folder in some stores.
    return info.get("type") == "file" and not info["name"].endswith("/")


def _is_hidden(path: str) -> bool:
    return any(each.startswith(".") for each in path.split("/"))


def _source(filesystem: Any, url: str, path: str, info: Any) -> Source:
    name = masked(filesystem.unstrip_protocol(path))
    return Source(name, _file(filesystem, url, path, info))


def _file(filesystem: Any, url: str, path: str, info: Any) -> RemoteFile:
    ranged = True
    if scheme_of(url) in {"http", "https"}:
        size = info.get("size")
        ranged = size is not None and (size == 0 or supports_ranges(filesystem, path))
    return RemoteFile(url, path, info.get("size"), version_of(info), ranged)

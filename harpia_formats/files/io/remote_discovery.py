"""Find the remote files that a URL names: a file, a folder or a pattern."""

from typing import Any

from msgspec.structs import replace

from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote_file import (
    RemoteFile,
    filesystem_of,
    retried,
    supports_ranges,
    version_of,
)
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.urls import masked, scheme_of


def remote_sources(url: str, suffixes: tuple[str, ...], no_files: str) -> list[Source]:
    """Return the file at `url`, the files that it matches, or those in its folder.

    Files in a folder must have one of `suffixes`; `no_files` says that it has none.
    Raises `SourceError` if there is no file that can be read.
    """
    try:
        found: list[Source] = retried(url, lambda: _found(url, suffixes, no_files))
    except OSError as error:
        raise SourceError(masked(url), str(error)) from error
    return found


def _found(url: str, suffixes: tuple[str, ...], no_files: str) -> list[Source]:
    """Return as `remote_sources` does; raises any error of the file system, too."""
    filesystem, path = filesystem_of(url, attempts=1)
    if "*" in path:
        return _matching(filesystem, url, path)
    info = filesystem.info(path)
    if info.get("type") == "directory":
        return _below(filesystem, url, path, suffixes, no_files)
    return [Source(masked(url), _file(filesystem, url, path, info))]


def _matching(filesystem: Any, url: str, path: str) -> list[Source]:
    """Return the files that match a pattern; raises `SourceError` if none does."""
    found = filesystem.glob(path, detail=True)
    files = {name: info for name, info in found.items() if _is_file(info)}
    if not files:
        raise SourceError(masked(url), "no file matches this pattern")
    return [_source(filesystem, url, name, files[name]) for name in sorted(files)]


def _below(
    filesystem: Any, url: str, path: str, suffixes: tuple[str, ...], no_files: str
) -> list[Source]:
    """Return the data files below a folder; raises `SourceError` if there are none."""
    found = filesystem.find(path, detail=True)
    names = [
        name
        for name, info in found.items()
        if _is_file(info)
        and name.lower().endswith(suffixes)
        # Names that begin with a point are hidden.
        and not any(step.startswith(".") for step in name.removeprefix(path).split("/"))
    ]
    if not names:
        raise SourceError(masked(url), no_files)
    sources = (_source(filesystem, url, name, found[name]) for name in sorted(names))
    return [replace(source, is_found=True) for source in sources]


def _is_file(info: Any) -> bool:
    # In some stores a key that ends in a slash stands for a folder.
    return info.get("type") == "file" and not info["name"].endswith("/")


def _source(filesystem: Any, url: str, path: str, info: Any) -> Source:
    name = masked(filesystem.unstrip_protocol(path))
    return Source(name, _file(filesystem, url, path, info))


def _file(filesystem: Any, url: str, path: str, info: Any) -> RemoteFile:
    """Return the remote file that the file system describes by `info`."""
    ranged = True
    if scheme_of(url) in {"http", "https"}:
        size = info.get("size")
        ranged = size is not None and (size == 0 or supports_ranges(filesystem, path))
    return RemoteFile(url, path, info.get("size"), version_of(info), ranged)

"""Which sources there are behind what a user names."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from harpia_formats.io.compression import CODECS
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import STANDARD_INPUT, Source
from harpia_formats.io.urls import is_url

#: Names that a near name is looked for among; a folder can hold millions.
NEIGHBOURS = 2_000


def find_sources(arguments: Iterable[str | os.PathLike[str]]) -> list[Source]:
    """Return what `arguments` name, in their order and each path once.

    An argument is `-` for standard input, a file, a folder (all data files below
    it), a pattern of file names, or the address of one of these.  Raise `SourceError`
    where one names nothing that can be read.
    """
    found: dict[Path | str, Source] = {}
    for argument in arguments:
        for each in _sources_of(os.fspath(argument)):
            origin = each.origin
            # Not resolved: a link and its target are two names of the user's.
            key: Path | str = "-"
            if isinstance(origin, Path):
                key = origin.absolute()
            elif isinstance(origin, RemoteFile):
                key = origin.identity
            found.setdefault(key, each)
    return list(found.values())


_SUFFIXES = tuple(
    data + compression
    for data in (".jsonl", ".ndjson", ".json", ".csv")
    for compression in ("", *(each.suffix for each in CODECS))
)
_UNREADABLE = (
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISBLK, "is a block device"),
    (stat.S_ISCHR, "is a character device"),
)


def _sources_of(argument: str) -> Iterable[Source]:
    if argument == "-":
        return [_standard_input()]
    if is_url(argument):
        from harpia_formats.io.remote_discovery import remote_sources  # noqa: PLC0415 - for remote files only

        return remote_sources(argument, _SUFFIXES)
    try:
        mode = os.stat(argument).st_mode  # noqa: PTH116 - Path("") is the folder "."
    except (FileNotFoundError, NotADirectoryError) as error:
        return _matches(argument, error)
    except (OSError, ValueError) as error:
        raise SourceError(argument, error_reason(error)) from error
    if stat.S_ISDIR(mode):
        return _data_in(argument)
    for is_kind, reason in _UNREADABLE:
        if is_kind(mode):
            raise SourceError(argument, reason)
    if not os.access(argument, os.R_OK):
        raise SourceError(argument, "permission denied")
    return [Source(argument, Path(argument))]


def _standard_input() -> Source:
    if sys.stdin is None:  # in a process without a console
        raise SourceError(STANDARD_INPUT, "is closed")
    return Source(STANDARD_INPUT, sys.stdin.buffer)


def _data_in(folder: str) -> list[Source]:
    files = _data_files(Path(folder))
    if not files:
        kinds = "*.jsonl, *.ndjson, *.json or *.csv, also compressed"
        raise SourceError(folder, f"no data files in this folder ({kinds})")
    return [Source(str(each), each) for each in files]


def _data_files(folder: Path) -> list[Path]:
    return sorted(
        inner / each.name
        for inner, entries in _walk(folder)
        for each in entries
        if each.name.lower().endswith(_SUFFIXES) and each.is_file(follow_symlinks=False)
    )


def _walk(folder: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Yield `folder` and those below with their visible entries; follow no links."""
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        entries = [each for each in _entries(inner) if not each.name.startswith(".")]
        yield inner, entries
        folders = (each for each in entries if each.is_dir(follow_symlinks=False))
        waiting.extend(inner / each.name for each in folders)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise SourceError(str(folder), error_reason(error)) from error


def _matches(pattern: str, error: OSError) -> list[Source]:
    if not _is_pattern(pattern):
        raise SourceError(pattern, _missing(Path(pattern))) from error
    try:
        files = _files_matching(pattern)
    except OSError as denied:
        raise SourceError(pattern, error_reason(denied)) from denied
    if not files:
        raise SourceError(pattern, "no file matches this pattern") from error
    return [Source(str(each), each) for each in sorted(files)]


def _files_matching(pattern: str) -> set[Path]:
    files = set()
    for each in _expand(Path(), Path(pattern).parts):
        if each.is_file():
            files.add(each)
        elif each.is_dir():
            files.update(_data_files(each))
    return files


def _is_pattern(text: str) -> bool:
    return any(each in text for each in "*?[")


def _expand(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield what lies at the pattern `parts` below `folder`; `**` follows no links.

    The glob module does, and finds a file forty times through a link to a parent.
    """
    if not parts:
        yield folder
        return
    head, *rest = parts
    if head == "**":
        for each, _ in _walk(folder) if folder.is_dir() else ():
            yield from _expand(each, rest or ["*"])
    elif not _is_pattern(head) or os.path.lexists(folder / head):
        yield from _expand(folder / head, rest)
    elif folder.is_dir():
        for name in _matching_names(folder, head):
            yield from _expand(folder / name, rest)


def _matching_names(folder: Path, pattern: str) -> list[str]:
    from fnmatch import filter as matching  # noqa: PLC0415 - start-up time

    hidden = pattern.startswith(".")
    names = (each.name for each in _entries(folder))
    return matching((each for each in names if hidden or each[0] != "."), pattern)


def _missing(path: Path) -> str:
    """Return why there is nothing at `path`, and what the user may have meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - start-up time

    if path.is_symlink():
        return "is a symbolic link to something that does not exist"
    if not path.parent.is_dir():
        return f"does not exist: there is no folder {path.parent}"
    try:
        names = [each.name for each in islice(path.parent.iterdir(), NEIGHBOURS)]
    except OSError:  # one may open what is in it, but not list it
        names = []
    near = get_close_matches(path.name, names, 3, 0.8)
    return (
        f"does not exist; did you mean {' or '.join(near)}?"
        if near
        else ("does not exist")
    )

"""Find the data files that are named, below folders too, and leave some of them out."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import filter as matching_names
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path, PurePath
from typing import cast

from harpia_formats.files.io.encodings import SUFFIXES
from harpia_formats.files.io.file_kinds import (
    OtherKindError,
    Unpacker,
    suffixes_of,
    unpacker_of_folder,
)
from harpia_formats.files.io.reader import MissingSourceError, SourceError, error_reason
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import STANDARD_INPUT, Source, open_source
from harpia_formats.files.io.urls import is_mistyped_url, is_url, local_path, masked
from harpia_formats.model.problem import MISSING, OptionError

_SUFFIXES = tuple(
    data + compression
    for data in (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
    for compression in ("", *SUFFIXES)
)
#: Names of files in a folder that are opened to see whether they are of another kind.
OTHER_SUFFIXES = tuple(
    suffix + compression
    for suffix in (
        *(".parquet", ".arrow", ".feather", ".orc", ".avro", ".h5", ".hdf5"),
        *(".xlsx", ".xlsm", ".xls", ".ods", ".sqlite", ".sqlite3", ".db", ".pdf"),
        *(".pkl", ".pickle", ".pt", ".pth", ".npy", ".npz", ".safetensors", ".gguf"),
        *(".zip", ".eval", ".tar", ".tgz", ".7z", ".rar"),
        *(".html", ".htm", ".xml", ".yaml", ".yml", ".dat", ".bin"),
    )
    for compression in ("", *SUFFIXES)
)


def is_data_name(name: str, unpackers: tuple[Unpacker, ...] = ()) -> bool:
    """Return whether a file is called like one of JSON or CSV, or one to unpack."""
    return name.lower().endswith(data_suffixes(unpackers))


@cache
def data_suffixes(unpackers: tuple[Unpacker, ...]) -> tuple[str, ...]:
    """Return what the names of data files end in."""
    return (*_SUFFIXES, *suffixes_of(unpackers))


def no_data_files(unpackers: tuple[Unpacker, ...]) -> str:
    """Return that a folder has no data files, with what they are called."""
    suffixes = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
    names = [f"*{suffix}" for suffix in suffixes]
    text = f"{', '.join(names[:-1])} or {names[-1]}, also compressed"
    others = [f"*{suffix}" for suffix in suffixes_of(unpackers)]
    if others:
        text += f"; {', '.join(others)}"
    return f"no data files in this folder ({text})"


#: Files that folders and patterns of one run stand for, which are listed in memory.
MOST_FILES = 1_000_000
#: Names in a folder among which a similar name is looked for; it may hold millions.
NEIGHBOURS = 2_000


def absolute_name(path: Path) -> str:
    """Return the absolute path of a file, the same for each way to write its name.

    It is not resolved: a link and its target are two files. Several times as fast as
    `Path.absolute`, which counts in many small files.
    """
    name = os.fspath(path)
    if not os.path.isabs(name):  # noqa: PTH117 - see above
        name = os.path.join(os.getcwd(), name)  # noqa: PTH109, PTH118 - see above
    return os.path.normcase(name)


def file_key(source: Source) -> str | int:
    """Return what is equal for the sources of one file, by path or by URL.

    A link and its target are two files. A stream is known by its identity.
    """
    origin = source.origin
    if isinstance(origin, Path):
        return absolute_name(origin)
    if not isinstance(origin, RemoteFile):
        return id(origin)
    if is_url(local_path(origin.url)):
        return origin.identity
    return absolute_name(Path(origin.path))


def find_sources(
    arguments: Iterable[str | os.PathLike[str]], unpackers: tuple[Unpacker, ...] = ()
) -> list[Source]:
    """Return the sources that `arguments` name, in their order and each file once.

    An argument is `-` for standard input, a file, a folder (all data files below
    it), a pattern of file names, or the URL of one of these. A folder that one of
    `unpackers` reads is a single source. Raises `SourceError` if an argument names
    nothing that can be read.
    """
    found: dict[str | int, Source] = {}
    for argument in arguments:
        for source in _sources_of(os.fspath(argument), unpackers):
            found.setdefault(file_key(source), source)
            if len(found) > MOST_FILES:
                reason = f"is one of more than {MOST_FILES:,} files; name fewer at once"
                raise SourceError(source.name, reason)
    return list(found.values())


_UNREADABLE = (
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISBLK, "is a block device"),
    (stat.S_ISCHR, "is a character device"),
)


def _sources_of(argument: str, unpackers: tuple[Unpacker, ...]) -> Iterable[Source]:
    if argument == "-":
        return [_standard_input()]
    if is_url(argument):
        from harpia_formats.files.io.remote_discovery import remote_sources  # noqa: PLC0415 - for remote files only

        suffixes = data_suffixes(unpackers)
        return remote_sources(argument, suffixes, no_data_files(unpackers))
    try:
        mode = os.stat(argument).st_mode  # noqa: PTH116 - Path("") is the folder "."
    except (FileNotFoundError, NotADirectoryError) as error:
        return _matches(argument, error, unpackers)
    except (OSError, ValueError) as error:
        raise SourceError(argument, error_reason(error)) from error
    if stat.S_ISDIR(mode):
        return _sources_below(argument, unpackers)
    for is_kind, reason in _UNREADABLE:
        if is_kind(mode):
            raise SourceError(argument, reason)
    if not os.access(argument, os.R_OK):
        raise SourceError(argument, "permission denied")
    return [Source(argument, Path(argument))]


def _standard_input() -> Source:
    if sys.stdin is None:  # a process without a console
        raise SourceError(STANDARD_INPUT, "is closed")
    return Source(STANDARD_INPUT, sys.stdin.buffer)


def _sources_below(folder: str, unpackers: tuple[Unpacker, ...]) -> list[Source]:
    """Return the data files below a folder, and files of other known kinds.

    A folder that is one input is a single source. Raises `SourceError` if there are no
    data files.
    """
    whole = _unpacker_of(Path(folder), unpackers)
    if whole is not None:
        return [Source(folder, Path(folder), folder_unpacker=whole)]
    found = _sources_in(Path(folder), unpackers)
    if not any(
        source.folder_unpacker or is_data_name(source.name, unpackers)
        for source in found
    ):
        reason = no_data_files(unpackers)
        if found:
            names = (PurePath(source.name).name for source in found[:3])
            reason += f", but {', '.join(names)}"
        raise SourceError(folder, reason)
    return found


def is_unpacked_folder(
    path: str | os.PathLike[str], unpackers: tuple[Unpacker, ...]
) -> bool:
    """Return whether there is a folder at `path` that is read as one input."""
    try:
        return os.path.isdir(path) and _unpacker_of(Path(path), unpackers) is not None  # noqa: PTH112 - raises nothing for a name that is no path
    except SourceError:
        return False


def _unpacker_of(folder: Path, unpackers: tuple[Unpacker, ...]) -> Unpacker | None:
    """Return what reads a folder as one input, None if nothing does."""
    if not unpackers:
        return None
    return unpacker_of_folder(unpackers, (entry.name for entry in _entries(folder)))


def _sources_in(folder: Path, unpackers: tuple[Unpacker, ...]) -> list[Source]:
    """Return the sources below a folder in the order of their paths."""
    # One more shows that there are too many.
    found = list(islice(_sources_found(folder, unpackers), MOST_FILES + 1))
    # In the order of paths, which compare their parts in Python, in less time.
    return sorted(found, key=_parts_of_origin)


def _parts_of_origin(source: Source) -> list[str]:
    """Return the parts of a local path as paths compare them."""
    name = os.path.normcase(os.fspath(cast("Path", source.origin)))
    return name.split(os.sep)  # noqa: PTH206 - in less time


def _sources_found(folder: Path, unpackers: tuple[Unpacker, ...]) -> Iterator[Source]:
    """Yield the data files below a folder, files of other kinds, and whole folders."""
    suffixes = data_suffixes(unpackers)
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        try:
            entries = _visible_entries(inner)
        except SourceError as error:
            if inner == folder or not isinstance(error.__cause__, FileNotFoundError):
                raise
            # It is gone meanwhile: reading it reports so, and all others are read.
            yield Source(str(inner), inner, is_found=True)
            continue
        names = (entry.name for entry in entries)
        whole = unpacker_of_folder(unpackers, names) if unpackers else None
        if whole is not None:
            yield Source(str(inner), inner, is_found=True, folder_unpacker=whole)
            continue
        for entry in entries:
            path = inner / entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.is_file(follow_symlinks=False) and _is_wanted(
                inner, entry.name, suffixes
            ):
                yield Source(str(path), path, is_found=True, unpackers=unpackers)


def _is_wanted(folder: Path, name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file is a data file, or by its first bytes of another kind.

    `suffixes` are what the names of data files end in.
    """
    lower = name.lower()
    if lower.endswith(suffixes):
        return True
    if not (lower.endswith(OTHER_SUFFIXES) or "." not in name):
        return False
    try:
        with open_source(Source(name, folder / name)) as reader:
            next(iter(reader), None)
    except OtherKindError:
        return True
    except SourceError:
        return False
    return False


def _walk(folder: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Yield `folder` and those below it, each with its visible entries.

    Links are not followed.
    """
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        entries = _visible_entries(inner)
        yield inner, entries
        folders = (entry for entry in entries if entry.is_dir(follow_symlinks=False))
        waiting.extend(inner / entry.name for entry in folders)


def _visible_entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder whose names do not begin with a point."""
    return [entry for entry in _entries(folder) if not entry.name.startswith(".")]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; raises `SourceError` if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise SourceError(str(folder), error_reason(error)) from error


def _matches(
    pattern: str, error: OSError, unpackers: tuple[Unpacker, ...]
) -> list[Source]:
    """Return the files that match a pattern; raises `SourceError` if there are none.

    `error` says that there is no file with that very name.
    """
    if is_mistyped_url(pattern):
        reason = f"{MISSING}; an address has two slashes, as in https://"
        raise MissingSourceError(masked(pattern), reason) from error
    if not _is_pattern(pattern):
        raise MissingSourceError(pattern, _missing_reason(Path(pattern))) from error
    try:
        found = _sources_matching(pattern, unpackers)
    except OSError as denied:
        raise SourceError(pattern, error_reason(denied)) from denied
    if not found:
        raise SourceError(pattern, "no file matches this pattern") from error
    return [source for _, source in sorted(found.items())]


def _sources_matching(
    pattern: str, unpackers: tuple[Unpacker, ...]
) -> dict[Path, Source]:
    """Return the files that match, and the sources found in folders that match."""
    found: dict[Path, Source] = {}
    for path in _expand(Path(), Path(pattern).parts):
        if path.is_file():
            found[path] = Source(str(path), path)
        elif path.is_dir():
            for source in _sources_in(path, unpackers):
                found.setdefault(cast("Path", source.origin), source)
    return found


def _is_pattern(text: str) -> bool:
    return any(letter in text for letter in "*?[")


def _expand(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield the paths below `folder` that match the steps `parts` of a pattern.

    `**` follows no links. The glob module does, and so finds a file forty times
    through a link to a parent.
    """
    if not parts:
        yield folder
        return
    head, *rest = parts
    if head == "**":
        for inner, _ in _walk(folder) if folder.is_dir() else ():
            yield from _expand(inner, rest or ["*"])
    elif not _is_pattern(head) or os.path.lexists(folder / head):
        yield from _expand(folder / head, rest)
    elif folder.is_dir():
        for name in _matching_names(folder, head):
            yield from _expand(folder / name, rest)


def _matching_names(folder: Path, pattern: str) -> list[str]:
    hidden = pattern.startswith(".")
    names = (entry.name for entry in _entries(folder))
    visible = (name for name in names if hidden or name[0] != ".")
    return matching_names(visible, pattern)


def _missing_reason(path: Path) -> str:
    """Return why there is nothing at `path`, with similar names in its folder."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name needs it

    if path.is_symlink():
        return "is a symbolic link to something that does not exist"
    if not path.parent.is_dir():
        return f"{MISSING}: there is no folder {path.parent}"
    try:
        names = [file.name for file in islice(path.parent.iterdir(), NEIGHBOURS)]
    except OSError:  # the folder may be opened but not listed
        names = []
    near = get_close_matches(path.name, names, 3, 0.8)
    if not near:
        return MISSING
    return f"{MISSING}; did you mean {' or '.join(near)}?"


def check_patterns(patterns: Iterable[str]) -> None:
    """Raise `OptionError` for a pattern without a name, which would match nothing."""
    for pattern in patterns:
        if not parts_of(pattern):
            raise OptionError(
                f"`--exclude {pattern!r}` names no file: give a pattern such as '*.old'"
            )


class Exclusion:
    """Patterns of files that are left out, and how many files were left out so far.

    A pattern is matched against the path of a file below the folder that the user
    named, and against the folders on that path. One without a slash is matched against
    each name on it. `*` matches no slash, `**` any number of folders.
    """

    def __init__(
        self,
        patterns: Iterable[str] = (),
        is_left_out: Callable[[Source], bool] | None = None,
        *,
        may_leave_none: bool = False,
    ) -> None:
        """Take the patterns, and what says which further files are left out.

        Unless they `may_leave_none`, leaving out every file is an error.
        """
        self._is_left_out = is_left_out
        self.may_leave_none = may_leave_none
        self._patterns = {pattern: parts_of(pattern) for pattern in patterns}
        #: The patterns that matched no file so far.
        self._unmatched = dict.fromkeys(self._patterns)
        self.count = 0

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The patterns that matched no file so far."""
        return tuple(self._unmatched)

    @property
    def reason(self) -> str:
        """What leaves files out."""
        return "`--exclude`" if self._patterns else "the setting exclude"

    def left(self, sources: Iterable[Source], folder: str) -> Iterator[Source]:
        """Yield the sources, found below `folder`, that no pattern matches."""
        for source in sources:
            if self._leaves_out(source, folder):
                self.count += 1
            else:
                yield source

    def _leaves_out(self, source: Source, folder: str) -> bool:
        if self._patterns and self._matches(_below(source.name, folder)):
            return True
        return self._is_left_out is not None and self._is_left_out(source)

    def _matches(self, parts: tuple[str, ...]) -> bool:
        found = [
            given
            for given, pattern in self._patterns.items()
            if matches(parts, pattern)
        ]
        for given in found:
            self._unmatched.pop(given, None)
        return bool(found)


def matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether a pattern matches a path or a folder on it; both are in steps."""
    if len(pattern) > 1:
        return _matches_path(parts, pattern)
    return any(fnmatchcase(part, *pattern) for part in parts)


def parts_of(pattern: str) -> tuple[str, ...]:
    """Return the steps of a pattern."""
    return tuple(part for part in pattern.split("/") if part not in {"", "."})


def _matches_path(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether `pattern` matches a path, or one of the folders on it."""
    if not pattern:
        return True
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        ends = range(len(parts) + 1)
        return any(_matches_path(parts[end:], rest) for end in ends)
    is_first = bool(parts) and fnmatchcase(parts[0], first)
    return is_first and _matches_path(parts[1:], rest)


def _below(name: str, folder: str) -> tuple[str, ...]:
    """Return the steps from `folder` to a file; of a file that was named, its path.

    The folders above an absolute path are not what the patterns are about.
    """
    for base in (folder.rstrip("/"), str(PurePath(folder))):
        if name.startswith(f"{base}/"):
            return tuple(filter(None, name[len(base) :].split("/")))
    path = PurePath(name)
    return (path.name,) if path.is_absolute() else path.parts

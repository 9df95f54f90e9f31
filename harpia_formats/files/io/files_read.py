"""The files that a run reads, which none of its outputs may replace."""

import os
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.files.io.discovery import find_sources
from harpia_formats.files.io.exclude import Exclusion
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.unpacking import Unpacker
from harpia_formats.files.io.urls import is_same_place, is_url, masked


class FilesRead:
    """The inputs of a run, with the files found by them, and its other files.

    Folders and patterns are expanded only for an output that is there already.
    """

    def __init__(
        self,
        inputs: Iterable[Any] = (),
        others: Iterable[Any] = (),
        *,
        exclude: Iterable[str] = (),
        unpackers: tuple[Unpacker, ...] = (),
        rewritten: str | None = None,
    ) -> None:
        """Take the inputs, and other files that are read, such as a schema.

        What is no path or URL is passed over, and so is None. `exclude` and `unpackers`
        are those with which the inputs are read. `rewritten` is an output that may
        replace the only input, if the user named one file for both.
        """
        self._inputs = _names(inputs)
        #: The paths and URLs that the user named.
        self.named = (*self._inputs, *_names(others))
        is_alone = rewritten is not None and len(self._inputs) == 1
        self._rewritten = rewritten if is_alone else None
        self._exclude = tuple(exclude)
        self._unpackers = unpackers

    def check(self, place: str) -> None:
        """Raise `SinkError` if the path or URL `place` is one of the files."""
        found = self._found(place)
        if found is not None and place == self._rewritten and found in self._inputs:
            return
        if found is not None:
            same = "" if found == place else f" ({masked(found)})"
            raise SinkError(masked(place), f"is an input, too{same}")

    def _found(self, place: str) -> str | None:
        """Return the file that `place` is, as the user named it or as it was found."""
        for name in self.named:
            if is_same_file(name, place):
                return name
        if is_url(place):
            return self._found_remote(place)
        if not os.path.exists(place):  # noqa: PTH110 - `Path.exists` raises for a name that is too long
            return None
        real = Path(os.path.realpath(place))
        for source in self._sources(name for name in self._inputs if not is_url(name)):
            origin = source.origin
            if not isinstance(origin, Path):
                continue
            if is_same_file(origin, place) or Path(os.path.realpath(origin)) in (
                real.parents if source.folder_unpacker else ()
            ):
                return source.name
        return None

    def _found_remote(self, url: str) -> str | None:
        """Return the remote file that `url` is, if a folder or pattern has it."""
        inputs = [name for name in self._inputs if _may_have(name, url)]
        if not inputs:
            return None
        try:
            (found,) = find_sources([url])
        except (SourceError, ValueError):  # there is none, or it is a folder
            return None
        for source in self._sources(inputs):
            if _identity(source) == _identity(found):
                return source.name
        return None

    def _sources(self, inputs: Iterable[str]) -> Iterator[Source]:
        """Yield the files that inputs name; what cannot be read is reported later."""
        exclusion = Exclusion(self._exclude)
        for source in sources_of_inputs(inputs, exclusion, self._unpackers):
            if isinstance(source, Source):
                yield source


def is_same_file(one: str | PathLike[str], other: str | PathLike[str]) -> bool:
    """Tell whether two paths are one file, by any of its names, or two URLs are equal.

    Paths that name one place are one file, even if nothing is there.
    """
    if is_same_place(one, other):
        return True
    if is_url(fspath(one)) or is_url(fspath(other)):
        return False
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - raises nothing for a name that is no path
    except (OSError, ValueError):
        return False


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    """Return the paths and URLs in `given`; `-` is standard input."""
    places = [one.origin if isinstance(one, Source) else one for one in given]
    names = [fspath(one) for one in places if isinstance(one, (str, PathLike))]
    return tuple(name for name in names if name != "-")


def _may_have(name: str, url: str) -> bool:
    """Tell whether a remote input may be a folder or a pattern with a URL in it."""
    if not is_url(name):
        return False
    begin = (
        name.split("*", maxsplit=1)[0]
        .split("?", maxsplit=1)[0]
        .split("[", maxsplit=1)[0]
    )
    return url.startswith(begin if begin != name else f"{name.rstrip('/')}/")


def _identity(source: Source) -> str:
    origin = source.origin
    return origin.identity if isinstance(origin, RemoteFile) else ""

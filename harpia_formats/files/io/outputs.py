"""The outputs of a run: none replaces an input, and all appear together."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.files.io.discovery import Exclusion, find_sources
from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.files.io.file_sink import NO_FOLDER, open_sink
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.sink import (
    DurabilityError,
    Sink,
    SinkError,
    check_folder,
    check_name,
)
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.urls import (
    is_same_place,
    is_url,
    local_path,
    masked,
    real_path,
)


class FilesRead:
    """The inputs of a run, with the files found by them, and its other files.

    Folders and patterns are expanded only for an output that already exists.
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
        place = local_path(place)
        if is_url(place):
            return self._found_remote(place)
        if not os.path.exists(place):  # noqa: PTH110 - `Path.exists` raises for a name that is too long
            return None
        real = Path(os.path.realpath(place))
        inputs = map(local_path, self._inputs)
        for source in self._sources(name for name in inputs if not is_url(name)):
            origin = source.origin
            if not isinstance(origin, Path):
                continue
            if is_same_file(origin, place):
                return source.name
            if (
                source.folder_unpacker
                and Path(os.path.realpath(origin)) in real.parents
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

    Paths that name one place are one file, even if nothing is there. A URL of this
    machine is the path in it.
    """
    places = [local_path(one), local_path(other)]
    if not any(map(is_url, places)):
        try:
            return os.path.samefile(*places)  # noqa: PTH121 - raises nothing for a name that is no path
        except (OSError, ValueError):  # one of them is not there
            pass
    return is_same_place(*places)


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    """Return the paths and URLs in `given`; `-` is standard input."""
    places = [one.origin if isinstance(one, Source) else one for one in given]
    names = [fspath(one) for one in places if isinstance(one, (str, PathLike))]
    return tuple(name for name in names if name != "-")


def _may_have(name: str, url: str) -> bool:
    """Tell whether a remote input may be a folder or a pattern with a URL in it."""
    if not is_url(name):
        return False
    begin = name.partition("*")[0].partition("?")[0].partition("[")[0]
    return url.startswith(begin if begin != name else f"{name.rstrip('/')}/")


def _identity(source: Source) -> str | None:
    """Return what is equal for all URLs of one remote file, None for another file."""
    origin = source.origin
    return origin.identity if isinstance(origin, RemoteFile) else None


#: Bytes of a generated name, which may be only a part of the name of a file.
LONGEST = 150
_unsafe = re.compile(r"[^\w.-]+")
#: A leading dot hides a file or leads to another folder; a leading hyphen is an option;
#: Windows drops a trailing dot.
_ends = re.compile(r"^[.-]+|\.+$")
#: Names of devices on Windows, also with a suffix.
_reserved = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\..*)?", re.IGNORECASE)


def path_component(name: str, if_empty: str) -> str:
    """Return one component of a path made from `name`, which may come from data.

    It leads to no other folder, is no name that a system reserves, and has at most
    `LONGEST` bytes. Letters, digits, dots, hyphens and underscores are kept. Different
    names may give the same component; it is `if_empty` for the empty name.
    """
    normal = unicodedata.normalize("NFC", name)
    safe = _ends.sub("_", _unsafe.sub("_", normal)) or if_empty
    if _reserved.fullmatch(safe):
        # A suffix does not count: NUL.jsonl_ is the device, too.
        stem, dot, suffix = safe.partition(".")
        safe = f"{stem}_{dot}{suffix}"
    return safe.encode()[:LONGEST].decode("utf-8", "ignore")


#: Stands for the place of a stream, of which a run writes one at most.
_STREAM = ""


class OutputGroup:
    """Opens the outputs of a run, and puts them into place once all are complete."""

    def __init__(
        self,
        *,
        overwrite: bool,
        reads: FilesRead | None = None,
        taken: Iterable[str] = (),
    ) -> None:
        """Begin without outputs; none may be one of the files that the run `reads`.

        `taken` are places that the run writes apart from the group. Unless `overwrite`,
        `commit` fails if there is a file at a place by then.
        """
        self._overwrite = overwrite
        self._sinks: dict[str, Sink] = {}
        #: The places that are taken.
        self._claimed = {_key_of(place): place for place in taken}
        self._reads = reads or FilesRead()
        self._others = {_key_of(place) for place in self._reads.named}
        #: What the user should know of earlier runs that were killed.
        self.notes: list[str] = []

    def claim(self, place: str) -> None:
        """Take the path or URL `place`; raises `SinkError` if it is taken, or read."""
        if not is_url(place):
            check_name(Path(place))
        self._reads.check(place)
        key = _key_of(place)
        if key in self._claimed:
            reason = "is named for two outputs of one run"
            raise SinkError(masked(place), reason)
        self._claimed[key] = place

    def check_apart(self, found: Iterable[str]) -> None:
        """Raise `SinkError` if a file that was read is at a place that was claimed.

        It is for files that a run finds by itself.
        """
        for name in found:
            for place in self._claimed.values():
                if is_same_file(name, place):
                    reason = f"is an input, too: {masked(name)}, which the run found"
                    raise SinkError(masked(place), reason)

    def is_free(self, place: str) -> bool:
        """Return whether a name from data may get the path or URL `place`."""
        key = _key_of(place)
        return key not in self._claimed and key not in self._others

    def open(self, place: str) -> Sink:
        """Return a sink for a place that was claimed; raises `SinkError`."""
        sink = self._sinks[place] = open_sink(place, overwrite=self._overwrite)
        self.notes += sink.notes
        return sink

    def add_stream(self, sink: Sink) -> None:
        """Add the sink of an open stream, which has no place."""
        self._sinks[_STREAM] = sink

    def remove(self, place: str) -> None:
        """Remove what was written to a place."""
        sink = self._sinks.pop(place, None)
        if sink is not None:
            sink.discard()

    def commit(self) -> None:
        """Complete all outputs, then put them into place.

        Raises `SinkError`. New files are removed in that case; if files were replaced
        before the error, it names them. After `DurabilityError` all are in place.
        """
        try:
            for sink in self._sinks.values():
                sink.finish()
        except SinkError:
            self.discard()
            raise
        replaced: list[str] = []
        new: list[Path] = []
        unknown: DurabilityError | None = None
        for place, sink in self._sinks.items():
            is_file = place != _STREAM and not is_url(place)
            is_new = is_file and not os.path.lexists(place)
            try:
                sink.commit()
            except DurabilityError as error:
                unknown = error
            except SinkError as error:
                self.discard()
                for path in new:
                    path.unlink(missing_ok=True)
                raise _with_replaced(error, replaced) from error
            if is_new:
                new.append(Path(place))
            elif place != _STREAM:
                replaced.append(masked(place))
        self._sinks.clear()
        if unknown is not None:
            raise unknown

    def discard(self) -> None:
        """Remove everything that was written and is not in place."""
        for sink in self._sinks.values():
            sink.discard()


def _with_replaced(error: SinkError, replaced: list[str]) -> SinkError:
    """Return `error` with the names of the files that were replaced before it."""
    if not replaced:
        return error
    names = ", ".join(replaced)
    return SinkError(error.path, f"{error.reason}; replaced before: {names}")


def _key_of(place: str) -> str:
    """Return a text that is equal for two names of one place.

    Some file systems do not tell upper from lower case, or two Unicode forms of a name.
    """
    path = local_path(place)
    if is_url(path):
        return path
    return unicodedata.normalize("NFC", real_path(path)).casefold()


def check_extra_output(place: str, others: Iterable[Any]) -> None:
    """Raise `SinkError` if no such file can be written to a path or URL.

    `others` are the paths and URLs that the run reads or writes; what is none, such as
    None, is passed over. A file that already exists is no error.
    """
    for other in others:
        name = fspath(other) if isinstance(other, (str, PathLike)) else "-"
        if name != "-" and is_same_file(place, name):
            same = "" if name == place else f" ({masked(name)})"
            reason = f"is an input or an output of this run{same}"
            raise SinkError(masked(place), reason)
    if is_url(place):
        from harpia_formats.files.io.remote_sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(place, overwrite=True)
        return
    check_name(Path(place))
    folder = Path(place).absolute().parent
    if Path(place).is_dir():
        raise SinkError(place, "is a folder")
    if not folder.is_dir():
        raise SinkError(place, NO_FOLDER)
    check_folder(Path(place))

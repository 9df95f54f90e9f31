"""The inputs of a caller, checked, and the sources behind them, read once or twice."""

import os
import stat
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import TextIOBase
from os import PathLike
from pathlib import Path, PurePath
from types import TracebackType
from typing import IO, Any, BinaryIO, Self, cast

from msgspec.structs import replace

from harpia_formats.files.io.discovery import (
    Exclusion,
    file_key,
    find_sources,
    is_unpacked_folder,
)
from harpia_formats.files.io.encodings import EncodedPath
from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.files.io.reader import BLOCK, SourceError
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.model.problem import OptionError

#: Bytes of a copied stream that are kept in memory.
_HELD = 1024 * 1024

#: A path, folder, pattern or URL, bytes, an open binary stream, or a source.
Input = str | PathLike[str] | bytes | BinaryIO | Source


def checked_inputs(given: Iterable[Any]) -> list[Input]:
    """Return the inputs in `given`.

    Raises `ValueError` if there is none, `TypeError` if one is no input.
    """
    inputs = [_checked(input_) for input_ in given]
    if not inputs:
        raise OptionError("there is nothing to read: name an input")
    return inputs


def is_rereadable(given: Input) -> bool:
    """Tell whether an input can be read several times; a stream or pipe cannot."""
    if isinstance(given, (str, PathLike)):
        return os.fspath(given) != "-" and not _is_pipe(given)
    if isinstance(given, Source):
        origin = given.origin
        return isinstance(origin, (bytes, RemoteFile)) or (
            isinstance(origin, Path) and not _is_pipe(origin)
        )
    return isinstance(given, bytes)


def _is_pipe(path: str | PathLike[str]) -> bool:
    """Tell whether a path names a pipe, such as one of a shell's `<(command)`."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 - what is no path, too
    except (OSError, ValueError):
        return False


def refuse_repeated_streams(inputs: Iterable[Input]) -> None:
    """Raise `OptionError` for a stream or pipe that is given a second time.

    It is for inputs that are compared, each of which is read for itself.
    """
    seen: set[object] = set()
    for given in inputs:
        if is_rereadable(given):
            continue
        key = _stream_key(given)
        if key in seen:
            name = _sources_of(given, ())[0].name
            raise OptionError(f"{name} is named twice, and can be read only once")
        seen.add(key)


def _stream_key(given: Input) -> object:
    """Return what is the same for two inputs that are one stream or pipe."""
    stream = given.origin if isinstance(given, Source) else given
    if not isinstance(stream, (str, PathLike)):
        return id(stream)
    try:
        status = os.stat(0 if os.fspath(stream) == "-" else stream)  # noqa: PTH116 - what is no path, too
    except OSError:
        return os.fspath(stream)
    return status.st_dev, status.st_ino


def rereadable_input(given: Input) -> Input:
    """Return `given`, or a copy of it in a temporary file if it can be read once only.

    The caller seeks the beginning of the copy before reading it again. Raises
    `SourceError` if not all can be read, and `OSError` if there is no room for a copy.
    """
    if is_rereadable(given):
        return given
    source = _sources_of(given, ())[0]
    from tempfile import SpooledTemporaryFile  # noqa: PLC0415 - only streams are copied: start-up time

    copy = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - read until the run ends
    try:
        with open_source(source) as reader:
            reader.copy_to(copy)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return replace(source, origin=cast("BinaryIO", copy))


def rewind_inputs(inputs: Iterable[Input]) -> None:
    """Seek the beginning of each copy that `rereadable_input` made."""
    for source in inputs:
        if isinstance(source, Source) and not isinstance(
            source.origin, (bytes, Path, RemoteFile)
        ):
            source.origin.seek(0)


def close_copies(given: Iterable[Input], kept: Iterable[Input]) -> None:
    """Close the copies among `kept` that `rereadable_input` made of `given`."""
    for before, copy in zip(given, kept, strict=True):
        if copy is not before and isinstance(copy, Source):
            cast("BinaryIO", copy.origin).close()


def sources_of_inputs(
    inputs: Iterable[Input],
    exclusion: Exclusion | None = None,
    unpackers: tuple[Unpacker, ...] = (),
) -> Iterator[Source | SourceError]:
    """Yield the sources that `inputs` name, each once, and errors for the others.

    What `exclusion` leaves out is not yielded; that nothing is left is an error unless
    it may leave none.
    `unpackers` make text of the files and folders that they recognize.
    """
    inputs = list(inputs)
    exclusion = exclusion or Exclusion()
    is_empty = True
    for source in _all_sources(inputs, exclusion, unpackers):
        is_empty = False
        yield source
    if is_empty and exclusion.count and not exclusion.may_leave_none:
        reason = f"all files are left out by {exclusion.reason}"
        yield SourceError(_name_of(inputs[0]), reason)


def _all_sources(
    inputs: Sequence[Input], exclusion: Exclusion, unpackers: tuple[Unpacker, ...]
) -> Iterator[Source | SourceError]:
    """Yield the sources that `inputs` name, each once, and errors for the others."""
    seen: set[str | int] = set()
    names: Counter[str] = Counter()
    # The sources of one input are each there once.
    is_single = len(inputs) == 1
    for input_ in inputs:
        try:
            found = _sources_of(input_, unpackers)
        except SourceError as error:
            yield error
            continue
        for source in exclusion.left(found, _name_of(input_)):
            if is_single or _is_new(source, seen):
                names[source.name] += 1
                numbered = _numbered(source, names[source.name])
                has_all = numbered.unpackers is unpackers or not unpackers
                yield numbered if has_all else replace(numbered, unpackers=unpackers)


def is_one_file(inputs: Sequence[Input], unpackers: tuple[Unpacker, ...] = ()) -> bool:
    """Tell whether the only input is one local file, or a folder read as one."""
    first, *others = inputs
    if others or not isinstance(first, (str, PathLike)):
        return False
    # Unlike `Path.is_file` this raises nothing if the path cannot be accessed; reading
    # it reports why.
    if os.path.isfile(first):  # noqa: PTH113 - for the reason above
        return True
    return is_unpacked_folder(first, unpackers)


def _checked(given: Any) -> Input:
    """Return an input; raises `TypeError` if it is none."""
    known = isinstance(given, (Source, bytes, str, PathLike))
    if not known and (isinstance(given, TextIOBase) or not hasattr(given, "read")):
        kind = type(given).__name__
        kinds = "a path, bytes, an open binary file or a list of rows"
        raise OptionError(f"an input is {kinds}, not {kind}")
    checked: Input = given
    return checked


def _sources_of(given: Input, unpackers: tuple[Unpacker, ...]) -> list[Source]:
    """Return the sources that one input names; raises `SourceError`."""
    if isinstance(given, Source):
        return [given]
    if isinstance(given, bytes):
        return [Source("<data>", given)]
    if isinstance(given, EncodedPath):
        found = find_sources([given], unpackers)
        return [
            replace(source, encoding=given.encoding, name=given.name or source.name)
            for source in found
        ]
    if isinstance(given, (str, PathLike)):
        return find_sources([given], unpackers)
    return [Source(str(getattr(given, "name", "<stream>")), given)]


def input_of(inputs: Iterable[Input], path: str) -> str:
    """Return the input by which a file was found, such as a folder, else `path`."""
    for name in map(_name_of, inputs):
        if name and path.startswith((f"{name.rstrip('/')}/", f"{PurePath(name)}/")):
            return name
    return path


def _name_of(given: Input) -> str:
    """Return the path or URL that an input is, "" if it is none."""
    return os.fspath(given) if isinstance(given, (str, PathLike)) else ""


def _is_new(source: Source, seen: set[str | int]) -> bool:
    """Add the file of `source` to `seen`; tell whether it was not in it."""
    if isinstance(source.origin, bytes):
        return True
    key = file_key(source)
    is_new = key not in seen
    seen.add(key)
    return is_new


def _numbered(source: Source, number: int) -> Source:
    """Return the `number`th source of a name with a number in its name, from 2 on."""
    if number == 1:
        return source
    return replace(source, name=f"{source.name} ({number})")


#: Bytes of a copy that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024


class RereadableSource:
    """A source whose blocks can be read again; to be used in a `with` statement."""

    def __init__(self, source: Source) -> None:
        self._source = source
        #: Where the caller copies the bytes in the first pass; None if not needed.
        self.copy: IO[bytes] | None = None
        #: Why the source was not read to its end again; empty if it was.
        self.failure = ""

    def __enter__(self) -> Self:
        if not is_lasting(self._source):
            from tempfile import SpooledTemporaryFile  # noqa: PLC0415 - only streams are copied: start-up time

            self.copy = SpooledTemporaryFile(HELD)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.copy is not None:
            self.copy.close()

    def blocks(self) -> Generator[bytes, None, None]:
        """Yield the blocks once more, as far as the source can be read."""
        copy = self.copy
        if copy is not None:
            copy.seek(0)
            yield from iter(lambda: copy.read(BLOCK), b"")
            return
        try:
            with open_source(self._source) as reader:
                yield from reader
        except SourceError as error:  # in most cases reported in the first pass
            self.failure = error.reason


def is_lasting(source: Source) -> bool:
    """Tell whether a source can be read any number of times; a pipe cannot."""
    origin = source.origin
    if isinstance(origin, Path):
        # A folder was listed with the kinds of its files.
        if source.is_found or source.folder_unpacker is not None:
            return True
        return os.path.isfile(origin)  # noqa: PTH113 - several times as fast, which counts in many small files
    return isinstance(origin, (bytes, RemoteFile))

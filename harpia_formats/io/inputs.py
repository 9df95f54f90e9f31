"""What a caller gives us to read, and the sources behind it."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import TextIOBase
from os import PathLike
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from harpia_formats.io.discovery import find_sources
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source

#: Bytes of a stream that are kept in memory.
_HELD = 1024 * 1024

Input = str | PathLike[str] | bytes | BinaryIO | Source


def checked_inputs(given: Iterable[Any]) -> list[Input]:
    """Return what is given, which must be inputs, and one at least.

    Raises `ValueError` where there is none, `TypeError` for what is no input.
    """
    inputs = [_checked(each) for each in given]
    if not inputs:
        raise ValueError("there is nothing to read")
    return inputs


def rereadable_input(given: Input) -> Input:
    """Return an input that can be read twice: a stream is copied to a temporary file.

    Whoever reads it again seeks its beginning.
    """
    is_name = isinstance(given, str) and given != "-"
    if is_name or isinstance(given, (bytes, PathLike)):
        return given
    source = _sources_of(given)[0]
    if isinstance(source.origin, (bytes, Path, RemoteFile)):
        return given
    copy = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - read until the run ends
    shutil.copyfileobj(source.origin, copy)
    copy.seek(0)
    return replace(source, origin=cast("BinaryIO", copy))


def sources_of_inputs(inputs: Iterable[Input]) -> Iterator[Source | SourceError]:
    """Yield what the inputs name, each once; of one that names nothing, why."""
    seen: set[Path | str | int] = set()
    names: Counter[str] = Counter()
    for each in inputs:
        try:
            found = _sources_of(each)
        except SourceError as error:
            yield error
            continue
        for source in found:
            if _is_new(source, seen):
                names[source.name] += 1
                yield _numbered(source, names[source.name])


def is_one_file(inputs: Sequence[Input]) -> bool:
    """Tell whether a file of this machine is all there is to read."""
    first, *others = inputs
    if others or not isinstance(first, (str, PathLike)):
        return False
    # Unlike a `Path` it says no of what cannot be looked at; whoever reads it says why.
    return os.path.isfile(first)  # noqa: PTH113 - see above


def _checked(given: Any) -> Input:
    known = isinstance(given, (Source, bytes, str, PathLike))
    if not known and (isinstance(given, TextIOBase) or not hasattr(given, "read")):
        kind = type(given).__name__
        raise TypeError(f"an input is a path, bytes or an open binary file, not {kind}")
    checked: Input = given
    return checked


def _sources_of(given: Input) -> list[Source]:
    if isinstance(given, Source):
        return [given]
    if isinstance(given, bytes):
        return [Source("<data>", given)]
    if isinstance(given, (str, PathLike)):
        return find_sources([given])
    return [Source(str(getattr(given, "name", "<stream>")), given)]


def _is_new(source: Source, seen: set[Path | str | int]) -> bool:
    """Note in `seen` where `source` reads from; tell whether it was not there yet."""
    origin = source.origin
    if isinstance(origin, bytes):
        return True
    key: Path | str | int = id(origin)
    if isinstance(origin, Path):
        # Not resolved: a link and its target are two names of the user's.
        key = origin.absolute()
    elif isinstance(origin, RemoteFile):
        key = origin.identity
    is_new = key not in seen
    seen.add(key)
    return is_new


def _numbered(source: Source, number: int) -> Source:
    """Return `source` with a name of its own, where others are called the same."""
    name = f"{source.name} ({number})"
    return source if number == 1 else replace(source, name=name)

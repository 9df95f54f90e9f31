"""Which files can be shown from a temporary copy only, and how large that will be."""

import os
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.files.io.encodings import codec_of
from harpia_formats.files.io.file_kinds import KIND_BYTES, unpacker_of_file
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, open_source

#: Bytes at the end of a gzip file that tell how long its text is.
_SIZE_OF_GZIP = 4
#: Files above this have a text whose length these bytes cannot tell.
_LARGEST_GZIP = 2**30
#: To how many bytes of text a byte of gzip can expand.
_MOST_EXPANDED = 1032


@dataclass(frozen=True, slots=True)
class Copy:
    """The temporary copy of a file."""

    #: What it is a copy of.
    of: str
    #: About how many bytes it will have, None if that is not known before.
    size: int | None = None


def copy_of(source: Source) -> Copy | None:
    """Return the copy that must be made of a file, None if it is read in place.

    The copy of records that stand in columns is known only once the format is.
    """
    path = source.origin
    if source.folder_unpacker is not None and isinstance(path, Path):
        sizes = (each.stat().st_size for each in path.iterdir() if each.is_file())
        return Copy("the text in its files", sum(sizes))
    if not isinstance(path, Path):
        return Copy("the file")
    try:
        with path.open("rb") as file:
            head = file.read(KIND_BYTES)
            codec = codec_of(source.name, head)
            if codec is not None:
                return Copy("its unpacked text", _unpacked_size(path, codec.name))
    except (OSError, SourceError):  # reading it reports why it cannot be read
        return None
    if unpacker_of_file(source.unpackers, head, source.name) is not None:
        return Copy("its records as text")
    return None


def _unpacked_size(path: Path, codec: str) -> int | None:
    """Return how long the text of a compressed file is, None if it does not tell."""
    size = path.stat().st_size
    if codec != "gzip" or not _SIZE_OF_GZIP <= size <= _LARGEST_GZIP:
        return None
    with path.open("rb") as file:
        file.seek(-_SIZE_OF_GZIP, os.SEEK_END)
        stated = int.from_bytes(file.read(), "little")
    # Of several members only the last one tells its size, and what a file that is cut
    # off has there may be anything.
    return stated if size < stated <= _MOST_EXPANDED * size else None


def is_longer(source: Source, size: int) -> bool:
    """Return whether the text of a file has more than `size` bytes, by reading it."""
    read = 0
    try:
        with open_source(source) as reader:
            for block in reader:
                read += len(block)
                if read > size:
                    return True
    except SourceError:  # it is cut off, and what is before the break has room
        pass
    return False

"""Read a source a second time; one that cannot be read twice is copied."""

import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Self

from harpia_formats.files.io.reader import BLOCK, SourceError
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.source import Source, open_source

#: Bytes of a copy that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024


class RereadableSource:
    """A source whose blocks can be read again; to be used in a `with` statement."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stack = ExitStack()
        #: Where the caller copies the bytes in the first pass; None if not needed.
        self.copy: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if not is_lasting(self._source):
            copy = SpooledTemporaryFile(HELD)
            self.copy = self._stack.enter_context(copy)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

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
        except SourceError:  # reported in the first pass
            return


def is_lasting(source: Source) -> bool:
    """Tell whether a source can be read any number of times; a pipe cannot."""
    origin = source.origin
    if isinstance(origin, Path):
        if source.folder_unpacker is not None:
            return True
        return os.path.isfile(origin)  # noqa: PTH113 - several times as fast, which counts in many small files
    return isinstance(origin, (bytes, RemoteFile))

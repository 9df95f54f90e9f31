"""A second look at a source; one that cannot be read twice is copied on the way."""

from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Self

from harpia_formats.bytestream import BLOCK, SourceError
from harpia_formats.source import Source, open_source

#: Bytes of a copy that are held in memory before they go to the disk.
HELD = 8 * 1024 * 1024


class SecondLook:
    """Returns the blocks of a source once more, for `with`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stack = ExitStack()
        #: Where the bytes are to be copied while they are read; None if they need not.
        self.copy: IO[bytes] | None = None

    def __enter__(self) -> Self:
        # A named path may be a pipe as well.
        origin = self._source.origin
        if not isinstance(origin, bytes) and not (
            hasattr(origin, "is_file") and origin.is_file()
        ):
            copy = SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed with us
            self.copy = self._stack.enter_context(copy)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks, as far as the source could be read."""
        if self.copy is not None:
            self.copy.seek(0)
            yield from iter(lambda: self.copy.read(BLOCK), b"")
            return
        reader = self._stack.enter_context(open_source(self._source))
        try:
            yield from reader
        except SourceError:  # told by the first look
            return

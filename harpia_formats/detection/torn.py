"""The blocks of a file, and what is left of its rows where its source breaks off."""

from collections.abc import Iterator
from typing import IO, Protocol

from harpia_formats.detection.recognize import parsed_rows
from harpia_formats.framing.columns import DocumentFrames, DocumentHeader, RowArray
from harpia_formats.framing.lines import Chunk, FramingFault
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.source import ReadProgress
from harpia_formats.model.report import FileCount

#: What is wrong with any file that breaks off.
_always = {"empty", "unclosed"}


class Readable(ReadProgress, Protocol):
    """ReadBlocks of bytes, with a name."""

    def __iter__(self) -> Iterator[bytes]: ...


class ReadBlocks:
    """The blocks of a file, counted; a fault of the source ends them quietly."""

    def __init__(
        self, reader: Readable, count: FileCount, copy: IO[bytes] | None = None
    ) -> None:
        """Take where the blocks are counted, and where they are kept if anywhere."""
        self.reader = reader
        self._count = count
        self._copy = copy
        self.error: SourceError | None = None
        self.ended = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self.reader:
                self._count.bytes += len(block)
                self._keep(block)
                yield block
        except SourceError as error:
            self.error = error
        self.ended = True

    def drop_copy(self) -> None:
        """Keep no more blocks, and forget those that were kept."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _keep(self, block: bytes) -> None:
        if self._copy is None:
            return
        try:
            self._copy.write(block)
        except OSError as error:
            reason = f"cannot be kept for a second look: {error_reason(error)}"
            raise SourceError(self.reader.name, reason) from error


def complete_frames(flow: DocumentFrames, blocks: ReadBlocks) -> DocumentFrames:
    """Yield the frames of `flow`, but for what only says that the source broke off."""
    for frame in flow:
        if blocks.error is not None:
            # Nothing more is read, so all that is to come is held already.
            yield from _without_torn_end([frame, *flow])
            return
        yield frame


def _without_torn_end(
    rest: list[Chunk | FramingFault | RowArray | DocumentHeader],
) -> DocumentFrames:
    end = rest[-1]
    if isinstance(end, FramingFault) and end.kind in _always:
        rest = rest[:-1]
    if rest and _is_torn(rest[-1], end):
        rest = rest[:-1]
    return iter(rest)


def _is_torn(
    frame: Chunk | FramingFault | RowArray | DocumentHeader,
    end: Chunk | FramingFault | RowArray | DocumentHeader,
) -> bool:
    """Tell whether `frame` is a row that reaches the end of the data, unfinished."""
    if isinstance(frame, DocumentHeader):
        return True
    if not isinstance(frame, Chunk) or frame.data.endswith(b"\n"):
        return False
    behind = frame.start.offset + len(frame.data)
    if isinstance(end, FramingFault) and end.start.offset != behind:
        return False
    return len(frame) == 1 and not list(parsed_rows(frame))

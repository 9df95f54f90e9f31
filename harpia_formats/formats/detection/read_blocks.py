"""The blocks of a file, and its complete rows if reading breaks off."""

from collections.abc import Iterator
from typing import IO, Protocol

from harpia_formats.files.framing.chunk import Chunk, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrame,
    DocumentFrames,
    DocumentHeader,
)
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.formats.detection.sample import parsed_rows
from harpia_formats.model.report import FileCount

#: Faults of the container that every file has whose reading breaks off.
_expected_faults = {"empty", "unclosed"}


class Readable(ReadProgress, Protocol):
    """Blocks of bytes, with a name and the progress of reading them."""

    def __iter__(self) -> Iterator[bytes]: ...


class ReadBlocks:
    """The blocks of a file, counted; an error of the source ends the iteration."""

    def __init__(
        self, reader: Readable, count: FileCount, copy: IO[bytes] | None = None
    ) -> None:
        """Count the bytes of `reader` in `count`, and write them to `copy` if given."""
        self.reader = reader
        self._count = count
        self._copy = copy
        #: Why reading broke off, None if it did not.
        self.error: SourceError | None = None
        #: Whether the iteration is over.
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
        """Copy no more blocks, and delete the copy."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _keep(self, block: bytes) -> None:
        if self._copy is None:
            return
        try:
            self._copy.write(block)
        except OSError as error:
            reason = f"cannot be copied to be read again: {error_reason(error)}"
            raise SourceError(self.reader.name, reason) from error


def complete_frames(frames: DocumentFrames, blocks: ReadBlocks) -> DocumentFrames:
    """Yield `frames` without those that are incomplete since reading broke off."""
    for frame in frames:
        if blocks.error is not None:
            # Nothing more is read, so all frames to come are in memory already.
            yield from _without_truncated_end([frame, *frames])
            return
        yield frame


def _without_truncated_end(frames: list[DocumentFrame]) -> DocumentFrames:
    """Return the last frames of a file without its end, if that is incomplete."""
    end = frames[-1]
    if isinstance(end, FramingFault) and end.kind in _expected_faults:
        frames = frames[:-1]
    if frames and _is_truncated(frames[-1], end):
        frames = frames[:-1]
    return iter(frames)


def _is_truncated(frame: DocumentFrame, end: DocumentFrame) -> bool:
    """Tell whether `frame` is a row that reaches the end of the data, unfinished."""
    if isinstance(frame, DocumentHeader):
        return True
    if not isinstance(frame, Chunk) or frame.data.endswith(b"\n"):
        return False
    behind = frame.start.offset + len(frame.data)
    if isinstance(end, FramingFault) and end.start.offset != behind:
        return False
    return len(frame) == 1 and not list(parsed_rows(frame))

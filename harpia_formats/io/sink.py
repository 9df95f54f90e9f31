"""Sinks of bytes: the interface, the error, and the sink of an open stream."""

from typing import BinaryIO, Protocol


class SinkError(Exception):
    """An output cannot be written: its name as shown to the user, and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path}: {self.reason}"


class Sink(Protocol):
    """Where bytes are written; an output appears with `commit`, not before."""

    def write(self, data: bytes) -> None:
        """Write `data` behind what was written."""

    def finish(self) -> None:
        """Do all of `commit` that is likely to fail, so that `commit` does not."""

    def commit(self) -> None:
        """Make the output appear."""

    def discard(self) -> None:
        """Remove what was written, as far as possible."""


class StreamSink:
    """An open stream, to which bytes are written at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write `data`; raises `OSError`."""
        self._stream.write(data)

    def finish(self) -> None:
        """Flush the stream; raises `OSError`."""
        self._stream.flush()

    def commit(self) -> None:
        """Flush the stream; raises `OSError`."""
        self.finish()

    def discard(self) -> None:
        """Do nothing, since written bytes cannot be taken back."""

"""Sinks of bytes: the interface, the error, and the sink of an open stream."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Protocol

from harpia_formats.io.reader import error_reason
from harpia_formats.model.errors import HarpiaFormatsError


class SinkError(HarpiaFormatsError):
    """An output cannot be written: its name as shown to the user, and the reason."""

    hides_values = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path}: {self.reason}"


class Sink(Protocol):
    """Where bytes are written; an output appears with `commit`, not before."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of an earlier run that was killed."""

    def write(self, data: bytes) -> None:
        """Write `data` behind what was written."""

    def finish(self) -> None:
        """Do all of `commit` that is likely to fail, so that `commit` does not."""

    def commit(self) -> None:
        """Make the output appear."""

    def discard(self) -> None:
        """Remove what was written, as far as possible."""


class StreamSink:
    """An open stream, to which bytes are written at once.

    If nobody reads it any more, writing raises `BrokenPipeError`.
    """

    notes: Sequence[str] = ()

    def __init__(self, stream: BinaryIO, name: str = "standard output") -> None:
        self._stream = stream
        self._name = name
        #: Whether bytes were written, which cannot be taken back.
        self.is_begun = False

    def write(self, data: bytes) -> None:
        """Write `data`; raises `SinkError`."""
        self.is_begun = self.is_begun or bool(data)
        with self._errors():
            self._stream.write(data)

    def finish(self) -> None:
        """Flush the stream; raises `SinkError`."""
        with self._errors():
            self._stream.flush()

    def commit(self) -> None:
        """Flush the stream; raises `SinkError`."""
        self.finish()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise `SinkError` for an error of the system, but for a closed pipe."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SinkError(self._name, error_reason(error)) from error

    def discard(self) -> None:
        """Do nothing, since written bytes cannot be taken back."""

"""Writing UTF-8 text to standard output and standard error."""

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO, cast

from harpia_formats.cli.output.terminal import fitted
from harpia_formats.model.text.sanitize import escaped_lines, safe

#: Code points of an error message; a path can be long.
MESSAGE_LIMIT = 5_000


def text_writer(stream: TextIO) -> Callable[[str], None]:
    """Return a function that writes text to `stream` as UTF-8 in any locale."""

    def write(text: str) -> None:
        rest = memoryview(text.encode("utf-8", "backslashreplace"))
        while rest:
            # Where Python does not buffer (-u), a write may take only a part.
            written = stream.buffer.write(rest)
            if not written:
                raise BlockingIOError("it is in non-blocking mode")
            rest = rest[written:]

    return write


def shown_data(text: str) -> str:
    """Return CSV or JSON for standard output: escaped, if that is a terminal."""
    return escaped_lines(text) if sys.stdout.isatty() else text


def write_stderr(text: str, *, is_fitted: bool = False) -> None:
    """Write `text` to standard error; do nothing if that cannot be written.

    Lines that are longer than the terminal is wide are broken between words, unless
    the text is fitted to it already.
    """
    try:
        if sys.stderr.isatty() and not is_fitted:
            text = "\n".join(fitted(text.split("\n"), sys.stderr))
        text_writer(sys.stderr)(text)
        sys.stderr.flush()
    except OSError:
        discard_buffer(sys.stderr)


def print_error(message: str) -> None:
    """Write one line `error: message` to standard error."""
    write_stderr(f"error: {safe(message, MESSAGE_LIMIT)}\n")


def print_notes(notes: Iterable[str]) -> None:
    """Write notes, which may name values of records, each as a line."""
    for note in notes:
        write_stderr(f"{safe(note, MESSAGE_LIMIT)}\n")


class _DiscardingOutput(io.RawIOBase):
    """Standard output, which goes to the null device once nobody reads it any more."""

    def fileno(self) -> int:
        """Return the number of standard output."""
        return sys.__stdout__.fileno() if sys.__stdout__ else 1

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return os.isatty(self.fileno())

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any, /) -> int:
        """Write `data`, or a part of it; return how many bytes."""
        try:
            return os.write(self.fileno(), data)
        except BrokenPipeError:
            _redirect_to_null(self.fileno())
            return len(data)


class _ClosedOutput(io.RawIOBase):
    """Standard output that is closed: a run may use it if it writes nothing to it."""

    def __init__(self) -> None:
        super().__init__()
        self._has_failed = False
        self._reserved = open(os.devnull, "wb", buffering=0)  # noqa: SIM115, PTH123 - open to the end

    def fileno(self) -> int:
        """Return the number that standard output had: the null device has it now."""
        return self._reserved.fileno()

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any, /) -> int:
        """Raise `OSError` the first time; the rest of a buffer is discarded."""
        if self._has_failed:
            return len(data)
        self._has_failed = True
        raise OSError(errno.EBADF, "standard output is closed")


def closed_output() -> TextIO:
    """Return a stream for standard output that is closed; writing to it fails."""
    raw = cast("io.RawIOBase", _ClosedOutput())
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8")


def outlive_reader() -> None:
    """Discard what is written to standard output once nobody reads it any more.

    It is for runs that write more than that: without it, they end with the first write.
    """
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout.flush()
        raw = _DiscardingOutput()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors
        )


def discard_buffer(stream: TextIO) -> None:
    """Redirect `stream` to the null device, so that its buffer is never written."""
    _redirect_to_null(stream.fileno())


def _redirect_to_null(number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)

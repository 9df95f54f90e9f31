"""Writing UTF-8 text to standard output and standard error."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from harpia_formats.cli.output.terminal import fitted
from harpia_formats.text.sanitize import safe

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


def discard_buffer(stream: TextIO) -> None:
    """Redirect `stream` to the null device, so that its buffer is never written."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)

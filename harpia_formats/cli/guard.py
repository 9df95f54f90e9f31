"""From what can happen to an exit code; never a traceback for bad input."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from harpia_formats.inspection import InternalError
from harpia_formats.registry import UnknownFormat
from harpia_formats.rules import UnknownRule
from harpia_formats.safe import safe
from harpia_formats.schema import SchemaError

OK, FOUND, UNABLE, BUG = 0, 1, 2, 3
#: 128 and the number of the signal, as shells do.
INTERRUPTED, TERMINATED, BROKEN_PIPE = 130, 143, 141


class Terminated(BaseException):
    """The process was asked to end."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command so that it always ends with the exit code that tells what was."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
        flush()
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    except Terminated:
        _leave(TERMINATED)
    except BrokenPipeError:
        _leave(BROKEN_PIPE)
    except (UnknownFormat, UnknownRule, SchemaError) as error:
        complain(str(error))
        raise SystemExit(UNABLE) from None
    except OSError as error:
        complain(f"cannot write the output: {error.strerror or error}")
        _leave(UNABLE)
    except InternalError as error:
        complain(f"a bug in harpia-formats, please report it: {error}")
        raise SystemExit(BUG) from error
    except Exception as error:
        traceback.print_exc()
        complain("this is a bug in harpia-formats, please report it")
        raise SystemExit(BUG) from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(code: int) -> None:
    """End with `code`, and let nothing more be written to a broken output."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    raise SystemExit(code)


def complain(message: str) -> None:
    """Say on standard error why something could not be done."""
    write_to(sys.stderr)(f"error: {safe(message, 2000)}\n")


def write_to(stream: object) -> Callable[[str], None]:
    """Return a function that writes text as UTF-8, whatever the locale says."""
    buffer = getattr(stream, "buffer", None)

    def write(text: str) -> None:
        if buffer is None:
            stream.write(text)  # type: ignore[attr-defined]  # a stand-in for a stream
        else:
            buffer.write(text.encode("utf-8", "backslashreplace"))

    return write


def flush() -> None:
    """Write out what is buffered, so that a failure to do so is seen."""
    sys.stdout.flush()

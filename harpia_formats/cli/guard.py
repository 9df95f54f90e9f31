"""From what can happen to an exit code; never a traceback for bad input."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TextIO

from harpia_formats.text.sanitize import safe

OK, FOUND, UNABLE, BUG = 0, 1, 2, 3
#: 128 and the number of the signal, as shells do.
INTERRUPTED, TERMINATED, BROKEN_PIPE = 130, 143, 141
#: Code points of a complaint; a path can be long.
COMPLAINT = 5_000

#: What asks a process to end; a terminal that is closed is one, where there are any.
_ends = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class Terminated(BaseException):
    """The process was asked to end."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command so that it always ends with the exit code that tells what was.

    The whole run stands in one, and each command in its own, because typer makes
    exit codes of its own out of some exceptions.
    """
    before = {each: signal.signal(each, _terminate) for each in _ends}
    try:
        _need_streams()
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    except Terminated:
        _leave(TERMINATED)
    except BrokenPipeError:
        _leave(BROKEN_PIPE)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer and rich exit with 1
            _leave(BROKEN_PIPE)
        raise
    except OSError as error:
        complain(f"cannot write the output: {error.strerror or error}")
        _leave(UNABLE)
    except Exception as error:  # noqa: BLE001 - whatever it is, it has an exit code
        _refuse(error)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _need_streams() -> None:
    """See that there is an output, and something to take messages."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open to the end
    if sys.stdout is None:
        complain("cannot write the output: standard output is closed")
        raise SystemExit(UNABLE)


def _refuse(error: Exception) -> NoReturn:
    """End with what `error` means: an option that cannot be met, or a bug of ours."""
    if isinstance(error, ImportError):
        complain(f"a package is missing or broken: {error}")
        raise SystemExit(UNABLE) from None
    from harpia_formats.mapping.columns import MapError  # noqa: PLC0415 - start-up time
    from harpia_formats.registry import UnknownFormat  # noqa: PLC0415 - likewise
    from harpia_formats.rules import NoRuleLeft, UnknownRule  # noqa: PLC0415 - likewise
    from harpia_formats.schema.load import SchemaError  # noqa: PLC0415 - likewise
    from harpia_formats.validation.companion_files import CompanionError  # noqa: PLC0415 - likewise
    from harpia_formats.validation.file.validator import InternalError  # noqa: PLC0415 - likewise

    of_options = (UnknownFormat, UnknownRule, NoRuleLeft, SchemaError)
    from harpia_formats.io.sink import SinkError  # noqa: PLC0415 - likewise
    from harpia_formats.mapping.requirements import ConversionError  # noqa: PLC0415 - likewise
    from harpia_formats.model.metric_profile import ScoreError  # noqa: PLC0415 - likewise
    from harpia_formats.workers.engine import EngineError  # noqa: PLC0415 - likewise

    of_work = (MapError, CompanionError, ConversionError, ScoreError, SinkError)
    if isinstance(error, (*of_options, *of_work, EngineError)):
        complain(str(error))
        raise SystemExit(UNABLE) from None
    if isinstance(error, InternalError):
        complain(f"a bug in harpia-formats, please report it: {error}")
        raise SystemExit(BUG) from error
    import traceback  # noqa: PLC0415 - likewise

    say("".join(traceback.format_exception(error)))
    complain("this is a bug in harpia-formats, please report it")
    raise SystemExit(BUG) from error


def _leave(code: int) -> NoReturn:
    """End with `code`, and let nothing more be written to a broken output."""
    _silence(sys.stdout)
    raise SystemExit(code)


def _silence(stream: TextIO) -> None:
    """Lead what is still in the buffer of `stream` to nowhere."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def complain(message: str) -> None:
    """Say on standard error why something could not be done."""
    say(f"error: {safe(message, COMPLAINT)}\n")


def say(text: str) -> None:
    """Write to standard error; where that fails, nobody can be told."""
    try:
        write_to(sys.stderr)(text)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def write_to(stream: TextIO) -> Callable[[str], None]:
    """Return a function that writes text as UTF-8, whatever the locale says."""

    def write(text: str) -> None:
        rest = memoryview(text.encode("utf-8", "backslashreplace"))
        while rest:
            # Where Python does not buffer (-u), a write may take only a part.
            written = stream.buffer.write(rest)
            if not written:
                raise BlockingIOError("it is in non-blocking mode")
            rest = rest[written:]

    return write

"""End the process with the right exit code for each exception."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from harpia_formats.cli.exit_codes import ExitCode, Terminated
from harpia_formats.cli.output.streams import (
    closed_output,
    discard_buffer,
    print_error,
    write_stderr,
)
from harpia_formats.model.errors import HarpiaFormatsError

#: The signals that end a process; Windows has no SIGHUP (a terminal was closed).
_SIGNALS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
_CODES = {number: ExitCode(128 + number) for number in _SIGNALS}


@contextmanager
def exceptions_to_exit_codes() -> Iterator[None]:
    """End the process with the right exit code for any exception raised inside.

    The whole run is inside one of these, and each command inside another one, because
    typer replaces some exceptions by exit codes of its own. Raises `SystemExit` for
    every exception, after its message is on standard error.
    """
    # A signal that was ignored at the start, as by `nohup`, stays ignored.
    handlers = {
        number: signal.signal(number, _raise_terminated)
        for number in _SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        _check_streams()
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        _exit_without_output(ExitCode.INTERRUPTED)
    except Terminated as error:
        _exit_without_output(_CODES[error.args[0]])
    except BrokenPipeError:
        _exit_without_output(ExitCode.BROKEN_PIPE)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer and rich exit with 1
            _exit_without_output(ExitCode.BROKEN_PIPE)
        raise
    except HarpiaFormatsError as error:
        _exit_for(error)
    except OSError as error:
        print_error(f"cannot write the output: {error.strerror or error}")
        _exit_without_output(ExitCode.UNABLE)
    except Exception as error:  # noqa: BLE001 - every exception has an exit code
        _exit_for(error)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _raise_terminated(number: int, _frame: FrameType | None) -> None:
    raise Terminated(number)


def _check_streams() -> None:
    """Make writing fail if standard output is closed; discard messages if stderr is."""
    # A file that the run opens must not get the number of a stream that is closed.
    if sys.stdout is None:
        sys.stdout = closed_output()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open to the end


def _exit_for(error: Exception) -> NoReturn:
    """Print what `error` means and exit: a mistake of the user, or a bug of ours."""
    try:
        sys.stdout.flush()
    except OSError:  # else Python tries again at its end, and exits with 120
        discard_buffer(sys.stdout)
    if isinstance(error, ImportError):
        print_error(f"a package is missing or broken: {error}")
        raise SystemExit(ExitCode.UNABLE) from None
    if isinstance(error, HarpiaFormatsError):
        print_error(str(error))
        raise SystemExit(ExitCode.UNABLE) from None
    import traceback  # noqa: PLC0415 - only for bugs

    write_stderr("".join(traceback.format_exception(error)))
    print_error("this is a bug in harpia-formats, please report it")
    raise SystemExit(ExitCode.BUG) from error


def _exit_without_output(code: ExitCode) -> NoReturn:
    """Exit with `code`, and discard output that is not written yet."""
    discard_buffer(sys.stdout)
    raise SystemExit(code)

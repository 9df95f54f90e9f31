"""The standard streams of a command, its terminal, and its exit codes."""

import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.safe_text import escaped_lines, safe

if TYPE_CHECKING:  # help pages have no report, and few commands write such a table
    from harpia_formats.model.report import Report
    from harpia_formats.reporters.tables.table import Table


class ExitCode(IntEnum):
    """The exit codes of all commands; signals have those of shells, 128 + number."""

    #: Everything was done and nothing is wrong with the data.
    OK = 0
    #: Something is wrong with the data, or differs.
    FOUND = 1
    #: Something could not be read, written or done as the options ask for it.
    UNABLE = 2
    #: A bug in harpia-formats.
    BUG = 3
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class UsageError(HarpiaFormatsError):
    """Options that contradict each other or lack something; its text is the message."""

    hides_values = True


class Terminated(BaseException):
    """The process received a signal to end: its number is the argument."""


def exit_code_of(*reports: "Report", ok: bool) -> ExitCode:
    """Return the exit code of a command that made these reports.

    `ok` tells whether nothing is wrong with the data.
    """
    if any(report.has_internal_errors for report in reports):
        return ExitCode.BUG
    if any(report.failures for report in reports):
        return ExitCode.UNABLE
    return ExitCode.OK if ok else ExitCode.FOUND


#: Columns of a terminal that does not report how many it has.
USUAL_WIDTH = 80
#: Values of `FORCE_COLOR` and `FORCE_HYPERLINK` that do not force.
_OFF = frozenset({"", "0", "false"})
#: Values of `TERM_PROGRAM`, and beginnings of `TERM`, of terminals with links.
_LINK_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "rio", "zed"})
_LINK_TERMINALS = ("alacritty", "foot", "wezterm", "xterm-ghostty", "xterm-kitty")
#: Variables that only terminals with links set.
_LINK_VARIABLES = ("DOMTERM", "KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION")
#: The least values of variables that older releases without links set, too.
_LINK_VERSIONS = {"VTE_VERSION": 5001, "KONSOLE_VERSION": 201200}
#: Digits of a number in the environment, at most.
_DIGITS = 9


def wants_color(stream: TextIO) -> bool:
    """Return whether `stream` gets colours.

    It does if it is a terminal that is not dumb. `NO_COLOR` (https://no-color.org)
    takes them away, and `FORCE_COLOR` (https://force-color.org) gives them to pipes.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "").lower() not in _OFF:
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_links(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that is known to show links (OSC 8).

    `FORCE_HYPERLINK` decides it for any terminal. A pipe never gets links.
    """
    environment = os.environ
    if not stream.isatty() or environment.get("TERM") == "dumb":
        return False
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced.lower() not in _OFF
    return (
        environment.get("TERM_PROGRAM") in _LINK_PROGRAMS
        or environment.get("TERM", "").startswith(_LINK_TERMINALS)
        or any(environment.get(name) for name in _LINK_VARIABLES)
        or any(_number_in(name) >= least for name, least in _LINK_VERSIONS.items())
    )


def _number_in(variable: str) -> int:
    """Return the number in a variable of the environment, 0 if it has none."""
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else 0


def width_of(stream: TextIO) -> int | None:
    """Return the columns of `stream`, None if it is not a terminal."""
    if not stream.isatty():
        return None
    # Another stream may be a file; a terminal of unknown width reports 0.
    return (
        _number_in("COLUMNS")
        or os.get_terminal_size(stream.fileno()).columns
        or USUAL_WIDTH
    )


def fitted(lines: Iterable[str], stream: TextIO) -> list[str]:
    """Return lines that are broken between words if `stream` is a narrow terminal.

    The lines that a line is broken into begin with its indentation and two spaces.
    """
    width = width_of(stream)
    if width is None:
        return list(lines)
    from harpia_formats.model.text_columns import wrapped  # noqa: PLC0415 - for terminals only

    found: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip(" "))] + "  "
        found += wrapped(line, width, indent)
    return found


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


def write_table(
    table: "Table", below: Sequence[Sequence[str]] = (), notes_in: int = 0
) -> None:
    """Write a table of texts to standard output, with its names if it is a terminal.

    `below` has further lines for each row, which a terminal has in a column.
    """
    from harpia_formats.reporters.tables.terminal import listed_lines  # noqa: PLC0415 - few commands write such a table

    lines = listed_lines(
        table,
        below,
        notes_in=notes_in,
        width=width_of(sys.stdout),
        has_colors=wants_color(sys.stdout),
    )
    text_writer(sys.stdout)("".join(f"{line}\n" for line in lines))


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
    """Write one line `error: message` to standard error, without secrets of URLs."""
    if ":/" in message or "@" in message:
        from harpia_formats.files.io.urls import all_masked  # noqa: PLC0415 - most messages have no URL: start-up time

        message = all_masked(message)
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
        _exit_for_system_error(error)
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
    """Print what `error` means and exit: a mistake of the user, or a bug."""
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
    package = _package_that_raised(error) or "harpia-formats"
    print_error(f"this is a bug in {package}, please report it")
    raise SystemExit(ExitCode.BUG) from error


def _exit_for_system_error(error: OSError) -> NoReturn:
    """Print why the output cannot be written, or what a plug-in met, and exit."""
    if package := _package_that_raised(error):
        print_error(f"{package} failed: {error}")
    else:
        reason = error.strerror or str(error)
        print_error(f"cannot write the output: {reason[:1].lower()}{reason[1:]}")
    _exit_without_output(ExitCode.UNABLE)


def _package_that_raised(error: Exception) -> str:
    """Return the package with the plug-in whose code raised `error`, "" if none did."""
    from harpia_formats.formats.extensions import package_that_raised  # noqa: PLC0415 - for unexpected errors only: start-up time

    return package_that_raised(error)


def _exit_without_output(code: ExitCode) -> NoReturn:
    """Exit with `code`, and discard output that is not written yet."""
    discard_buffer(sys.stdout)
    raise SystemExit(code)

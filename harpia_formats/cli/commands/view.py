"""`harpia-formats view`."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from tempfile import gettempdir
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    UsageError,
    print_error,
    print_notes,
    text_writer,
    write_stderr,
)
from harpia_formats.files.io.urls import masked
from harpia_formats.model.safe_text import safe

if TYPE_CHECKING:  # the help page needs none of it
    from harpia_formats.view.options import ViewOptions
    from harpia_formats.view.session import ViewSession


def view(given: Given) -> ExitCode:
    """Show files in a browser: their rows, findings, answers and scores.

    The page is served by this machine, for this user only, until Ctrl-C. Only
    the address with its token opens it. The files are not changed.

    Exit codes:
    - 0: with --output, the rows were written
    - 2: something could not be read, written or served
    - 3: a bug in harpia-formats
    - 130: ended with Ctrl-C

    For example:
    - harpia-formats view answers.jsonl
    - harpia-formats view a.jsonl b.jsonl --notes notes.jsonl
    - harpia-formats view answers.jsonl --query 'correct=no' --output wrong.jsonl
    """
    if os.name != "posix":  # processes that can be killed, reads at a place
        raise UsageError("`view` needs Linux, macOS or another POSIX system")
    if given.output is None and given.overwrite:
        raise UsageError("`--overwrite` is for `--output`")
    if given.output is not None and given.notes is not None:
        raise UsageError("`--notes` is for the page, and `--output` shows none")
    with _extra_named():
        from harpia_formats.view.options import ViewOptions  # noqa: PLC0415 - the help page needs none of it
        from harpia_formats.view.session import ViewSession  # noqa: PLC0415 - the help page needs none of it
    options = given.options(ViewOptions)
    session = ViewSession(given.paths, options)
    with ExitStack() as closes_session:
        closes_session.callback(session.close)
        print_notes(_copy_notes(session))
        session.start()
        if given.output is None:
            _serve(session, options, given, closes_session)
        else:
            _write(session, given)
    return ExitCode.OK


@contextmanager
def _extra_named() -> Iterator[None]:
    """Raise `UsageError`, which names the extra, if one of its packages is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            "the page needs the extra view: pip install 'harpia-formats[view]'"
        ) from error


def _copy_notes(session: "ViewSession") -> Iterator[str]:
    """Yield for each file that is copied what the copy is of, and how large it is."""
    for source, copy in session.copies():
        size = "" if copy.size is None else f" of about {copy.size:,} bytes"
        name = safe(source.name, MESSAGE_LIMIT)
        yield (
            f"note: {name} is shown from a temporary copy of {copy.of}{size} in "
            f"{gettempdir()}"
        )


def _write(session: "ViewSession", given: Given) -> None:
    """Write the selected rows, and print how many they are.

    Raises `UsageError` for a query that has a key twice.
    """
    from harpia_formats.view.take_away import write_selection  # noqa: PLC0415 - for `--output` only

    query: dict[str, str] = {}
    for key, value in parse_qsl(given.query, keep_blank_values=True):
        if key in query:
            raise UsageError(f"`--query` has {key!r} twice, and one value counts")
        query[key] = value
    notes = write_selection(
        session, query, given.output, inputs=given.paths, overwrite=given.overwrite
    )
    print_notes(f"note: {note}" for note in notes)
    if given.output != "-":
        total = session.rows({**query, "start": "0", "count": "1"})["total"]
        rows = "1 row" if total == 1 else f"{total:,} rows"
        write_stderr(f"{safe(masked(given.output), MESSAGE_LIMIT)}: {rows}\n")


def _serve(
    session: "ViewSession",
    options: "ViewOptions",
    given: Given,
    closes_session: ExitStack,
) -> None:
    """Serve the page until a signal comes, which is raised again.

    The session is closed before the connections are.
    """
    from harpia_formats.files.io.file_sink import temporary_folder  # noqa: PLC0415 - the help page needs none of it

    with _extra_named():  # while other processes begin to read the files
        from harpia_formats.view import server as served  # noqa: PLC0415 - see above
        from harpia_formats.view.access import Secrets  # noqa: PLC0415 - see above
        from harpia_formats.view.notes import Notes  # noqa: PLC0415 - see above
        from harpia_formats.view.take_away import TakeAway  # noqa: PLC0415 - see above

    notes = None if given.notes is None else Notes(given.notes, given.paths)
    secrets = Secrets()
    with (
        closing(served.bound_socket(given.port)) as listening,
        temporary_folder(None) as folder,
        closing(TakeAway(session, options, folder)) as take_away,
    ):
        port = listening.getsockname()[1]
        server = f"http://127.0.0.1:{port}"
        has_ended = False

        def begin() -> None:
            text_writer(sys.stdout)(f"{server}{secrets.first_path(given.query)}\n")
            sys.stdout.flush()
            write_stderr("Ctrl-C ends it\n")
            if not given.no_browser:
                path = secrets.first_path(given.query, is_brief=True)
                served.open_browser(f"{server}{path}")

        def end() -> None:
            nonlocal has_ended
            has_ended = True
            closes_session.close()
            take_away.close()

        def report_bug(error: Exception) -> None:
            # A question that is not answered yet fails where its session has ended.
            if not has_ended:
                _print_bug(error)

        app = served.application(
            served.Page(session, options, take_away, notes),
            served.shell_page(),
            served.read_static_files(),
            secrets,
            report_bug,
        )
        served.server_of(app, begin, end).run(sockets=[listening])


def _print_bug(error: Exception) -> None:
    """Print an error that is a bug, whose text no response has."""
    write_stderr("".join(traceback.format_exception(error)))
    print_error("this is a bug in harpia-formats, please report it")

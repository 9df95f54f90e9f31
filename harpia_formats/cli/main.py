"""Run the command line with the settings of the process that suit it."""

import gc
import os
import sys

from harpia_formats._version import __version__
from harpia_formats.cli.completion.scripts import REQUEST
from harpia_formats.cli.exceptions import exceptions_to_exit_codes


def run_command_line() -> None:
    """Run the command line in `sys.argv`; raises `SystemExit` with its exit code."""
    try:
        with exceptions_to_exit_codes():
            _run()
    finally:
        # At its end Python looks for reference cycles in all objects, which takes a
        # fifth of a short run and frees nothing that the end of the process does not.
        gc.freeze()


def _run() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"harpia-formats {__version__}\n")
        return
    if REQUEST in os.environ:
        from harpia_formats.cli.completion.answer import print_answer  # noqa: PLC0415 - for the scripts of shells only

        print_answer()
        return
    # Rows are freed as they go and make no cycles; looking for some costs 2 %, and
    # a tenth of the time that imports take.
    gc.set_threshold(200_000)
    from harpia_formats.cli.app import run  # noqa: PLC0415 - `--version` needs no typer

    run(sys.argv[1:])

"""The command line: parse, call, report, exit code."""

import gc
import sys

from harpia_formats._version import __version__
from harpia_formats.cli.guard import guarded


def main() -> None:
    """Run the command line."""
    try:
        with guarded():
            _run()
    finally:
        # At its end Python looks for cycles in all there is, which takes a fifth of a
        # short run and frees nothing that the end of the process does not.
        gc.freeze()


def _run() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"harpia-formats {__version__}\n")
        return
    # Rows are freed as they go and make no cycles; looking for some costs 2 %, and
    # a tenth of the time that imports take.
    gc.set_threshold(200_000)
    from harpia_formats.cli.app import app_for  # noqa: PLC0415 - only when there is work

    app_for(sys.argv[1:])(prog_name="harpia-formats")

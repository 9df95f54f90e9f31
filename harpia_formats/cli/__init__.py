"""The command line: parse, call, report, exit code."""

import sys

from harpia_formats import __version__


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"harpia-formats {__version__}")  # noqa: T201 - the answer
        return
    from harpia_formats.cli.app import app  # noqa: PLC0415 - only when there is work

    app(prog_name="harpia-formats")

"""Run the command line with `python -m harpia_formats`."""

from harpia_formats.cli import main

main()

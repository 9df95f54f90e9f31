"""Run the command line with `python -m harpia_formats`."""

import sys
from pathlib import Path

# `-m` puts the working folder in front of all others, and a `numpy.py` beside some data
# must not be run. Only a checkout needs it there.
if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]

from harpia_formats.cli import main

main()

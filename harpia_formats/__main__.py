"""Run the command line with `python -m harpia_formats`."""

import os
import sys

# `-m` puts the working folder in front of all others, and a `numpy.py` next to the data
# must not be run, nor a `pathlib.py` by this line. Only a checkout needs it there.
if not sys.flags.safe_path and sys.path[0] != os.path.dirname(  # noqa: PTH120 - no pathlib
    os.path.dirname(__file__)  # noqa: PTH120 - no pathlib
):
    del sys.path[0]

from harpia_formats.cli import main

main()

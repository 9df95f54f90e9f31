"""Where the public corpora are that some tests use.

They are no part of the project: the environment variable `HARPIA_CORPORA` names their
folder, which is relative to the checkout. A test that uses them has the mark `corpora`;
`conftest.py` skips it where the folder does not exist, and counts what it skipped.
"""

import os
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORPORA = ROOT / os.environ.get("HARPIA_CORPORA", "../shared/data")


def parameters(paths: Iterable[Path]) -> list[Path]:
    """Return corpus files as parameters of a test with the mark `corpora`.

    Without the corpora there is one placeholder: the test is collected, and skipped.
    """
    return list(paths) if CORPORA.is_dir() else [CORPORA]

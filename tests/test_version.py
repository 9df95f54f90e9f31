import re
from pathlib import Path

import harpia_formats
from harpia_formats._version import __version__

ROOT = Path(__file__).parents[1]


def test_the_package_shows_its_version() -> None:
    """`harpia_formats.__version__` is the version of this release."""
    assert harpia_formats.__version__ == __version__


def test_the_citation_is_of_this_version() -> None:
    """The file for people who cite the project names the version of this release."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]

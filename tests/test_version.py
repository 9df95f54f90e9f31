import re
from pathlib import Path

import harpia_formats

ROOT = Path(__file__).parents[1]


def test_the_citation_is_of_this_version() -> None:
    """The file for people who cite the project names the version of this release."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    versions = re.findall(r"^version: (.*)$", citation, re.MULTILINE)
    assert versions == [harpia_formats.__version__]

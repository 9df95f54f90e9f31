import re
from pathlib import Path

import pytest

from harpia_formats.framing.chunk import Cursor, FramingFault
from harpia_formats.registry import all_rules
from harpia_formats.validation.diagnosis.container_messages import words_for

PACKAGE = Path(__file__).parents[3] / "harpia_formats"
KINDS = sorted(
    {
        each
        for path in PACKAGE.rglob("*.py")
        for each in re.findall(r'\bFramingFault\("([a-z-]+)"', path.read_text("utf-8"))
    }
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_flaw_has_words(kind: str) -> None:
    """Whatever flaw a cutter yields has a rule of the table, a message and a help."""
    code, message, help_ = words_for(FramingFault(kind, Cursor()), 100)

    assert code in all_rules()
    assert message
    assert help_


def test_row_too_long_is_told_with_its_size() -> None:
    """The message on a row beyond the limit names both numbers, readably."""
    code, message, help_ = words_for(FramingFault("oversize", Cursor(), 12_345), 1_024)

    assert code == "J110"
    assert message == "a row of 12,345 bytes is longer than the limit of 1,024"
    assert "--max-row-bytes" in help_

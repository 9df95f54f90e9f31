"""Edits that separate the fields of a table by another delimiter, line by line."""

import pytest

from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.parsing.full_width import delimiter_edits

WIDE = "，"


def edited(data: bytes, size: int = 100, limit: int = 100) -> list[bytes | None]:
    """Return the lines as they become, None for those that have other fields."""
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    found: list[bytes | None] = []
    for edits in delimiter_edits(blocks, WIDE, ",", limit):
        if edits is None:
            found.append(None)
            continue
        line, end = b"", edits[0][0] if edits else 0
        for start, stop, text in edits:
            line += data[end:start] + text
            end = stop
        found.append(line)
    return found


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("begin", [b"", BOM])
def test_fields_are_separated(size: int, begin: bytes) -> None:
    """A field with the new delimiter gets quotes, one that has quotes keeps them."""
    text = 'a，b，c\n"x,y"，1,2，3\n1，2\n\n4，"5"，6'
    data = begin + text.encode()

    assert edited(data, size) == [b",b,", b',"1,2",', None, b',"5",']


def test_lines_at_the_limit() -> None:
    """A line of as many bytes as the limit is one line, however it is read."""
    line = "a，b\n".encode()

    assert edited(line * 3, size=1, limit=len(line)) == [b","] * 3

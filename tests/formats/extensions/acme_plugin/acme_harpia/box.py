"""Boxes: lines of JSON in reverse order, behind the bytes of a 7z archive."""

from collections.abc import Iterator
from typing import BinaryIO

from harpia_formats.plugins import SourceError, TextPart, Unpacker

_START = b"7z\xbc\xaf\x27\x1c"


def lines(file: BinaryIO, name: str) -> Iterator[TextPart]:
    """Yield the lines of a box, the last one first."""
    for number, line in enumerate(reversed(file.read()[len(_START) :].splitlines())):
        if line == b"?":
            raise SourceError(name, "is a broken box")
        yield TextPart(line + b"\n", f"line {number}")


UNPACKER = Unpacker(
    "acme-box",
    lambda head, _: head.startswith(_START),
    open="acme_harpia.box:lines",
    suffixes=(".box",),
)

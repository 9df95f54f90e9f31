"""Pieces of tables, for tests that compare tables which were cut in different ways."""

from collections.abc import Iterable
from dataclasses import replace

from harpia_formats.files.parsing.csv_blocks import TableBlank, TablePiece


def joined_blanks(pieces: Iterable[TablePiece]) -> list[TablePiece]:
    """Return pieces with one for all empty lines that follow each other.

    How many of them are one piece depends on where a file is cut.
    """
    joined: list[TablePiece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, TableBlank) and isinstance(last, TableBlank):
            joined[-1] = replace(last, lines=last.lines + piece.lines)
        elif isinstance(piece, TableBlank):
            joined.append(replace(piece, size=1))
        else:
            joined.append(piece)
    return joined

"""How much of a table is held in memory at once, and how an unreadable one is told."""

MEGABYTE = 1024 * 1024
#: Rows that are made at once, and about the bytes that their values may have.
ROWS, BYTES = 500, 4 * MEGABYTE
#: Bytes that a record batch, or the open pages of a row group, may have decoded; and
#: those that dictionaries may have, which the library holds several times.
HELD, DICTIONARIES = 48 * MEGABYTE, 16 * MEGABYTE
#: Bytes of what describes a table: the footer of a file, or a message of a stream.
DESCRIBED = 16 * MEGABYTE
#: A table of more bytes of text than these, or a batch of more bytes of values, that is
#: so many times as long as the file is a decompression bomb, as a member of an archive.
LARGEST, LARGEST_BATCH, RATIO = 256 * MEGABYTE, 8 * MEGABYTE, 200
#: Bytes of a row of records, which is made at once and not in pieces.
LONGEST_RECORD = 32 * MEGABYTE


class BadTableError(ValueError):
    """A table that cannot be read on; its text is the reason."""


def megabytes(size: int) -> str:
    """Return a number of bytes for a message, at least one megabyte."""
    return f"{max(1, round(size / MEGABYTE)):,} MB"

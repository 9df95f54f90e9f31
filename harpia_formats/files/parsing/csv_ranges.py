"""Cut a file of CSV into byte ranges of whole records, without cutting the records."""

from collections.abc import Iterator
from pathlib import Path

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.byte_ranges import COPIED

_QUOTE = b'"'


def csv_ranges(path: Path, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield `(begin, end)` of ranges of whole records, from byte `begin` to the end.

    Each has `size` bytes and the rest of its last record. A record ends at a line feed
    that an even number of quotation marks is before. Where a single one stands inside
    of a field, a range may end inside of a quoted field, so whoever reads the range
    finds that field not closed. Raises `OSError` if the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        at, is_open = begin, False
        while block := file.read(COPIED):
            begun = 0
            # Bytes of the block before which no range ends.
            while (least := begin + size - 1 - at) < len(block):
                end, is_open = _record_end(block, begun, least, is_open=is_open)
                begun = end or len(block)
                if not end:
                    break
                yield begin, at + end
                begin = at + end
            if begun < len(block):
                quotes = stringzilla.count(block[begun:], _QUOTE)
                is_open ^= bool(quotes % 2)
            at += len(block)
        if begin < at:
            yield begin, at


def _record_end(
    block: bytes, begin: int, least: int, *, is_open: bool
) -> tuple[int, bool]:
    """Return where the record ends in which the byte `least` of a block is.

    `is_open` tells whether the byte `begin` is in a quoted field. Returns 0 if the
    record does not end in the block, and whether a quoted field is open then.
    """
    at = begin
    end = block.find(b"\n", max(begin, least)) + 1
    while end:
        is_open ^= bool(block.count(_QUOTE, at, end) % 2)
        if not is_open:
            return end, False
        at = end
        end = block.find(b"\n", end) + 1
    return 0, is_open ^ bool(block.count(_QUOTE, at) % 2)


def count_records(data: bytes) -> int:
    """Return how many line feeds of `data` are outside of quoted fields."""
    if _QUOTE not in data:
        found: int = stringzilla.count(data, b"\n")
        return found
    return sum(part.count(b"\n") for part in data.split(_QUOTE)[::2])

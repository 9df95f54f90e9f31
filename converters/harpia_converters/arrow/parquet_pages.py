"""The headers of a Parquet file's pages: how much of it is in memory at once.

Only they say how many bytes a page has decoded, before it is; the footer names sums.

Source: `README.md` and `src/main/thrift/parquet.thrift` of apache/parquet-format.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Any, BinaryIO

from harpia_converters.arrow.limits import BadTableError
from harpia_converters.arrow.thrift_compact import BadStructureError, Compact

#: Bytes that are read of a header at first, and the most that one may have, which may
#: hold the smallest and the largest value.
_FIRST, _LONGEST = 256, 16 * 1024 * 1024
#: Numbers of the members of a header, and of the kinds of pages.
_TYPE, _DECODED, _STORED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
#: The member that holds more about a page of a kind; its first is the number of values.
_more = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
#: The member of the encoding of values, for each kind of pages of data.
_encoding = {_DATA: 2, _DATA_2: 4}
#: The encoding in which a value repeats the beginning of the one before it.
_SHARED_BEGINNINGS = 7
#: The size before a text.
_size = Struct("<I")


@dataclass(slots=True)
class Pages:
    """What the headers of the pages of a column say, in one row group."""

    #: Bytes of the largest page decoded, and as it is stored.
    largest: int = 0
    stored: int = 0
    #: Bytes of the dictionary decoded, and where it begins and ends as it is stored.
    dictionary: int = 0
    dictionary_at: tuple[int, int] = (0, 0)
    #: The most values in a page, and the most bytes of a value, on the average of a
    #: page that is no dictionary.
    values: int = 0
    width: int = 0
    #: Whether values may be longer than what is stored of them.
    shares_beginnings: bool = False


def pages_of(file: BinaryIO, start: int, size: int, values: int) -> Pages:
    """Return what is said of the pages in the `size` bytes of a column.

    They have as many `values` as the footer says. Raises `BadTableError`.
    """
    found = Pages()
    left, end = values, start + size
    while start < end and left > 0:
        header, begin = _header_at(file, start, end)
        decoded, stored = _number(header, _DECODED), _number(header, _STORED)
        if decoded < 0 or stored < 0 or begin + stored > end:
            raise BadTableError("has a page outside of its bytes")
        found.stored = max(found.stored, stored)
        kind = _number(header, _TYPE)
        more = header.get(_more.get(kind, -1), {})
        count = _number(more, 1) if isinstance(more, dict) else -1
        if count < 0:
            raise BadTableError("has a page without a number of values")
        if kind == _DICTIONARY:
            found.dictionary = max(found.dictionary, decoded)
            found.dictionary_at = begin, begin + stored
        else:
            found.largest = max(found.largest, decoded)
        if kind in _encoding:
            found.values = max(found.values, count)
            found.width = max(found.width, decoded // max(1, count))
            if _number(more, _encoding[kind]) == _SHARED_BEGINNINGS:
                found.shares_beginnings = True
            left -= count
        start = begin + stored
    return found


def longest_text(data: bytes) -> int:
    """Return the bytes of the longest text in a dictionary of texts.

    It is the size of the dictionary if that is corrupt.
    """
    longest = at = 0
    while at < len(data):
        (size,) = _size.unpack_from(data.ljust(at + _size.size), at)
        longest = max(longest, size)
        at += _size.size + size
    return longest if at == len(data) else len(data)


def _number(members: dict[int, Any], number: int) -> int:
    """Return a member that is a number."""
    found = members.get(number, 0)
    return found if isinstance(found, int) else 0


def _header_at(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the members of a header by their numbers, and where it ends."""
    size = _FIRST
    while True:
        data = _read(file, start, min(size, end - start))
        try:
            reader = Compact(data)
            return reader.structure(), start + reader.at
        except IndexError as error:
            if size >= min(_LONGEST, end - start):
                raise BadTableError("has a page whose header is corrupt") from error
        except BadStructureError as error:
            raise BadTableError("has a page whose header is corrupt") from error
        size *= 16


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    """Return bytes of a file, without those that it would read ahead."""
    raw = getattr(file, "raw", None)
    if raw is None:
        file.seek(at)
        return file.read(size)
    before = raw.tell()
    raw.seek(at)
    found: bytes = raw.read(size)
    raw.seek(before)
    return found

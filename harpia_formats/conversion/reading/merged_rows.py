"""Group the rows of a file that are parts of one record, with temporary files on disk.

lm-eval writes a row for each filter of an answer, filter by filter or document by
document, so that the rows of one record may stand a whole file apart.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct, field

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.io.inputs import is_lasting
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.model.adapter import Row, RowMerging
from harpia_formats.model.exact_json import encode
from harpia_formats.validation.dedup.item_partitions import Item, ItemPartitions

#: Bytes of the digest of what the rows of one record share.
_digest_bytes = 16
#: Bytes at both ends of blocks that are searched together: more than a name takes.
_overlap = 8 * 1024
#: Bytes that are searched at once.
_block = 256 * 1024

_count: Callable[[bytes, bytes], int] = stringzilla.count


class PartRow(NamedTuple):
    """A row that is a part of a record."""

    #: The number of the name of its part, in the order of their first rows.
    part: int
    #: The number of the row in the file.
    number: int
    #: Where it begins: bytes, line and column, as in a `Cursor`.
    start: tuple[int, int, int]
    text: bytes

    @property
    def cursor(self) -> Cursor:
        """Where its first byte is in the file."""
        return Cursor(*self.start)


_decode_row = msgspec.msgpack.Decoder(tuple[bytes, PartRow]).decode
_decode_rows = msgspec.msgpack.Decoder(list[PartRow]).decode


def has_several_parts(source: Source, merging: RowMerging) -> bool:
    """Tell whether several rows of a source may be parts of one record.

    That is so where the key of the part has several values, also deep in rows: then
    rows are grouped in vain, as `MergedRows` says. A source that cannot be read again
    may have such.
    """
    if not (isinstance(source.origin, (Path, bytes)) and is_lasting(source)):
        return True
    key = encode(merging.part_key)
    member = re.compile(re.escape(key) + rb'\s*:\s*("(?:[^"\\]|\\.)*")')
    found: set[bytes] = set()
    #: The text of one member: most files have no other one, which is quick to count.
    text = key
    rest = b""
    try:
        with open_source(source, _block) as blocks:
            for block in blocks:
                seam = rest + block[:_overlap]
                for data in (seam, block):
                    if not found or _count(data, text) != _count(data, key):
                        for match in member.finditer(data):
                            text = match[0]
                            found.add(match[1])
                if len(found) > 1:
                    return True
                rest = (seam if len(block) < _overlap else block)[-_overlap:]
    except SourceError:
        # What cannot be read is reported where the rows are read.
        return True
    return False


class MergedRows(Struct):
    """Collects rows one by one, and yields the rows of each record.

    After the last `add` comes `groups`, and at last `close`. Two rows of one part are
    never of one record: the second one of a part goes with the second ones of others.
    A row that names no part is a record of its own.
    """

    merging: RowMerging
    #: The names of the parts, in the order of their first rows; None names none.
    names: dict[str | None, int] = field(default_factory=dict)
    _items: ItemPartitions = field(default_factory=ItemPartitions)

    def add(self, row: Row, number: int, start: Cursor, text: bytes) -> None:
        """Add a row, decoded and as it is in the file, with its number and place."""
        key = self.merging.part_key
        name = str(row[key]) if key in row else None
        part = self.names.setdefault(name, len(self.names))
        shared = encode(number if name is None else self.merging.identity(row))
        digest = blake2b(shared, digest_size=_digest_bytes).digest()
        place = start.offset, start.line, start.column
        item = msgspec.msgpack.encode((digest, PartRow(part, number, place, text)))
        self._items.add(digest.hex(), b"", item)

    @property
    def has_several(self) -> bool:
        """Whether rows name several parts."""
        return len(self.names.keys() - {None}) > 1

    def groups(self) -> Iterator[list[tuple[str, PartRow]]]:
        """Yield the rows of each record with the names of their parts.

        Records are in the order of their first rows, and rows in the order of parts.
        """
        self._items.group(_grouped)
        names = [name or "" for name in self.names]
        for _, _, text in self._items.groups():
            yield [(names[row.part], row) for row in _decode_rows(text)]

    def close(self) -> None:
        """Delete the temporary files."""
        self._items.close()


def _grouped(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the rows of each record, in the order of their first rows."""
    groups: dict[tuple[bytes, int], tuple[int, list[PartRow]]] = {}
    #: How many rows of a part there are that share the same.
    times: dict[tuple[bytes, int], int] = {}
    for number, _, text in items:
        digest, row = _decode_row(text)
        before = times.get((digest, row.part), 0)
        times[digest, row.part] = before + 1
        groups.setdefault((digest, before), (number, []))[1].append(row)
    for number, rows in groups.values():
        rows.sort()
        yield Item(number, b"", msgspec.msgpack.encode(rows))

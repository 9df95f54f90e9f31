"""Items in temporary files by their key, so that those of one key come together.

Items go to temporary files by the digest of their key. The items of one file are
grouped in memory, which a single file fits into; then the groups of all files are
merged in the order of their first items.
"""

import struct
from collections.abc import Callable, Iterator
from heapq import merge as merge_in_order
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

from harpia_formats.validation.dedup.digests import digest_of

#: Temporary files that items are distributed over.
FILES = 128
#: Bytes of each temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 64 * 1024
#: What stands in front of each item of a file: its number, the size of its place, and
#: the size of its text.
_item_head = struct.Struct("<QII")


class Item(NamedTuple):
    """Something with a place, or a group of such: then the place of the first."""

    #: The number of the item among all that were added, from 0; of a group, that of its
    #: first item.
    number: int
    #: Where it stands, in any encoding.
    place: bytes
    text: bytes


class ItemPartitions:
    """Collects items one by one, and yields groups of them.

    After the last `add` comes `group`, then `groups`, and at last `close`.
    """

    def __init__(self) -> None:
        self._files: list[IO[bytes] | None] = [None] * FILES
        #: The groups of each file, once all items were added.
        self._runs: list[IO[bytes]] = []
        #: How many items were added.
        self.count = 0

    def add(self, key: str, place: bytes, text: bytes) -> None:
        """Add an item, which comes into one file with all others of its key."""
        number = digest_of(key) % FILES
        file = self._files[number]
        if file is None:
            file = self._files[number] = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - `group` closes it
        _write(file, Item(self.count, place, text))
        self.count += 1

    def group(self, grouped: Callable[[Iterator[Item]], Iterator[Item]]) -> None:
        """Replace the items of each file by their groups.

        `grouped` is given the items of a file and yields its groups, both in order.
        """
        for number, file in enumerate(self._files):
            if file is not None:
                run: IO[bytes] = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - `close` closes it
                self._runs.append(run)
                for item in grouped(_items(file)):
                    _write(run, item)
                file.close()
                self._files[number] = None

    def groups(self) -> Iterator[Item]:
        """Yield the groups of all files, in the order of their first items."""
        return merge_in_order(*map(_items, self._runs), key=itemgetter(0))

    def close(self) -> None:
        """Delete the temporary files."""
        for file in (*self._files, *self._runs):
            if file is not None:
                file.close()
        self._files, self._runs = [], []


def _write(file: IO[bytes], item: Item) -> None:
    number, place, text = item
    file.write(_item_head.pack(number, len(place), len(text)) + place + text)


def _items(file: IO[bytes]) -> Iterator[Item]:
    """Yield the items of a file."""
    file.seek(0)
    while head := file.read(_item_head.size):
        number, place_size, text_size = _item_head.unpack(head)
        yield Item(number, file.read(place_size), file.read(text_size))

"""Partition items by key in temporary files, so that those of one key come together.

Items go to temporary files by the digest of their key. The items of one file are
grouped in memory, which a single file fits into; then the groups of all files are
merged in the order of their first items.
"""

from collections.abc import Callable, Iterator
from heapq import merge as merge_in_order
from operator import itemgetter
from typing import NamedTuple

from harpia_formats.files.io.spill import FramedRecords
from harpia_formats.validation.dedup.digests import digest_of

#: Temporary files that items are distributed over.
FILES = 128
#: Bytes of each temporary file that are held in memory before it goes to disk.
SPOOL_BYTES = 64 * 1024


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
        # A store each, not parts of one: a file is deleted once it was grouped.
        self._files: list[FramedRecords | None] = [None] * FILES
        #: The groups of each file, once all items were added.
        self._runs: list[FramedRecords] = []
        #: How many items were added.
        self.count = 0

    def add(self, key: str, place: bytes, text: bytes) -> None:
        """Add an item, which comes into one file with all others of its key."""
        number = digest_of(key) % FILES
        file = self._files[number]
        if file is None:
            file = self._files[number] = _file()
        _write(file, Item(self.count, place, text))
        self.count += 1

    def group(self, grouped: Callable[[Iterator[Item]], Iterator[Item]]) -> None:
        """Replace the items of each file by their groups.

        `grouped` is given the items of a file and yields its groups, both in order.
        """
        for number, file in enumerate(self._files):
            if file is not None:
                run = _file()
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


def _file() -> FramedRecords:
    """Return a file of items, which the caller closes."""
    return FramedRecords("Q", 2, SPOOL_BYTES)


def _write(file: FramedRecords, item: Item) -> None:
    number, place, text = item
    file.append((number,), (place, text))


def _items(file: FramedRecords) -> Iterator[Item]:
    """Yield the items of a file."""
    for _, (number,), (place, text) in file.records():
        yield Item(number, place, text)

"""The blocks of a file, of which the last ones can be taken a second time."""

from collections.abc import Callable, Iterable, Iterator

from harpia_formats.conversion.subsets.options import SubsetError


class KeptBytes:
    """Hands on the blocks of a file, and keeps a copy of what was not dropped."""

    def __init__(
        self,
        name: str,
        blocks: Iterable[bytes],
        most: int,
        after_block: Callable[[], None],
    ) -> None:
        """Keep at most about `most` bytes, and call `after_block` after each block.

        `name` is that of the file, for messages.
        """
        self._name = name
        self._most = most
        self._blocks = blocks
        self._after_block = after_block
        self._data = bytearray()
        #: Where in the file `_data` begins.
        self._start = 0
        self._is_kept = True

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            if self._is_kept:
                self._data += block
                if len(self._data) > self._most:
                    raise SubsetError(
                        f"{self._name}: more than {self._most:,} bytes stand before, "
                        "between or behind rows"
                    )
            self._after_block()
            yield block

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return len(self._data)

    def between(self, begin: int, end: int | None = None) -> bytes:
        """Return the kept bytes from offset `begin` in the file up to `end`.

        Without `end` they are all that were read.
        """
        last = None if end is None else end - self._start
        return bytes(self._data[begin - self._start : last])

    def drop(self, until: int) -> None:
        """Keep no longer what stands before the offset `until` in the file."""
        if until > self._start:
            del self._data[: until - self._start]
            self._start = until

    def stop(self) -> None:
        """Keep nothing any more."""
        self._is_kept = False
        self._data.clear()

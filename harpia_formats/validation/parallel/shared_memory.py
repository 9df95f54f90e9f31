"""Send bytes to other processes of this machine through shared memory.

A worker reads a block of 1 MiB in place instead of through a pipe: benchmarks/
containers.py shows what that buys for arrays and compressed files.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.shared_memory import SharedMemory
from typing import Self


@dataclass(slots=True)
class SharedBlocks:
    """Some blocks of shared memory, each used again and again, for `with`.

    Where there is no shared memory, or no room in it, there are no blocks.
    """

    slots: int
    #: Bytes of each block.
    size: int
    _blocks: list[SharedMemory] = field(default_factory=list)
    _next: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for block in self._blocks:
            block.close()
            with suppress(FileNotFoundError):
                block.unlink()
        self._blocks.clear()

    def put(self, parts: list[bytes]) -> tuple[str, int] | None:
        """Return the block that begins with these bytes, and how many they are.

        It is used again after as many others as there are slots. Returns None if there
        is no room.
        """
        size = sum(map(len, parts))
        block = self._block() if size <= self.size else None
        if block is None:
            return None
        begin, buffer = 0, block.buf
        assert buffer is not None  # noqa: S101 - it is open
        for part in parts:
            buffer[begin : begin + len(part)] = part
            begin += len(part)
        return block.name, size

    def _block(self) -> SharedMemory | None:
        """Return the next block, None if there is no room for another one."""
        if len(self._blocks) < self.slots:
            try:
                self._blocks.append(SharedMemory(create=True, size=self.size))
            except OSError:
                return None
            return self._blocks[-1]
        block = self._blocks[self._next]
        self._next = (self._next + 1) % self.slots
        return block


def read_block(name: str, size: int) -> bytes:
    """Return the first `size` bytes of a block. Raises `OSError` if it is gone."""
    block = SharedMemory(name)
    try:
        assert block.buf is not None  # noqa: S101 - it is open
        return bytes(block.buf[:size])
    finally:
        block.close()

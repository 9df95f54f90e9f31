"""A list of numbers of any length in bounded memory."""

from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

#: Bytes that are held in memory before they go to the disk.
_HELD = 8 * 1024 * 1024
_PIECE = 64 * 1024
_WIDTH = 8


class NumberFile:
    """Numbers from 0 to 2^64 - 1, appended and then iterated; to be closed."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - `close` closes it
        self._held = array("Q")
        self._written = 0

    def __len__(self) -> int:
        return self._written + len(self._held)

    def append(self, number: int) -> None:
        """Add a number behind the others."""
        self._held.append(number)
        if len(self._held) >= _PIECE:
            self._flush()

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers in order; none may be added meanwhile."""
        self._flush()
        self._file.seek(0)
        while data := self._file.read(_PIECE * _WIDTH):
            yield from array("Q", data)

    def _flush(self) -> None:
        self._file.seek(self._written * _WIDTH)
        self._file.write(self._held.tobytes())
        self._written += len(self._held)
        del self._held[:]

    def close(self) -> None:
        """Delete the numbers."""
        self._file.close()

"""Keep any number of digests in bounded memory, parted by their bytes."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import compress
from os import SEEK_END
from typing import IO

from harpia_formats.files.io.reader import SourceError, error_reason

#: Digests read from a partition at a time.
_PIECE = 16 * 1024
#: Bytes of a digest.
_WIDTH = 8
_PARTITIONS = 256
#: Digests that are not parted.
_FEW = 4096
#: Bits of a digest's second byte, by which a partition is parted further.
_BITS = 8


@dataclass(frozen=True, slots=True)
class Share:
    """The digests of a partition whose second byte ends in these bits of `value`."""

    #: The low byte of the digests.
    partition: int
    bits: int = 0
    value: int = 0

    def halves(self) -> tuple["Share", "Share"]:
        """Return two shares that hold one half of the digests each."""
        bits = self.bits + 1
        one = self.value | 1 << self.bits
        return replace(self, bits=bits), replace(self, bits=bits, value=one)

    def table(self) -> bytes:
        """Return for every value of the second byte whether such digests are here."""
        mask = (1 << self.bits) - 1
        return bytes(byte & mask == self.value for byte in range(256))


class Partitions:
    """Digests by their low byte, in memory, and beyond `held` of them in a file."""

    __slots__ = ("_appends", "_count", "_few", "_file", "_held", "_parts", "_runs")

    def __init__(self, held: int) -> None:
        self._held = held
        self._count = 0
        #: The first digests, not parted yet: most files are small and many.
        self._few: array[int] = array("Q")
        #: Empty until there are more.
        self._parts: list[array[int]] = []
        self._appends: list[Callable[[int], None]] = []
        #: Offset and size in bytes of each piece in the file, in turn.
        self._runs: list[array[int]] = []
        self._file: IO[bytes] | None = None

    def add(self, digests: Iterable[int], count: int) -> None:
        """Add `digests`, which are `count` many.

        Raises `SourceError` if the temporary file cannot be written.
        """
        if not self._parts and len(self._few) + count < min(_FEW, self._held):
            self._few.extend(digests)
            return
        self._part_few()
        self._part(digests, count)

    def _part(self, digests: Iterable[int], count: int) -> None:
        """Put digests into their partitions."""
        appends = self._appends
        for digest in digests:
            appends[digest & 0xFF](digest)
        self._count += count
        if self._count >= self._held:
            self._write_held()

    def _part_few(self) -> None:
        """Put the first digests into their partitions, if that was not done."""
        if self._parts:
            return
        self._parts = [array("Q") for _ in range(_PARTITIONS)]
        self._appends = [part.append for part in self._parts]
        self._runs = [array("Q") for _ in range(_PARTITIONS)]
        few, self._few = self._few, array("Q")
        self._part(few, len(few))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not (self._few or self._parts)

    @property
    def are_distinct(self) -> bool:
        """Whether the digests are certainly distinct: few were added."""
        return not self._parts and len(set(self._few)) == len(self._few)

    def settle(self) -> None:
        """Free the memory of the digests if some are in the file already."""
        if self._file and self._count:
            self._write_held()

    def shares(self, whole: int) -> Iterator[tuple[Share, set[int], int]]:
        """Yield shares that hold all digests, with the distinct ones and the count.

        A share has at most some more than `whole` distinct digests, unless so many
        agree in two bytes. Raises `SourceError` if the temporary file fails.
        """
        self.settle()
        self._part_few()
        for partition in range(_PARTITIONS):
            if self._parts[partition] or self._runs[partition]:
                yield from self._parted(Share(partition), whole)
            else:
                yield Share(partition), set(), 0

    def _parted(
        self, share: Share, whole: int
    ) -> Iterator[tuple[Share, set[int], int]]:
        distinct: set[int] = set()
        count = 0
        for piece in self.pieces(share):
            distinct.update(piece)
            count += len(piece)
            if len(distinct) > whole and share.bits < _BITS:
                break
        else:
            yield share, distinct, count
            return
        del distinct  # before the halves have theirs
        for half in share.halves():
            yield from self._parted(half, whole)

    def pieces(self, share: Share) -> Iterator[Sequence[int]]:
        """Yield the digests of a share, in the order in which they were added."""
        table = share.table() if share.bits else b""
        for data in self._data(share.partition):
            piece = array("Q", data)
            if share.bits:
                yield list(compress(piece, data[1::_WIDTH].translate(table)))
            else:
                yield piece

    def count_of(self, partition: int) -> int:
        """Return how many digests have the low byte `partition`."""
        self._part_few()
        return sum(self._runs[partition][1::2]) // _WIDTH + len(self._parts[partition])

    def _data(self, partition: int) -> Iterator[bytes]:
        """Yield the bytes of a partition, first those in the file."""
        self._part_few()
        runs, held = self._runs[partition], self._parts[partition]
        for offset, size in zip(runs[::2], runs[1::2], strict=True):
            for start in range(0, size, _PIECE * _WIDTH):
                yield self._read(offset + start, min(_PIECE * _WIDTH, size - start))
        for start in range(0, len(held), _PIECE):
            yield held[start : start + _PIECE].tobytes()

    def _read(self, offset: int, size: int) -> bytes:
        with _as_source_error():
            file = self._temporary_file()
            file.seek(offset)
            return file.read(size)

    def _write_held(self) -> None:
        """Move all digests that are in memory to the file."""
        with _as_source_error():
            file = self._temporary_file()
            for held, runs in zip(self._parts, self._runs, strict=True):
                if held:
                    offset = file.seek(0, SEEK_END)
                    file.write(held)
                    runs.extend((offset, len(held) * _WIDTH))
                    del held[:]
            file.flush()
        self._count = 0

    def _temporary_file(self) -> IO[bytes]:
        if self._file is None:
            from tempfile import TemporaryFile  # noqa: PLC0415 - only large files need it

            self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
        return self._file

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._file:
            with suppress(OSError):  # from data that could not be written before
                self._file.close()


@contextmanager
def _as_source_error() -> Iterator[None]:
    """Raise `SourceError` for an error of the temporary file."""
    try:
        yield
    except OSError as error:
        raise SourceError("temporary file", error_reason(error)) from error

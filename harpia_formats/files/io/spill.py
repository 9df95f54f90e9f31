"""Records that go to a temporary file where they are too many for memory.

`FixedRecords` are numbers of one size; `FramedRecords` tell in front of them how long
they are. Both are in parts, which are read one by one. The temporary file has no name
and is made when the first bytes go to it; `close`, or the end of a store, deletes it.
"""

from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from struct import Struct
from typing import IO, Any

from harpia_formats.files.io.reader import BLOCK, SourceError, error_reason

#: Bytes of framed records that are read at once, and of a single one.
PIECE = 16 * 1024
FEW = 1024


class SpillError(SourceError, OSError):
    """The temporary file cannot be made, written or read."""

    errno = None
    __str__ = SourceError.__str__


def _spill_error(error: OSError) -> SpillError:
    return SpillError("temporary file", error_reason(error))


class _SpilledBytes:
    """Bytes in memory up to a limit, and beyond it all of them in a temporary file."""

    __slots__ = ("_file", "_held", "_limit", "size")

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._limit = limit
        self._held = bytearray()
        self._file: IO[bytes] | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether the bytes are in the file."""
        return self._file is not None

    def append(self, data: Any) -> int:
        """Add the bytes of a buffer, and return the offset of the first one."""
        offset = self.size
        size = memoryview(data).nbytes
        if self._file is None and offset + size <= self._limit:
            self._held += data
        else:
            try:
                file = self._opened()
                # After a failure, some bytes may be behind those that count.
                file.seek(offset)
                file.write(data)
            except OSError as error:
                raise _spill_error(error) from error
        self.size += size
        return offset

    def _opened(self) -> IO[bytes]:
        """Return the file, which has all bytes so far."""
        if self._file is None:
            from tempfile import TemporaryFile  # noqa: PLC0415 - only large runs need it

            file = TemporaryFile()  # noqa: SIM115 - `close` closes it
            file.write(self._held)
            self._file, self._held = file, bytearray()
        return self._file

    def flush(self) -> None:
        """Write what the file still buffers, so that a full disk is found now."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                raise _spill_error(error) from error

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes from an offset on."""
        if self._file is None:
            return bytes(memoryview(self._held)[offset : offset + size])
        try:
            self._file.seek(offset)
            return self._file.read(size)
        except OSError as error:
            raise _spill_error(error) from error

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill a buffer with the bytes from an offset on."""
        if self._file is None:
            buffer[:] = memoryview(self._held)[offset : offset + buffer.nbytes]
            return
        try:
            self._file.seek(offset)
            self._file.readinto(buffer)  # type: ignore[attr-defined] # of a binary file
        except OSError as error:
            raise _spill_error(error) from error

    def close(self) -> None:
        """Delete all bytes."""
        self.size, self._held = 0, bytearray()
        if self._file is not None:
            with suppress(OSError):  # from data that could not be written before
                self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()


class FixedRecords:
    """Numbers of one type in parts, most of them in a temporary file if they are many.

    Each method that adds or reads raises `SpillError` if the file fails.
    """

    __slots__ = ("_count", "_ends", "_file", "_limit", "held")

    def __init__(self, code: str, held: int, parts: int = 1) -> None:
        """Take numbers of the type `code` of `array`, of which `held` are in memory."""
        #: The numbers of each part that are in memory, for loops that add single ones
        #: and count them by `added`.
        self.held: list[array[Any]] = [array(code) for _ in range(parts)]
        self._limit = held
        self._count = 0
        #: Where the piece of each part ends in the file: those of all parts for each
        #: time that numbers went there, one piece behind the other.
        self._ends = array("Q")
        self._file = _SpilledBytes(0)

    def append(self, number: float) -> None:
        """Add a number behind the others of the only part."""
        self.held[0].append(number)
        self._count += 1
        if self._count >= self._limit:
            self.spill()

    def extend(self, numbers: Iterable[float], part: int = 0) -> None:
        """Add numbers behind the others of a part."""
        held = self.held[part]
        before = len(held)
        held.extend(numbers)
        self.added(len(held) - before)

    def extend_bytes(self, data: Any, part: int = 0) -> None:
        """Add the numbers that the bytes of a buffer are."""
        held = self.held[part]
        before = len(held)
        held.frombytes(data if isinstance(data, bytes) else _bytes_of(data))
        self.added(len(held) - before)

    def added(self, count: int) -> None:
        """Count numbers that were added to `held`, and move them if they are many."""
        self._count += count
        if self._count >= self._limit:
            self.spill()

    def spill(self) -> None:
        """Move all numbers that are in memory to the file."""
        end = len(self._ends) + len(self.held)
        try:
            for held in self.held:
                if held:
                    self._file.append(held)
                    del held[:]
                self._ends.append(self._file.size)
        finally:
            # After a failure, the other parts have no piece.
            self._ends.extend([self._file.size] * (end - len(self._ends)))
        self._file.flush()
        self._count = 0

    def flush(self) -> None:
        """Free the memory of the numbers if some are in the file already."""
        if self._file.is_in_file and self._count:
            self.spill()

    def count_of(self, part: int) -> int:
        """Return how many numbers a part has."""
        held = self.held[part]
        in_file = sum(size for _, size in self._pieces(part))
        return in_file // held.itemsize + len(held)

    def _pieces(self, part: int) -> Iterator[tuple[int, int]]:
        """Yield where each piece of a part is in the file: its offset and bytes."""
        ends = self._ends
        for at in range(part, len(ends), len(self.held)):
            begin = ends[at - 1] if at else 0
            yield begin, ends[at] - begin

    def __len__(self) -> int:
        return self._file.size // self.held[0].itemsize + self._count

    def __iter__(self) -> Iterator[Any]:
        """Yield the numbers of the only part; none may be added meanwhile."""
        for block in self.blocks():
            yield from array(self.held[0].typecode, block)

    def blocks(self, part: int = 0, size: int = BLOCK) -> Iterator[bytes]:
        """Yield the bytes of a part, in the order in which they were added.

        `size` is that of a block at most, a multiple of the size of a number.
        """
        held = self.held[part]
        for offset, length in self._pieces(part):
            for start in range(0, length, size):
                yield self._file.read(offset + start, min(size, length - start))
        step = size // held.itemsize
        for start in range(0, len(held), step):
            yield held[start : start + step].tobytes()

    def read_into(self, buffer: Any, number: int = 0) -> None:
        """Fill a buffer with numbers from the one at `number` on, of the only part."""
        (held,) = self.held
        view = _bytes_of(buffer)
        begin = number * held.itemsize
        in_file = max(0, min(self._file.size - begin, view.nbytes))
        if in_file:
            self._file.read_into(view[:in_file], begin)
        if in_file < view.nbytes:
            at = begin + in_file - self._file.size
            view[in_file:] = memoryview(held).cast("B")[at : at + view.nbytes - in_file]

    def read(self, number: int = 0, count: int | None = None) -> "array[Any]":
        """Return `count` numbers from the one at `number` on, all without a count."""
        if count is None:
            count = len(self) - number
        found = array(self.held[0].typecode, bytes(count * self.held[0].itemsize))
        self.read_into(found, number)
        return found

    def close(self) -> None:
        """Delete the numbers, and the temporary file if there is one."""
        for part in (*self.held, self._ends):
            del part[:]
        self._count = 0
        self._file.close()


def _bytes_of(buffer: Any) -> memoryview:
    """Return a view of the bytes of a buffer, of any type and number of dimensions."""
    view = memoryview(buffer)
    return view.cast("B") if view.nbytes else memoryview(b"")


#: A framed record: where it is, its numbers, and its fields of any length.
Framed = tuple[int, tuple[Any, ...], list[bytes]]


class FramedRecords:
    """Records of numbers and fields of any length, in parts.

    Beyond a limit they are in a temporary file. Each method that adds or reads raises
    `SpillError` if the file fails.
    """

    __slots__ = ("_blocks", "_count", "_file", "_head", "_held", "_limit", "_numbers")

    def __init__(self, numbers: str, fields: int, held: int, parts: int = 1) -> None:
        """Take records with `numbers` of these types of `struct` and so many `fields`.

        `held` bytes of them are in memory.
        """
        self._numbers = len(numbers)
        #: Stands in front of each record: its numbers, and the sizes of its fields.
        self._head = Struct("<" + numbers + "Q" * fields)
        self._limit = held
        self._held: list[list[bytes]] = []
        #: The bytes that are in `_held`.
        self._count = 0
        #: Offset and size of each block of a part in the file, by turns.
        self._blocks: list[array[int]] = []
        self._file = _SpilledBytes(held)
        for _ in range(parts):
            self.add_part()

    def add_part(self) -> int:
        """Add a part, and return its number."""
        self._held.append([])
        self._blocks.append(array("Q"))
        return len(self._held) - 1

    def append(
        self, numbers: tuple[Any, ...], fields: tuple[bytes, ...], part: int = 0
    ) -> None:
        """Add a record behind the others of a part."""
        head = self._head.pack(*numbers, *map(len, fields))
        record = b"".join((head, *fields))
        self._held[part].append(record)
        self._count += len(record)
        if self._count >= self._limit:
            self.flush()

    def flush(self) -> None:
        """Give each record its place, in the file if they are many."""
        if not self._count:
            return
        for held, blocks in zip(self._held, self._blocks, strict=True):
            if held:
                offset = self._file.append(b"".join(held))
                blocks.extend((offset, self._file.size - offset))
                held.clear()
        self._file.flush()
        self._count = 0

    def records(self, part: int = 0) -> Iterator[Framed]:
        """Yield the records of a part in the order in which they were added."""
        self.flush()
        blocks = self._blocks[part]
        for offset, size in zip(blocks[::2], blocks[1::2], strict=True):
            yield from self._between(offset, offset + size)

    def at(self, offset: int) -> Framed:
        """Return the record at an offset."""
        data = self._file.read(offset, FEW)
        numbers, fields, behind = self._parsed(data, 0)
        if behind > len(data):
            data += self._file.read(offset + len(data), behind - len(data))
            numbers, fields, _ = self._parsed(data, 0)
        return offset, numbers, fields

    def _between(self, begin: int, end: int) -> Iterator[Framed]:
        """Yield the records that are from `begin` up to `end`, read in pieces."""
        parsed, head = self._parsed, self._head.size
        while begin < end:
            data = self._file.read(begin, min(PIECE, end - begin))
            at, size = 0, len(data)
            while at + head <= size:
                numbers, fields, behind = parsed(data, at)
                if behind > size:
                    break
                yield begin + at, numbers, fields
                at = behind
            if not at:  # longer than a piece
                record = self.at(begin)
                yield record
                at = head + sum(map(len, record[2]))
            begin += at

    def _parsed(self, data: bytes, at: int) -> tuple[tuple[Any, ...], list[bytes], int]:
        """Return the numbers and fields of a record in `data`, and where it ends."""
        values = self._head.unpack_from(data, at)
        at += self._head.size
        fields = []
        for size in values[self._numbers :]:
            fields.append(data[at : at + size])
            at += size
        return values[: self._numbers], fields, at

    def close(self) -> None:
        """Delete the records, and the temporary file if there is one."""
        for held, blocks in zip(self._held, self._blocks, strict=True):
            held.clear()
            del blocks[:]
        self._count = 0
        self._file.close()

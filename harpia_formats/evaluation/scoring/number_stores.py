"""Numbers by question in temporary files, of which a part at a time is in memory."""

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import Any

from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.files.io.spill import FixedRecords

#: Bytes of entries that are held in memory before they are written to a file.
ENTRIES_HELD = 2 * 1024 * 1024
#: Parts of the entries by the first byte of the digest.
PARTS = 256


class PartedEntries:
    """Tuples of a digest and numbers; to be closed with `close`."""

    def __init__(self, numbers: str, held: int = ENTRIES_HELD) -> None:
        """Hold entries whose `numbers` have this format of `struct`."""
        self._entry = Struct(f"<{WIDTH}s{numbers}")
        self._bytes = FixedRecords("B", held, PARTS)
        #: Whole entries, so many bytes of them that are read at once.
        self._block = self._entry.size * max(1, BLOCK // self._entry.size)

    def add(self, key: bytes, *numbers: float) -> None:
        """Add an entry; raises `SourceError` if the file cannot be written."""
        self._bytes.extend_bytes(self._entry.pack(key, *numbers), key[0])

    def of_part(self, part: int) -> Iterator[tuple[Any, ...]]:
        """Yield the entries of a part, from 0 to `PARTS` - 1, in the order of adding.

        Raises `SourceError` if the file cannot be read.
        """
        for data in self._bytes.blocks(part, self._block):
            yield from self._entry.iter_unpack(data)

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._bytes.close()


#: Bytes of numbers that are held in memory; more of them are in a temporary file.
HELD = 512 * 1024
#: Questions that are looked at together.
PART = 4096


def parts_of(count: int, size: int = PART) -> Iterator[slice]:
    """Yield slices of `count` questions, `size` of them in each but the last."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


class SpooledRows:
    """The rows of an array, in a temporary file if they are many."""

    def __init__(self, rows: Any) -> None:
        """Copy the rows; raises `SourceError` if the file cannot be written."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        count = len(rows)
        self.width: int = rows.shape[1]
        # Half the memory, if the numbers are exact there.
        with np.errstate(over="ignore"):
            is_exact = all(
                (rows[part].astype(np.float32) == rows[part]).all()
                for part in parts_of(count)
            )
        self._type = np.dtype(np.float32 if is_exact else np.float64)
        self._numbers = FixedRecords(self._type.char, HELD // self._type.itemsize + 1)
        for part in parts_of(count):
            self._numbers.extend_bytes(rows[part].astype(self._type, order="C"))
        self._numbers.flush()

    def part(self, questions: slice) -> Any:
        """Return the rows from one question to another as an array of 64-bit floats.

        Raises `SourceError` if the temporary file cannot be read.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        rows = np.empty((questions.stop - questions.start, self.width), self._type)
        self._numbers.read_into(rows, questions.start * self.width)
        return rows.astype(np.float64)


class MeanRows:
    """The means of statistics over the answers to each question, from their sums."""

    def __init__(self, rows: "QuestionRows", counts: Any) -> None:
        """Divide the rows of questions by `counts`, the numbers of their answers."""
        self.width: int = rows.width
        self._rows, self._counts = rows, counts

    def part(self, questions: slice) -> Any:
        """Return the rows from one question to another as an array of 64-bit floats.

        Raises `SourceError` if the temporary file cannot be read.
        """
        counts = self._counts[questions, None]
        return self._rows.part(questions) / counts.clip(min=1)


class LabelRows:
    """Sums of the statistics of labels, of which nearly all numbers are 0.

    They are held as the kind of each answer: the number of its row among a few.
    """

    def __init__(
        self, kinds: Any, questions: Any, rows: Iterable[Sequence[float]], width: int
    ) -> None:
        """Hold answers: for each its kind, and its question in ascending order.

        `rows` has the statistics of each kind.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        self.width = width
        self._kinds, self._questions = kinds, questions
        found = [
            [(at, number) for at, number in enumerate(row) if number] for row in rows
        ]
        most = max(map(len, found), default=0)
        padded = [[*row, *[(0, 0.0)] * (most - len(row))] for row in found]
        table = np.array(padded, dtype=np.float64).reshape(len(found), most, 2)
        #: For each kind the places of its numbers, and the numbers.
        self._places, self._numbers = table[:, :, 0].astype(np.int64), table[:, :, 1]

    def part(self, questions: slice) -> Any:
        """Return the rows from one question to another as an array of 64-bit floats."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        first, last = np.searchsorted(
            self._questions,
            # Of the same type: the other would be a copy of all numbers.
            np.array([questions.start, questions.stop], self._questions.dtype),
        ).tolist()
        found = np.zeros((questions.stop - questions.start, self.width))
        kinds = self._kinds[first:last]
        places = (self._questions[first:last] - questions.start)[:, None]
        np.add.at(found, (places, self._places[kinds]), self._numbers[kinds])
        return found


#: A row of statistics for each question: `width` of them, of which `part` returns some.
QuestionRows = SpooledRows | MeanRows | LabelRows


class SpooledColumns:
    """Columns of 32-bit integers by question, in a temporary file if they are many."""

    def __init__(self, count: int) -> None:
        """Hold columns of `count` numbers."""
        self._count, self._number = count, 0
        self._numbers = FixedRecords("i", HELD + 1)
        #: The questions that were looked at last, and their numbers, by column.
        self._loaded = slice(0, 0)
        self._columns: list[Any] = []

    def add(self, column: Any) -> None:
        """Add a column before any is read; raises `SourceError` for a full disk."""
        self._number += 1
        self._numbers.extend_bytes(column)
        self._numbers.flush()

    def part(self, questions: slice) -> Any:
        """Return the numbers from one question to another, by column.

        They are an array of 64-bit floats. Raises `SourceError` if the temporary file
        cannot be read.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        loaded = self._loaded
        if questions.start < loaded.start or loaded.stop < questions.stop:
            # More than is asked for, since parts of many columns are small.
            stop = min(max(questions.stop, questions.start + PART), self._count)
            self._loaded = loaded = slice(questions.start, stop)
            self._columns = [self._read(at, loaded) for at in range(self._number)]
        part = slice(questions.start - loaded.start, questions.stop - loaded.start)
        columns = [column[part] for column in self._columns]
        return np.stack(columns, axis=1).astype(np.float64)

    def _read(self, at: int, questions: slice) -> Any:
        """Return the numbers of some questions in the column at a place."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        found = np.empty(questions.stop - questions.start, np.int32)
        self._numbers.read_into(found, at * self._count + questions.start)
        return found

"""Where each row of a file begins, found in a process of its own and kept in a file.

The index has eight bytes for each row: the offset of its first byte. Behind the last
row stands where it ends, so that the rows that can be read are one fewer than the
offsets. Rows that no file holds as text of its own (compressed, in a table of columns,
in an archive) are copied to a temporary file; the offsets are those in the copy.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Any

import msgspec
import numpy as np

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.conversion.subsets.open_file import uncut_reason
from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    FramingFault,
    count_newlines,
    is_blank,
)
from harpia_formats.files.framing.container import Layout, open_container
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.source import Source, SourceReader, open_source
from harpia_formats.files.parsing.csv_blocks import TableBlank, TableFault, TableRow
from harpia_formats.files.parsing.csv_records import table_pieces
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    SampledFile,
    sample_file,
)
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import Container
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import FilePlan, plan_file
from harpia_formats.validation.run_plans import RunPlans
from harpia_formats.view.options import ViewOptions

#: Bytes of an offset.
WIDTH = 8
#: Seconds between two messages on how far a file was read.
PAUSE = 0.1
#: Bytes between two places whose lines are noted, at least.
LINES_APART = 64 * 1024
#: What may stand behind a row and is no part of it, by how rows stand.
_behind = {"array": b" \t\r\n,", "document": b" \t\r\n", "table": b"\r\n"}
#: Bytes of rows that are read at once.
READ_AT_ONCE = 8 * 1024 * 1024


class FoundFile(msgspec.Struct, frozen=True):
    """What a file is, by its beginning: plain data that a process sends."""

    #: The id and the dialect of its format, "" if it is in no known one.
    format: str
    dialect: str
    #: How its rows stand: `lines`, `array`, `table`, `document` or `nothing`.
    kind: str
    #: What the rows are cut from: `file`, `unpacked text` or `records`.
    rows_of: str
    #: What stands before the first row of an array, a document or a table.
    before: bytes = b""
    #: The character between the fields of a table.
    delimiter: str = ""
    #: Whether NaN and Infinity in rows are read as null.
    reads_nan: bool = False


class IndexProgress(msgspec.Struct, frozen=True):
    """How far a file was read."""

    #: Bytes of the file that were read, and all of them, 0 if that is not known.
    done: int
    of: int
    #: What stands behind the last row, once the file has ended.
    after: bytes = b""
    is_complete: bool = False


class IndexFailure(msgspec.Struct, frozen=True):
    """Why a file cannot be read, or not to its end."""

    reason: str


Message = FoundFile | IndexProgress | IndexFailure


def source_named(path: str) -> Source:
    """Return the file, or the folder that is one, at a path. Raises `SourceError`."""
    found = next(iter(sources_of_inputs([path], None, all_unpackers())))
    if isinstance(found, SourceError):
        raise found
    return found


def index_file(path: str, options: ViewOptions, base: str) -> Iterator[Message]:
    """Find where the rows of a file begin, and yield what it is and how far it is read.

    The offsets go to the file `base`.starts, and where some lines begin to
    `base`.lines; rows that are no bytes of a file are copied to `base`.copy. The file
    `base`.end exists once all rows are indexed; a reader of an index that failed writes
    it.
    """
    try:
        source = source_named(path)
        # Nothing is buffered, so that what is written can be read at once.
        with (
            Path(f"{base}.starts").open("wb", buffering=0) as offsets,
            Path(f"{base}.lines").open("wb", buffering=0) as lines,
        ):
            writer = _Offsets(offsets, lines)
            yield from _indexed(source, options, writer, Path(f"{base}.copy"))
        Path(f"{base}.end").touch()
    except SourceError as error:
        yield IndexFailure(error.reason)
    except OSError as error:
        yield IndexFailure(f"its index cannot be written: {error_reason(error)}")


@dataclass(slots=True)
class _Offsets:
    """Writes where rows begin."""

    file: IO[bytes]
    lines: IO[bytes]
    #: Where the last row ends.
    end: int = 0
    count: int = 0
    #: Where the last line begins that is noted.
    _noted: int = -LINES_APART

    def add(self, begins: Any, end: int, start: Cursor | None = None) -> None:
        """Add the offsets of some rows, the last of which ends at `end`.

        `start` is a place at or in front of the first of them.
        """
        data = np.asarray(begins, dtype=np.uint64)
        if len(data):
            if start is not None and start.offset - self._noted >= LINES_APART:
                self._noted = start.offset
                known = (self.count + 1, start.offset, start.line)
                self.lines.write(np.array(known, dtype=np.uint64).tobytes())
            self.file.write(data.tobytes())
            self.count += len(data)
            self.end = end

    def close(self) -> None:
        """Add where the last row ends."""
        self.file.write(np.array([self.end], dtype=np.uint64).tobytes())


def _indexed(
    source: Source, options: ViewOptions, offsets: _Offsets, copy: Path
) -> Iterator[Message]:
    """Yield what a file is and how far it is read, and write its offsets."""
    with open_source(source) as reader:
        blocks = _Blocks(reader, copy)
        opened = open_container(blocks)
        run = RunPlans(
            Options(
                format=options.format,
                delimiter=options.delimiter,
                max_row_bytes=options.max_row_bytes,
            )
        ).of(source)
        limit = options.max_row_bytes
        sampled = sample_file(
            opened, limit, run.candidates(), source.name, options.delimiter
        )
        if reader.unpacker:
            sampled.sample = msgspec.structs.replace(
                sampled.sample, unpacker=reader.unpacker
            )
        plan, _ = plan_file(run, source.name, sampled.sample)
        if reason := uncut_reason(plan, sampled.sample):
            yield IndexFailure(reason)
        if plan.has_columns:
            yield from _records_indexed(source, plan, options, offsets, copy)
            return
        found = _Found(plan, sampled, delimiter_of(options.delimiter, source.name))
        is_yielded = False
        reported_at = monotonic()
        for begins, end, start in found.rows(limit):
            if not is_yielded:
                yield found.file(blocks)
                is_yielded = True
            offsets.add(begins, end, start)
            if monotonic() - reported_at > PAUSE:
                yield IndexProgress(reader.consumed, reader.total or 0)
                reported_at = monotonic()
        if not is_yielded:
            yield found.file(blocks)
        offsets.close()
        after = blocks.text(offsets.end) if offsets.count else b""
        error = reader.change()
        if error is not None:
            yield IndexFailure(error.reason)
            return
        yield IndexProgress(reader.consumed, reader.total or 0, after, is_complete=True)


#: Bytes before or behind all rows that are kept.
KEPT = 16 * 1024 * 1024


@dataclass(slots=True)
class _Blocks:
    """The blocks of a file, copied if the file does not hold them as they are."""

    reader: SourceReader
    path: Path
    #: Whether they are copied, known with the first block.
    is_copied: bool = False

    def __iter__(self) -> Iterator[bytes]:
        copy: IO[bytes] | None = None
        try:
            for block in self.reader:
                if not isinstance(self.reader.file, Path):
                    if copy is None:
                        copy = self.path.open("wb", buffering=0)
                        self.is_copied = True
                    copy.write(block)
                yield block
        finally:
            if copy is not None:
                copy.close()

    def text(self, begin: int, size: int = KEPT) -> bytes:
        """Return up to a number of bytes of what was read, from an offset on."""
        file = self.path if self.is_copied else self.reader.file
        if not isinstance(file, Path):  # nothing was read
            return b""
        with file.open("rb") as text:
            text.seek(begin)
            return text.read(min(size, KEPT))


@dataclass(slots=True)
class _Found:
    """A file that is cut into rows."""

    plan: FilePlan
    sampled: SampledFile
    delimiter: str
    #: Where the first row begins.
    first: int = -1
    #: Whether the rows are lines, known with the first of them.
    are_lines: bool = True

    @property
    def kind(self) -> str:
        """How the rows stand."""
        cut, variant = self.plan.cut, self.plan.variant
        layout = self.sampled.opened.layout
        if cut is Framing.NONE:
            return "nothing"
        if layout is Layout.EMPTY:
            return "lines"
        if cut is Framing.TABLE:
            return "table"
        if cut is Framing.MEMBERS or layout is Layout.ARRAY:
            return "array"
        is_whole = variant is not None and (
            variant.dialect.container is Container.DOCUMENT
        )
        return "document" if is_whole or not self.are_lines else "lines"

    def file(self, blocks: _Blocks) -> FoundFile:
        """Return what the file is; `blocks` still hold what is before its rows."""
        kind, before = self.kind, b""
        if kind in {"array", "table"}:
            before = blocks.text(0, KEPT if self.first < 0 else self.first)
        return FoundFile(
            self.plan.format,
            self.plan.shown_dialect,
            kind,
            "unpacked text" if blocks.is_copied else "file",
            before,
            self.delimiter if kind == "table" else "",
            self.plan.reads_nan,
        )

    def rows(self, limit: int) -> Iterator[tuple[Any, int, Cursor | None]]:
        """Yield where some rows begin, where the last ends, and a place before them."""
        if self.plan.cut is Framing.NONE or self.sampled.opened.layout is Layout.EMPTY:
            return
        if self.plan.cut is Framing.TABLE:
            yield from self._of_table(limit)
            return
        for frame in self.sampled.frames(self.plan.cut, self.plan.variant):
            if isinstance(frame, Chunk):
                self.are_lines = frame.lines
                begins, end = _places(frame)
                if len(begins):
                    self.first = int(begins[0]) if self.first < 0 else self.first
                    yield begins, end, frame.start
            elif isinstance(frame, FramingFault) and frame.record:
                begin = frame.start.offset
                self.first = begin if self.first < 0 else self.first
                yield [begin], begin + frame.size, frame.start

    def _of_table(self, limit: int) -> Iterator[tuple[Any, int, Cursor | None]]:
        """Yield the same of the records of a table, without its header."""
        opened = self.sampled.opened
        is_header = True
        for piece in table_pieces(opened.buffer, opened.start, limit, self.delimiter):
            if isinstance(piece, TableBlank):
                continue
            if isinstance(piece, TableRow):
                begin = piece.start.offset
                begins, end = [begin], begin + len(piece.data)
            elif isinstance(piece, TableFault):
                if not piece.record:
                    continue
                begins, end = [piece.passed.start], piece.passed.stop
            else:
                base = piece.start.offset
                begins = [piece.start_of(n).offset for n in range(piece.count)]
                end = base + len(piece.data)
            if is_header:  # also one that cannot be read
                is_header = False
                continue
            self.first = begins[0] if self.first < 0 else self.first
            # A fault is placed where it is in its record, not where that begins.
            yield begins, end, None if isinstance(piece, TableFault) else piece.start


def _places(chunk: Chunk) -> tuple[Any, int]:
    """Return where the rows of a chunk begin that are not blank, and the last ends."""
    base, data = chunk.start.offset, chunk.data
    if not chunk.lines:
        begins, at = [], 0
        for row in chunk.texts:
            at = data.index(row, at)
            begins.append(base + at)
            at += len(row)
        return begins, base + at
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
    starts = np.concatenate((np.zeros(1, dtype=np.int64), ends + 1))[: len(chunk)]
    if not chunk.is_plain():
        has_text = [not is_blank(row) for row in chunk.rows]
        starts = starts[np.array(has_text, dtype=bool)]
    return starts + base, base + len(data)


def _records_indexed(
    source: Source, plan: FilePlan, options: ViewOptions, offsets: _Offsets, copy: Path
) -> Iterator[Message]:
    """Copy the records of a file of columns as JSON lines, and write their offsets."""
    reading = Reading(
        [source],
        ReadingOptions(
            from_=plan.format,
            delimiter=options.delimiter,
            max_row_bytes=options.max_row_bytes,
        ),
        fail_fast=False,
        merges_rows=False,
    )
    with copy.open("wb") as lines:
        yield FoundFile(plan.format, plan.shown_dialect, "lines", "records")
        at, begins, rows = 0, [], offsets.count

        def receive(placed: PlacedRecord) -> None:
            nonlocal at, rows
            # Records that are not valid have a row without text. The components of a
            # file of columns share their numbers.
            number = max(placed.number, rows + 1)
            begins.extend([at] * (number - rows))
            rows = number
            at += lines.write(encode(placed.record) + b"\n")

        for _ in reading.steps(receive, lambda *_: None, lambda _: None):
            lines.flush()
            offsets.add(begins, at)
            begins.clear()
            yield IndexProgress(at, 0)
    offsets.close()
    failures = [file.reason for file in reading.tally.report().files if file.reason]
    if failures:
        yield IndexFailure(failures[0])
        return
    yield IndexProgress(at, at, is_complete=True)


class RowIndex:
    """The rows of a file by their numbers, from 1, also while the index grows."""

    def __init__(self, text: str, base: str, kind: str) -> None:
        """Open the file or copy `text` that has the rows, and what `index_file` wrote.

        Raises `OSError` if one of them cannot be opened.
        """
        self._starts = os.open(f"{base}.starts", os.O_RDONLY)
        try:
            self._text = os.open(text, os.O_RDONLY)
        except OSError:
            os.close(self._starts)
            raise
        self._lines = Path(f"{base}.lines")
        self._kind = kind

    def close(self) -> None:
        """Close the files."""
        os.close(self._text)
        os.close(self._starts)

    @property
    def known(self) -> int:
        """The number of rows that can be read."""
        return max(0, os.fstat(self._starts).st_size // WIDTH - 1)

    def starts(self, first: int, count: int) -> Any:
        """Return where `count` rows from number `first` on begin, and the next one."""
        data = os.pread(self._starts, (count + 1) * WIDTH, (first - 1) * WIDTH)
        return np.frombuffer(data, dtype=np.uint64).astype(np.int64)

    def text(self, begin: int, end: int) -> bytes:
        """Return the bytes between two offsets."""
        return os.pread(self._text, end - begin, begin)

    def around(self) -> tuple[Iterator[bytes], Iterator[bytes]]:
        """Return what stands before the first row and behind the last one, in pieces.

        Of a file without rows all stands before them.
        """
        size = os.fstat(self._text).st_size
        first, end = size, size
        if known := self.known:
            first, end = (int(self.starts(at, 0)[0]) for at in (1, known + 1))
        return self._pieces(0, first), self._pieces(end, size)

    def _pieces(self, begin: int, end: int) -> Iterator[bytes]:
        """Yield the bytes between two offsets."""
        for at in range(begin, end, READ_AT_ONCE):
            yield self.text(at, min(at + READ_AT_ONCE, end))

    @property
    def behind(self) -> bytes:
        """White space, and a comma, that may follow a row and is no part of it."""
        return _behind.get(self._kind, JSON_SPACE)

    def row(self, number: int) -> bytes:
        """Return the bytes of a row, without what follows it."""
        (row,) = self.rows([number])
        return row

    def rows(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the bytes of rows, adjacent ones read at once."""
        for first, count in _runs(numbers):
            yield from self._adjacent(first, count)

    def lines_of(self, numbers: Iterable[int]) -> Iterator[int | None]:
        """Yield the line in which each row begins, None in a copy of records."""
        known = self._known_lines()
        for number in numbers:
            place = int(np.searchsorted(known[:, 0], number, "right")) - 1
            if place < 0:
                yield None
                continue
            _, offset, line = map(int, known[place])
            begin = int(self.starts(number, 0)[0])
            yield line + count_newlines(self.text(offset, begin))

    def line_of(self, number: int) -> int | None:
        """Return the line in which a row begins, None in a copy of records."""
        return next(self.lines_of([number]))

    def row_in_line(self, line: int) -> int | None:
        """Return the number of the row that a line is in, None if there is none."""
        known = self._known_lines()
        place = int(np.searchsorted(known[:, 2], line, "right")) - 1
        if place < 0:
            return None
        low = int(known[place, 0])
        high = int(known[place + 1, 0]) if place + 1 < len(known) else self.known + 1
        while high - low > 1:
            middle = (low + high) // 2
            if (self.line_of(middle) or 0) <= line:
                low = middle
            else:
                high = middle
        if low > self.known:
            return None
        last = (self.line_of(low) or 0) + count_newlines(self.row(low))
        return low if line <= last else None

    def _known_lines(self) -> Any:
        """Return rows, offsets and lines that are known, a row of three for each."""
        data = self._lines.read_bytes()
        data = data[: len(data) // (3 * WIDTH) * 3 * WIDTH]
        return np.frombuffer(data, dtype=np.uint64).reshape(-1, 3).astype(np.int64)

    def _adjacent(self, first: int, count: int) -> Iterator[bytes]:
        """Yield the bytes of adjacent rows, of which so many are read at once."""
        starts = self.starts(first, count)
        at = 0
        while at < len(starts) - 1:
            most = starts[at] + READ_AT_ONCE
            end = max(at + 1, int(np.searchsorted(starts, most, "right")) - 1)
            base = int(starts[at])
            text = self.text(base, int(starts[end]))
            for row in range(at, end):
                part = text[int(starts[row]) - base : int(starts[row + 1]) - base]
                yield self._without_end(part)
            at = end

    def _without_end(self, part: bytes) -> bytes:
        """Return a row without what follows it, such as its line feed."""
        if self._kind in _behind:
            return part.rstrip(_behind[self._kind])
        return part.partition(b"\n")[0]


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first of some adjacent numbers, and how many they are."""
    at = 0
    while at < len(numbers):
        end = at + 1
        while end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            end += 1
        yield int(numbers[at]), end - at
        at = end


def joined(
    rows: Iterable[bytes],
    found: FoundFile,
    before: Iterable[bytes],
    after: Iterable[bytes],
) -> Iterator[bytes]:
    """Yield a file of some rows in the container of the file that they are from.

    `before` and `after` are the pieces of what stands around all rows of that file.
    """
    if found.kind in {"array", "table"}:
        yield from before
    end = b"\r\n" if found.kind == "table" and found.before[-2:] == b"\r\n" else b"\n"
    separator, is_first = b"," if found.kind == "array" else end, True
    for row in rows:
        yield row if is_first else separator + row
        is_first = False
    if found.kind == "array":
        behind = iter(after)
        yield next(behind, b"]")
        yield from behind
    elif not is_first:
        yield end

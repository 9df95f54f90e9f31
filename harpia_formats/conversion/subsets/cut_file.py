"""Cut a file into its rows and the bytes around them, and change none of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from harpia_formats.conversion.subsets.subset_options import SubsetError, SubsetOptions
from harpia_formats.files.framing.chunk import (
    BOM,
    JSON_SPACE,
    Chunk,
    FramingFault,
    is_blank,
)
from harpia_formats.files.framing.columns import RowArray, decoded_or_none
from harpia_formats.files.framing.container import (
    Layout,
)
from harpia_formats.files.io.source import SourceReader
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.formats.detection.sampled_file import Framing, SampledFile
from harpia_formats.validation.plan.file_plan import FilePlan

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.files.parsing.csv_blocks import TableBlock, TablePiece


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


_harmless = {"bom", "empty", "spread"}
_faults = {
    "unclosed": "the array is not closed",
    "trailing": "there is text behind the array",
    "missing-item": "an item of the array is missing",
}


class Row(NamedTuple):
    """A row as it is in its file."""

    #: From 1, as `validate` counts records.
    number: int
    #: With its line end, where rows have one.
    text: bytes
    #: What stands between the row and the one before it; nothing where it has a line
    #: end, and for the first row.
    gap: bytes = b""


@dataclass(slots=True)
class CutFile:
    """A file that is cut into rows."""

    name: str
    plan: FilePlan
    options: SubsetOptions
    _reader: SourceReader
    _kept: KeptBytes
    _sampled: SampledFile
    #: Whether each row ends with a line end.
    is_terminated: bool = field(init=False)
    #: What stands before the first row, known with it or at the end of the file.
    before: bytes = b""
    #: What stands behind the last row, known at the end of the file.
    after: bytes = b""
    #: Rows that were cut so far.
    count: int = 0
    #: Where in the file the last row ended, None before the first.
    _end: int | None = field(default=None, init=False)
    #: The names in the header of a table, once they are asked for.
    _columns: tuple[str, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.is_terminated = not self._is_array

    @property
    def is_wrapped(self) -> bool:
        """Whether a document stands around the rows."""
        return self.plan.cut is Framing.MEMBERS

    @property
    def is_unpacked(self) -> bool:
        """Whether the rows are those of a table or an archive that holds no text."""
        return bool(self._reader.unpacker)

    @property
    def is_table(self) -> bool:
        """Whether the rows are cells below a header."""
        return self.plan.cut is Framing.TABLE

    def end_of_some(self) -> bytes:
        """Return what closes a file of the first rows only, unless it is a document."""
        if self.is_terminated:
            return b""
        if not self._is_array:
            return b"\n"
        space = self.before[len(self.before.rstrip(JSON_SPACE)) :]
        return b"\n]\n" if b"\n" in space else b"]\n"

    @property
    def separator(self) -> bytes:
        """What stands between two rows that were not side by side."""
        return b",\n" if self._is_array else b"\n"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the header of a table, known with its first row."""
        if self._columns is None:
            cells = _cells_of(self.before.removeprefix(BOM), self._delimiter) or ()
            self._columns = tuple(text or "" for text in cells)
        return self._columns

    @property
    def _delimiter(self) -> str:
        return delimiter_of(self.options.delimiter, self.name)

    def value_of(self, row: Row) -> Any:
        """Return the decoded row, of a table an object of its cells, null if blank.

        Of several columns of one name the first counts. None for a row that cannot be
        decoded.
        """
        if not self.is_table:
            return decoded_or_none(row.text)
        cells = _cells_of(row.text, self._delimiter)
        if cells is None:
            return None
        found: dict[str, str | None] = {}
        for name, text in zip(self.columns, cells, strict=False):
            found.setdefault(name, text)
        return found

    @property
    def _is_array(self) -> bool:
        """Whether the rows that are no lines are items of an array."""
        return self.is_wrapped or self._sampled.opened.layout is Layout.ARRAY

    def rows(self) -> Iterator[Row]:
        """Yield the rows in order.

        Raises `SubsetError` for what cannot be cut, and `SourceError`.
        """
        if self._sampled.opened.layout is Layout.EMPTY:
            self.before = self._kept.between(0)
            return
        cut = self._table_rows() if self.is_table else self._json_rows()
        yield from cut
        if self.is_terminated and (self.is_table or self.count):
            return
        if self._end is None:
            self.before = self._kept.between(0)
        else:
            self.after = self._kept.between(self._end)

    def _json_rows(self) -> Iterator[Row]:
        """Yield the rows of text that is JSON."""
        arrays = 0
        for frame in self._sampled.frames(self.plan.cut, self.plan.variant):
            if isinstance(frame, FramingFault):
                self._check_fault(frame)
            elif isinstance(frame, Chunk) and frame.lines:
                yield from self._lines(frame)
            elif isinstance(frame, Chunk):
                yield from self._separated(frame)
            elif isinstance(frame, RowArray):
                self._begin_array(arrays)
                arrays += 1

    def _begin_array(self, arrays: int) -> None:
        """Begin with the rows of a document, which may not have another array."""
        self.is_terminated = False
        if arrays:
            raise SubsetError(f"{self.name}: its rows stand in two arrays of one name")

    def _lines(self, chunk: Chunk) -> Iterator[Row]:
        """Yield the rows of lines, each with its line end."""
        if not self.count and self._kept.size:
            if self._sampled.opened.content_start.offset:
                self.before = self._kept.between(
                    0, self._sampled.opened.content_start.offset
                )
            self._kept.stop()
        texts = chunk.texts
        last = len(texts) - 1 if not chunk.data.endswith(b"\n") else len(texts)
        for index, text in enumerate(texts):
            if not is_blank(text):
                self.count += 1
                yield Row(self.count, text if index == last else text + b"\n")

    def _separated(self, chunk: Chunk) -> Iterator[Row]:
        """Yield the rows of a chunk that stand between others, each with its gap."""
        self.is_terminated = False
        data, at, base = chunk.data, 0, chunk.start.offset
        for text in chunk.texts:
            at = data.index(text, at)
            begin = base + at
            gap = b""
            if self._end is None:
                self.before = self._kept.between(0, begin)
            else:
                gap = self._kept.between(self._end, begin)
            at += len(text)
            self._end = base + at
            self.count += 1
            yield Row(self.count, text, gap)
        if self._end is not None:
            self._kept.drop(self._end)

    def _check_fault(self, fault: FramingFault) -> None:
        """Raise `SubsetError` for a fault with which rows cannot be copied."""
        if fault.kind == "oversize":
            most = self.options.max_row_bytes
            raise SubsetError(
                f"{self.name}: the row in line {fault.start.line:,} has more than "
                f"{most:,} bytes; `--max-row-bytes` allows longer ones"
            )
        if fault.kind not in _harmless:
            raise SubsetError(
                f"{self.name}: {_faults[fault.kind]} (line {fault.start.line:,}); "
                "repair it first: validate says what is wrong"
            )

    def _table_rows(self) -> Iterator[Row]:
        """Yield the rows below the header of a table, each with its line end."""
        from harpia_formats.files.parsing.csv_blocks import (  # noqa: PLC0415 - only for tables
            TableBlank,
            TableFault,
            TableRow,
        )

        for piece in self._pieces():
            if isinstance(piece, TableBlank):
                if self.before:
                    self._kept.drop(piece.start.offset + piece.size)
                continue
            if isinstance(piece, TableFault) and not piece.record:
                continue
            if isinstance(piece, TableRow):
                begin = piece.start.offset
                text = self._with_line_end(begin, begin + len(piece.data))
            elif isinstance(piece, TableFault):
                text = self._with_line_end(piece.passed.start, piece.passed.stop)
                begin = piece.passed.start
            else:
                yield from self._block_rows(piece)
                continue
            if not self.before:
                if isinstance(piece, TableFault):
                    raise SubsetError(f"{self.name}: {piece.message}")
                self.before = self._kept.between(0, begin + len(text))
            else:
                self.count += 1
                yield Row(self.count, text)
            self._kept.drop(begin + len(text))

    def _pieces(self) -> "Iterator[TablePiece | TableBlock]":
        from harpia_formats.files.parsing.csv_records import table_pieces  # noqa: PLC0415 - only for tables

        opened, limit = self._sampled.opened, self.options.max_row_bytes
        return table_pieces(opened.buffer, opened.start, limit, self._delimiter)

    def _block_rows(self, block: "TableBlock") -> Iterator[Row]:
        """Yield the records of a block, each with its line end."""
        base, data = block.start.offset, block.data
        begins = [block.start_of(n).offset - base for n in range(block.count)]
        for begin, end in zip(begins, [*begins[1:], len(data)], strict=True):
            self.count += 1
            yield Row(self.count, data[begin:end])
        self._kept.drop(base + len(data))

    def _with_line_end(self, begin: int, end: int) -> bytes:
        """Return the bytes of a record with the line end behind it."""
        text = self._kept.between(begin, end + 2)
        size = end - begin
        if text[size:] == b"\r\n":
            return text
        return text[: size + (text[size : size + 1] in {b"\r", b"\n"})]


def _cells_of(record: bytes, delimiter: str) -> list[str | None] | None:
    """Return the text of each cell of a record, None where nothing stands.

    None for a record that is no row of a table, or not UTF-8.
    """
    from harpia_formats.files.parsing.csv_blocks import (  # noqa: PLC0415 - only for tables
        RecordEnding,
        cut_record,
        fields_of,
    )

    line = record.strip(b"\r\n")
    cut = cut_record(line, 0, len(line), delimiter.encode(), final=True)
    if cut.ending is not RecordEnding.WHOLE:
        return None
    try:
        fields = fields_of(cut.raws)
    except UnicodeDecodeError:
        return None
    return [
        field.text if raw else None for field, raw in zip(fields, cut.raws, strict=True)
    ]

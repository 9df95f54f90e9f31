"""Take a sample from the beginning of a file, and cut the file into rows afterwards."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import chain, islice
from typing import IO, Any, Protocol

from msgspec import Struct, field

from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Frame,
    Frames,
    FramingFault,
)
from harpia_formats.files.framing.columns import (
    DocumentFrame,
    DocumentFrames,
    DocumentHeader,
    document_frames,
)
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    frames_of,
    open_container,
    without_leading_comments,
)
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    ValueState,
    parse_truncated,
    read_value,
)
from harpia_formats.files.io.reader import WINDOW, SourceError, error_reason
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import COMMA, DELIMITERS
from harpia_formats.files.parsing.full_width import (
    wide_delimiter,
    with_plain_punctuation,
)
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.detection.sample import (
    DECODED_BYTES,
    JSON_SUFFIXES,
    SAMPLE_BYTES,
    SAMPLE_RECORDS,
    TABLE_SUFFIXES,
    Sample,
    decoded_value,
    delimiter_of,
    has_suffix,
    parsed_rows,
    uncompressed_lower_name,
)
from harpia_formats.formats.registry import adapter_of, all_formats
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import Path
from harpia_formats.model.report import FileCount


def is_table(
    opened: OpenedContainer,
    formats: Sequence[Format],
    name: str,
    delimiter: str | None,
) -> bool:
    """Tell whether a file is a table: by the formats asked for, or its name.

    Input without a name, such as standard input, is a table by its header. A table is
    recognized even if no format of tables is asked for, to report that.
    """
    if not formats:
        return False
    if are_tables(formats):
        return True
    if opened.layout is not Layout.TEXT:
        return False
    plain = uncompressed_lower_name(name)
    if plain.endswith(TABLE_SUFFIXES) or (
        delimiter is not None and not plain.endswith(JSON_SUFFIXES)
    ):
        return True
    return not has_suffix(name) and _has_known_column(opened, name)


def are_tables(formats: Sequence[Format]) -> bool:
    """Tell whether files of all these formats are tables of text."""
    return all(
        dialect.container is Container.TABLE
        for format_ in formats
        for dialect in format_.dialects
    )


def _has_known_column(opened: OpenedContainer, name: str) -> bool:
    """Tell whether the first line has the name of a column of a known table.

    Whether lines have as many commas says nothing: those of a letter may, too.
    """
    header, _ = _first_rows(opened, delimiter_of(None, name))
    return _is_known(header)


def likely_delimiter(opened: OpenedContainer) -> str:
    """Return the delimiter by which the first lines of a text are a known table.

    It is not the comma, cuts the header and the first row alike, and the header
    has the name of a column of a known table; "" if there is none.
    """
    for delimiter in DELIMITERS:
        header, first = _first_rows(opened, delimiter)
        is_even = len(header) == len(first) > 1
        if delimiter != COMMA and is_even and _is_known(header):
            return delimiter
    found = _wide(opened)
    line = opened.buffer.data.partition(b"\n")[0].decode(errors="replace").strip()
    return found if found and _is_known(line.split(found)) else ""


def _is_known(header: Iterable[str]) -> bool:
    """Tell whether a header has the name of a column of a known table."""
    variants = variants_of(all_formats().values(), Layout.TEXT)
    tables = [variant.format for variant in variants if variant.format.adapter]
    return any(set(header) & set(adapter_of(table).columns) for table in tables)


def table_sample(opened: OpenedContainer, delimiter: str) -> Sample:
    """Return the first row below the header, its fields by their columns."""
    header, first = _first_rows(opened, delimiter)
    # Fields that are missing are blank.
    row = dict(zip(header, [*first, *[""] * len(header)], strict=False))
    return Sample(
        Layout.TEXT,
        (row,) if header else (),
        delimiter=delimiter,
        other_delimiter="" if len(header) > 1 else _other(opened, delimiter),
    )


def _other(opened: OpenedContainer, delimiter: str) -> str:
    """Return the delimiter that cuts the header and the first row alike, or ""."""
    for other in DELIMITERS:
        header, first = _first_rows(opened, other)
        if other != delimiter and len(header) == len(first) > 1:
            return other
    return _wide(opened)


def _wide(opened: OpenedContainer) -> str:
    """Return the delimiter of full width of the first lines, "" if there is none."""
    is_cut = opened.buffer.fill(SAMPLE_BYTES // 8)
    found = wide_delimiter(opened.buffer.data, _is_known, is_cut=is_cut)
    opened.buffer.put_back(WINDOW)
    return found


def _first_rows(opened: OpenedContainer, delimiter: str) -> tuple[list[str], list[str]]:
    """Return the fields of the header and of the first row below it."""
    from harpia_formats.files.parsing.csv_blocks import TableBlank, TableRow  # noqa: PLC0415 - only tables need it
    from harpia_formats.files.parsing.csv_records import table_rows  # noqa: PLC0415 - only tables need it

    opened.buffer.fill(SAMPLE_BYTES // 8)
    copy = ByteBuffer(iter(()), opened.buffer.data)
    pieces = table_rows(copy, opened.start, len(copy.data), delimiter)
    lines = (piece for piece in pieces if not isinstance(piece, TableBlank))
    texts = [
        [field.text for field in piece.fields] if isinstance(piece, TableRow) else []
        for piece in islice(lines, 2)
    ]
    opened.buffer.put_back(WINDOW)
    header, first = [*texts, [], []][:2]
    return header, first


#: Rows that a sample is made of if none is JSON.
BROKEN_ROWS = 20
_object_layouts = {Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE}


class Framing(Enum):
    """How a file is cut into rows."""

    #: By its layout: each row is a value of its own.
    VALUES = auto()
    #: Into the items of some members of one object, and a header.
    MEMBERS = auto()
    #: Into rows of fields, below a header.
    TABLE = auto()
    #: Not at all: of a text that is neither JSON nor a table, and of a table with
    #: another delimiter, it is not known what a record is.
    NONE = auto()


class SampledFile(Struct):
    """A file from which a sample was taken, with all of its bytes still to be cut."""

    opened: OpenedContainer
    sample: Sample
    #: Bytes of one row, at most.
    limit: int
    #: Frames that were cut for the sample.
    held: list[Frame] = field(default_factory=list)
    #: The frames behind those.
    rest: Frames = field(default_factory=lambda: iter(()))

    def frames(self, framing: Framing, variant: FormatVariant | None) -> DocumentFrames:
        """Return all frames of the file, cut as values, or as members of `variant`."""
        if framing is Framing.VALUES or variant is None:
            layout = self.sample.layout
            if layout in _object_layouts or layout is Layout.TEXT:
                return frames_of(self.opened, self.limit, self.sample.decoded)
            return chain(self.held, self.rest)
        return frames_of_members(self.opened, variant, self.limit)


def frames_of_members(
    opened: OpenedContainer, variant: FormatVariant, limit: int
) -> DocumentFrames:
    """Return the frames of an object whose arrays are cut as its dialect says."""
    dialect, depth = variant.dialect, variant.dialect.depth
    if dialect.container is Container.WRAPPED:
        depth = len(dialect.rows_path)

    def is_cut(path: Path) -> bool:
        if dialect.container is Container.WRAPPED:
            return path == dialect.rows_path
        return len(path) == depth

    return document_frames(opened.buffer, opened.start, limit, is_cut, depth)


def reread_frames(
    blocks: Callable[[], Iterable[bytes]],
    framing: Framing,
    variant: FormatVariant | None,
    limit: int,
) -> DocumentFrames:
    """Return the frames of a file from its `blocks`, read once more.

    `framing` and `variant` are those that the file was read with before.
    """
    opened = open_container(blocks())
    if framing is Framing.MEMBERS and variant is not None:
        return frames_of_members(opened, variant, limit)
    return frames_of(opened, limit)


def framing_of(variant: FormatVariant | None, layout: Layout) -> Framing:
    """Return how a file of `layout` is cut if it is read as `variant`."""
    container = variant.dialect.container if variant else Container.ROWS
    if container is Container.TABLE:
        return Framing.TABLE
    has_members = container is Container.WRAPPED or container is Container.COLUMNS
    is_cut = has_members and layout in _object_layouts
    return Framing.MEMBERS if is_cut else Framing.VALUES


def sample_file(
    opened: OpenedContainer,
    limit: int,
    formats: Sequence[Format],
    name: str,
    delimiter: str | None = None,
) -> SampledFile:
    """Take the sample of a file called `name` that may be in one of `formats`.

    `limit` is the most bytes of one row, `delimiter` is that of tables if the user
    named one.
    """
    if is_table(opened, formats, name, delimiter):
        sample = table_sample(opened, delimiter_of(delimiter, name))
        return SampledFile(opened, sample, limit)
    if opened.layout is Layout.LONG_LINE:
        opened.layout = _layout_by_first_value(opened.buffer)
    if opened.layout in _object_layouts:
        return SampledFile(opened, _object_sample(opened), limit)
    is_text, likely = opened.layout is Layout.TEXT, ""
    if is_text:
        opened.layout = Layout.LINES
        is_text = not uncompressed_lower_name(name).endswith(JSON_SUFFIXES)
        likely = likely_delimiter(opened) if is_text and formats else ""
    frames = frames_of(opened, limit)
    held = list(first_frames(frames))
    rows = tuple(value for frame in held for value in parsed_rows(frame))
    is_json = bool(rows)
    rows = rows or _truncated_rows(held)
    if is_text and not is_json:
        # Lines of a text may begin like a number.
        rows = tuple(row for row in rows if isinstance(row, dict | list))
    text, layout = is_text and not rows, opened.layout
    sample = Sample(
        layout,
        rows,
        whole=is_json,
        broken=not is_json,
        text=text,
        likely_delimiter=likely,
    )
    return SampledFile(opened, sample, limit, held, frames)


def _truncated_rows(frames: Iterable[Frame]) -> tuple[Any, ...]:
    """Return what can be read of the first rows if none of them is JSON."""
    texts = (
        text for frame in frames if isinstance(frame, Chunk) for text in frame.rows
    )
    values = (_readable_part(text) for text in islice(texts, BROKEN_ROWS))
    return tuple(value for value in values if value)


def _readable_part(text: bytes) -> Any:
    """Return what can be read of a broken text: all if punctuation is its fault."""
    plain = with_plain_punctuation(text)
    whole = decoded_value(plain) if plain != text else iter(())
    return next(whole, None) or parse_truncated(text)


def first_frames(frames: Frames) -> Frames:
    """Yield frames until they hold enough records for a sample."""
    records = size = 0
    while records < SAMPLE_RECORDS and size < SAMPLE_BYTES:
        frame = next(frames, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def _layout_by_first_value(buffer: ByteBuffer) -> Layout:
    """Return the layout of a file whose first line is long.

    It is lines if the first value is one line and another object follows it.
    """
    buffer.fill(SAMPLE_BYTES)
    state, end = read_value(buffer.data, 0)
    is_one_line = b"\n" not in buffer.data[:end].strip()
    has_next = buffer.data[end : end + 1] == b"{"
    if state is ValueState.ENDED and is_one_line and has_next:
        buffer.put_back(WINDOW)
        return Layout.LINES
    return Layout.LONG_LINE


def _object_sample(opened: OpenedContainer) -> Sample:
    """Return the first value of a file of objects, cut short if it is long."""
    buffer = opened.buffer
    whole = not buffer.fill(SAMPLE_BYTES)
    text = without_leading_comments(buffer.data)
    value, several = next(decoded_value(text), None) if whole else None, False
    is_json = value is not None
    if not is_json:
        value = _readable_part(text) if whole else parse_truncated(text)
        several = read_value(text, 0)[0] is ValueState.ENDED
    buffer.put_back(WINDOW)
    is_known = value or (value is not None and whole)
    rows = (value,) if is_known else ()
    if isinstance(value, list):  # an array behind a comment
        rows = tuple(value)
    broken = whole and not is_json and not several
    is_one = is_json and isinstance(value, dict)
    is_kept = is_one and len(text) <= DECODED_BYTES
    return Sample(
        opened.layout,
        rows,
        whole=whole,
        several=several,
        broken=broken,
        decoded=text.strip(JSON_SPACE) if is_kept else b"",
    )


#: Faults of the container that every file has whose reading breaks off.
_expected_faults = {"empty", "unclosed"}


class Readable(ReadProgress, Protocol):
    """Blocks of bytes, with a name and the progress of reading them."""

    def __iter__(self) -> Iterator[bytes]: ...


class ReadBlocks:
    """The blocks of a file, counted; an error of the source ends the iteration."""

    def __init__(
        self, reader: Readable, count: FileCount, copy: IO[bytes] | None = None
    ) -> None:
        """Count the bytes of `reader` in `count`, and write them to `copy` if given."""
        self.reader = reader
        self._count = count
        self._copy = copy
        #: Why reading broke off, None if it did not.
        self.error: SourceError | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self.reader:
                self._count.bytes += len(block)
                self._keep(block)
                yield block
        except SourceError as error:
            self.error = error

    @property
    def end(self) -> int:
        """The offset in the file behind the last byte that was read."""
        return self._count.bytes

    def drop_copy(self) -> None:
        """Copy no more blocks, and delete the copy."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _keep(self, block: bytes) -> None:
        if self._copy is None:
            return
        try:
            self._copy.write(block)
        except OSError as error:
            reason = f"cannot be copied to be read again: {error_reason(error)}"
            raise SourceError(self.reader.name, reason) from error


def complete_frames(frames: DocumentFrames, blocks: ReadBlocks) -> DocumentFrames:
    """Yield `frames` without those that are incomplete since reading broke off."""
    for frame in frames:
        if blocks.error is not None:
            # Nothing more is read, so all frames to come are in memory already.
            yield from _without_truncated_end([frame, *frames])
            return
        yield frame


def _without_truncated_end(frames: list[DocumentFrame]) -> DocumentFrames:
    """Return the last frames of a file without its end, if that is incomplete."""
    end = frames[-1]
    if isinstance(end, FramingFault) and end.kind in _expected_faults:
        frames = frames[:-1]
    if frames and _is_truncated(frames[-1], end):
        frames = frames[:-1]
    return iter(frames)


def _is_truncated(frame: DocumentFrame, end: DocumentFrame) -> bool:
    """Tell whether `frame` is a row that reaches the end of the data, unfinished."""
    if isinstance(frame, DocumentHeader):
        return True
    if not isinstance(frame, Chunk) or frame.data.endswith(b"\n"):
        return False
    behind = frame.start.offset + len(frame.data)
    if isinstance(end, FramingFault) and end.start.offset != behind:
        return False
    return len(frame) == 1 and not list(parsed_rows(frame))

"""Read records from anything, whatever its format, and say what is wrong with it."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.read_blocks import ReadBlocks
from harpia_formats.framing.byte_ranges import LineRange, RangeReader, read_range
from harpia_formats.framing.chunk import Cursor, count_newlines
from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.reread import RereadableSource
from harpia_formats.io.source import ReadProgress, Source, open_source
from harpia_formats.mapping.columns import (
    check_field_names,
    column_names,
    names_by_column,
)
from harpia_formats.mapping.mapped_format import (
    FREE_COLUMN_FORMATS,
    detect_mapped_format,
)
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.format import Format
from harpia_formats.model.problem import PAUSE, Problem, Severity
from harpia_formats.model.record import Header
from harpia_formats.model.report import FileCount
from harpia_formats.reading.record_stream import Receive, RecordStream, TakeAccepted
from harpia_formats.registry import (
    adapter_of,
    all_formats,
    formats_named,
    readable_formats,
    rules_for,
)
from harpia_formats.rules import selected_rules
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.file.validator import Inspection
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most files are too small for it
    from harpia_formats.conversion.fast.shards import Shards

#: Rules that say nothing of whether a record can be read.
_left_out = ("X", "L")
#: Called with the format of a file before its first record.
Begin = Callable[[FormatVariant, FileCount], None]


class Reading:
    """One run over some inputs, whose valid rows are handed on as records.

    Raises `UnknownFormat` and `MapError` when it is made, `ValueError` without an
    input, and `TypeError` for what is no input.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each wish
        self,
        inputs: Iterable[Input],
        format_: str | None,
        *,
        columns: Mapping[str, str] | None = None,
        fail_fast: bool = True,
        max_row_bytes: int = ROW_LIMIT,
        progress: Callable[[ReadProgress], None] | None = None,
        pauses: bool = False,
    ) -> None:
        self.inputs = checked_inputs(inputs)
        if columns is not None:
            check_field_names(columns)
            format_ = format_ or detect_mapped_format(self.inputs) or "csv"
            if format_ not in FREE_COLUMN_FORMATS:
                known = " and ".join(FREE_COLUMN_FORMATS)
                raise ConversionError(
                    f"columns of {format_} have no other names than "
                    f"theirs; --map is for {known}"
                )
        self._options = Options(
            format=format_,
            # Of a table, the header is judged by them.
            columns=columns if format_ == "csv" else None,
            fail_fast=fail_fast,
            max_row_bytes=max_row_bytes,
            progress=progress,
            ignore=_left_out,
        )
        self._formats = (
            tuple(all_formats().values()) if format_ is None else formats_named(format_)
        )
        rules = rules_for(self._formats)
        active = selected_rules(rules, [], list(_left_out))
        # What is only doubtful is the business of validation.
        self._rules = {
            code: rules[code]
            for code in active
            if rules[code].severity is Severity.ERROR
        }
        self._fields = _fields_of(self._formats[0], columns) if columns else {}
        self.tally = Tally()
        self._pauses = pauses
        #: What was around the records of each file whose format is known.
        self.headers: list[list[Header]] = []

    def problems(
        self,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes], None],
        bulk: TakeAccepted | None = None,
        shards: "Shards | None" = None,
    ) -> Generator[Problem, None, None]:
        """Yield what is wrong; hand each valid record to `receive`.

        Raises `ConversionError` for a file whose rows are no records.
        """
        for each in sources_of_inputs(self.inputs):
            if isinstance(each, SourceError):
                self.tally.begin(each.path).reason = each.reason
                continue
            yield from self._file(each, receive, begin, refuse, bulk, shards)
            if self._options.fail_fast and not self.tally.report().ok:
                return

    def _file(  # noqa: PLR0913, PLR0917 - what is done with a record, in each case
        self,
        source: Source,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes], None],
        bulk: TakeAccepted | None,
        shards: "Shards | None",
    ) -> Generator[Problem, None, None]:
        count = self.tally.begin(source.name)
        stream = RecordStream(
            source.name,
            receive,
            refuse,
            lambda variant: begin(_converting(variant, count), count),
            bulk,
            self._fields,
            self._pauses,
        )
        try:
            if shards is not None and shards.suits(source):
                yield from self._in_shards(source, count, stream, shards)
            else:
                yield from self._whole(source, count, stream)
        except SourceError as error:
            count.reason = error.reason
            return
        if stream.is_open:
            self.headers.append(stream.headers)

    def _whole(
        self, source: Source, count: FileCount, stream: RecordStream
    ) -> Generator[Problem, None, None]:
        """Inspect a file from its beginning to its end."""
        with RereadableSource(source) as again, open_source(source) as reader:
            blocks = ReadBlocks(reader, count)
            inspection = self._inspection(stream, whole=True)
            yield from _closed(inspection.problems(blocks, count, again))
            if not inspection.stopped:
                for _ in stream.close():
                    if stream.pauses:
                        yield PAUSE
        count.complete = not inspection.stopped and blocks.error is None
        if blocks.error is not None:
            count.reason = blocks.error.reason

    def _in_shards(
        self, source: Source, count: FileCount, stream: RecordStream, shards: "Shards"
    ) -> Generator[Problem, None, None]:
        """Inspect the beginning of a file, and have the rest of it done in ranges."""
        origin = source.origin
        assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - only they have ranges
        progress = self._options.progress or (lambda _: None)
        ranges = shards.ranges(source.name, origin)
        place = Cursor()
        # What it has learned of the rows need not be found out for each range.
        inspection = self._inspection(stream)
        for work, found in ranges:
            done = shards.if_right(work, found)
            lines = 0 if done is None else done.lines
            if inspection.variant is None:
                data = _bytes_of(source.name, origin, work)
                lines = count_newlines(data)
                part = Source(source.name, data)
                with RereadableSource(part) as again, open_source(part) as reader:
                    blocks = ReadBlocks(reader, count)
                    yield from _closed(inspection.problems(blocks, count, again))
                if inspection.stopped or inspection.variant is None:
                    return
                shards.begin(inspection.variant)
            elif done is None:
                stretch = RangeReader(source.name, work.begin, work.end, origin)
                yield from _closed(inspection.of_lines(stretch, place, count))
                if inspection.stopped:
                    return
                lines = stretch.lines
                count.bytes += stretch.consumed
            else:
                rows = shards.rows_of(work, done)
                shards.deliver(done, rows, place, count.records)
                count.records += done.records
                count.bytes += work.end - work.begin
            place = Cursor(work.end, place.line + lines)
            progress(Part(source.name, shards.size, work.end))
        if isinstance(origin, RemoteFile):
            _check_unchanged(source.name, origin)
        count.complete = True

    def _inspection(self, stream: RecordStream, *, whole: bool = False) -> Inspection:
        options = self._options
        return Inspection(
            options if whole else replace(options, progress=None),
            self._rules,
            self.tally,
            self._formats,
            None,
            stream,
        )


def _fields_of(format_: Format, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the own name of each column that is mapped."""
    return names_by_column(column_names(adapter_of(format_), format_.id, columns))


@dataclass(frozen=True, slots=True)
class Part:
    """How far a file was read."""

    name: str
    total: int | None
    consumed: int


def _bytes_of(name: str, origin: Path | RemoteFile, work: LineRange) -> bytes:
    """Return the bytes of a range; raises `SourceError`."""
    try:
        return read_range(origin, work.begin, work.end)
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


def _check_unchanged(name: str, remote: RemoteFile) -> None:
    """Raise `SourceError` if a file is another one than when it was found."""
    try:
        remote.check_unchanged()
    except OSError as error:
        raise SourceError(name, error_reason(error)) from error


def _closed(flow: Iterator[Problem]) -> Generator[Problem, None, None]:
    """Yield from `flow`, which is closed with it."""
    try:
        yield from flow
    finally:
        flow.close()  # type: ignore[attr-defined]  # it is a generator


def _converting(variant: FormatVariant, count: FileCount) -> FormatVariant:
    """Return `variant` if its rows are records; raises `ConversionError`."""
    if not variant.format.adapter:
        raise ConversionError(
            f"{count.path} is {variant.format.id}, a document without records; "
            f"records are in: {', '.join(readable_formats())}"
        )
    return variant

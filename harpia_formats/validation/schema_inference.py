"""Infer a schema from all rows of some inputs."""

import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk, FramingFault, is_blank
from harpia_formats.files.framing.container import OpenedContainer, open_container
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.files.parsing.csv_blocks import (
    TableBlank,
    TableBlock,
    TableFault,
    TableRow,
)
from harpia_formats.files.parsing.csv_records import table_pieces
from harpia_formats.files.parsing.duplicate_keys import reencodes_to_same_colons
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    is_table,
    sample_file,
    table_sample,
)
from harpia_formats.formats.detection.unexpected_format import delimiter_note
from harpia_formats.formats.registry import all_formats, all_rules, all_unpackers
from harpia_formats.formats.schema.bundled_schemas import SchemaError
from harpia_formats.model.describe import with_noun
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.diagnosis.root_causes import (
    Finding,
    find_json_fault,
    find_repeated_keys,
)
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.inferred_schema import (
    InferOptions,
    InferredSchema,
    Seen,
    schema_of,
)
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.one_file import (
    NeededRecords,
    end_of_run,
    note_if_own,
    note_if_skipped,
)
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import run_plan_of
from harpia_formats.validation.plan.units import Broken
from harpia_formats.validation.redaction import problems_shown, redaction_of
from harpia_formats.validation.unit.collector import Collector, report_broken

REPEATED_COLUMN, FIELD_COUNT = "J305", "J304"
#: Records of a table that are handed on together, unless they come in a block.
_TOGETHER = 256

_decode = msgspec.json.Decoder().decode
_decode_lines = msgspec.json.Decoder().decode_lines


@dataclass(slots=True)
class RowValues:
    """Reads the rows of one file; the rows that cannot be read are problems."""

    name: str
    opening: OpenedContainer
    options: InferOptions
    #: Takes the problems.
    collector: Collector
    #: Rows so far, also those that cannot be read.
    rows: int = 0

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield the values of some rows at a time; raises `SourceError`."""
        opening = self.opening
        for fault in opening.faults:
            self._fault(fault)
        name, delimiter = self.name, self.options.delimiter
        if is_table(opening, tuple(all_formats().values()), name, delimiter):
            yield from self._of_table(opening)
        else:
            yield from self._of_json(opening)

    @property
    def _left(self) -> int:
        """How many more rows are wanted; those behind them are not looked at."""
        limit = self.options.limit
        return sys.maxsize if limit is None else limit - self.rows

    def _fault(self, fault: FramingFault) -> None:
        """Add the problem of bytes that are not rows."""
        limit = self.options.max_row_bytes
        result = report_broken(Broken(fault, self.rows), self.collector, limit)
        self.rows += result.records

    def _of_json(self, opening: OpenedContainer) -> Iterator[list[Any]]:
        """Yield the rows of lines, of an array or of a document."""
        sampled = sample_file(opening, self.options.max_row_bytes, (), self.name)
        for frame in sampled.frames(Framing.VALUES, None):
            if isinstance(frame, FramingFault):
                self._fault(frame)
            elif isinstance(frame, Chunk):
                values = _values_of(frame) if len(frame) <= self._left else None
                if values is None:
                    yield self._one_by_one(frame)
                else:
                    self.rows += len(values)
                    yield values
            if self._left <= 0:
                return

    def _one_by_one(self, chunk: Chunk) -> list[Any]:
        """Return the rows of a chunk that are JSON; the others become problems."""
        values = []
        for number, text in enumerate(chunk.rows):
            if self._left <= 0:
                break
            if is_blank(text):
                continue
            self.rows += 1
            try:
                value = _decode(text)
            except NOT_JSON:
                fault = find_json_fault(0, text)
                if fault is None:
                    raise
                self._json_faults([fault], text, chunk, number)
                continue
            # Which of the values of a repeated key counts is not known.
            if reencodes_to_same_colons([value], text):
                values.append(value)
            else:
                found = find_repeated_keys(0, text, value)
                self._json_faults(list(found), text, chunk, number)
        return values

    def _json_faults(
        self, faults: list[Finding], text: bytes, chunk: Chunk, number: int
    ) -> None:
        """Add the problems of a row that is no JSON, or has a key twice."""
        row = RowContext(self.name, text, chunk.start_of(number), self.rows)
        kept = [fault for fault in faults if fault.code in self.collector.rules]
        if kept:
            self.collector.add_findings(kept, lambda _: row, schema=True)

    def _of_table(self, opening: OpenedContainer) -> Iterator[list[Any]]:
        """Yield the records of a table; a field that is blank is left out."""
        limit = self.options.max_row_bytes
        delimiter = delimiter_of(self.options.delimiter, self.name)
        sample = table_sample(opening, delimiter)
        if sample.other_delimiter:
            note = delimiter_note(sample)
            place = self.collector.place(opening.start)
            self.collector.add(note.code, note.message, note.help, place)
            return
        names: tuple[str, ...] = ()
        held: list[Any] = []
        for piece in table_pieces(opening.buffer, opening.start, limit, delimiter):
            if isinstance(piece, TableBlock):
                yield held
                held = piece.rows(names, drops_blank=True)[: self._left]
                self.rows += len(held)
            elif isinstance(piece, TableFault):
                self.rows += piece.record
                self._table_fault(piece)
            elif isinstance(piece, TableRow) and not names:
                names = self._header(piece)
            elif isinstance(piece, TableRow):
                self.rows += 1
                held += self._record(piece, names)
            else:
                assert isinstance(piece, TableBlank)  # noqa: S101 - the last kind
            if len(held) >= _TOGETHER:
                yield held
                held = []
            if self._left <= 0:
                break
        yield held

    def _header(self, row: TableRow) -> tuple[str, ...]:
        """Return the names of the columns; one that is repeated is a problem."""
        names = tuple(cell.text for cell in row.fields)
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                message = f"the column {name!r} is repeated"
                place = self.collector.place(row.start)
                self.collector.add(REPEATED_COLUMN, message, "rename one", place)
        return names

    def _record(self, row: TableRow, names: Sequence[str]) -> list[dict[str, str]]:
        """Return a record of a table in a list, empty if it has too few fields."""
        if len(row.fields) != len(names):
            fields = with_noun(len(row.fields), "field")
            message = f"the row has {fields}, the header {len(names):,}"
            place = self.collector.place(row.start, self.rows)
            self.collector.add(FIELD_COUNT, message, "quote fields with commas", place)
            return []
        return [
            {
                name: cell.text
                for name, cell in zip(names, row.fields, strict=True)
                if cell.end > cell.start
            }
        ]

    def _table_fault(self, fault: TableFault) -> None:
        """Add the problem of a record that cannot be read."""
        start, end = fault.start, fault.start.column + 1 + fault.width
        number = self.rows if fault.record else None
        place = Place(
            self.name, start.line, start.column + 1, end, start.offset, number
        )
        self.collector.add(fault.code, fault.message, fault.help, place)


def _values_of(chunk: Chunk) -> list[Any] | None:
    """Return the rows of a chunk decoded at once, None if that is not certain.

    It is not if a key may be repeated in one of them.
    """
    try:
        if chunk.is_plain():
            values = _decode_lines(chunk.data)
        elif chunk.lines:
            return None
        else:
            values = [_decode(row) for row in chunk.rows]
    except NOT_JSON:
        return None
    is_whole = len(values) == len(chunk)
    return values if is_whole and reencodes_to_same_colons(values, chunk.data) else None


#: Places that are described in all, so that memory is bounded.
PLACES = 20_000
#: Batches of rows after which the places are counted.
_BATCHES = 16


class Inference:
    """One run over some inputs: iterate for the problems, then ask for the result.

    Raises `ValueError` without an input, and `TypeError` for what is no input, when it
    is made; what cannot be read is noted in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: InferOptions) -> None:
        self._inputs = checked_inputs(inputs)
        self._options = options
        self._redaction = redaction_of(options)
        self._exclusion = Exclusion(options.exclude)
        self._seen = Seen()
        self._tally = Tally()
        #: Files are passed over as in a validation.
        self._plan = run_plan_of(Options(), all_rules(), None, ())
        self._names: list[str] = []

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Yield the problems; raises `SchemaError` for too many different keys."""
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        for source in self._sources():
            if isinstance(source, SourceError):
                self._tally.begin(source.path).reason = source.reason
                continue
            count = self._tally.begin(source.name)
            try:
                yield from self._file(source, count)
            except SourceError as error:
                count.reason = error.reason
                note_if_skipped(count, self._plan, error, (), is_found=source.is_found)
        self._tally.excluded = self._exclusion.count
        self._tally.unmatched = self._exclusion.unmatched
        yield from end_of_run(
            self._tally, self._tally.files, self._plan, NeededRecords(0), self._inputs
        )

    def _sources(self) -> Iterator[Source | SourceError]:
        """Yield the files of the inputs, and errors for what cannot be read."""
        return sources_of_inputs(self._inputs, self._exclusion, all_unpackers())

    def _file(self, source: Source, count: FileCount) -> Generator[Problem, None, None]:
        """Read the rows of a file; raises `SourceError` and `SchemaError`."""
        collector = Collector(
            all_rules(),
            count.path,
            self._tally.examples,
            lambda: self._tally.demand(count),
        )
        with open_source(source) as reader:
            opening = open_container(reader)
            if source.is_found:
                note_if_own(count, opening.buffer.data)
            if count.skipped:
                return
            values = RowValues(source.name, opening, self._options, collector)
            for number, batch in enumerate(values):
                if batch:
                    self._seen.add(batch)
                if number % _BATCHES == 0:
                    self._check_places(source.name)
                yield from self._tally.keep(count, collector.take())
                if self._options.progress is not None:
                    self._options.progress(reader)
            changed = reader.change()
        yield from self._tally.keep(count, collector.take())
        self._check_places(source.name)
        count.records, count.complete = values.rows, changed is None
        count.reason = changed.reason if changed is not None else None
        self._names.append(PurePath(source.name).name)

    def _check_places(self, name: str) -> None:
        """Raise `SchemaError` if there is too much to describe."""
        if self._seen.nodes > PLACES:
            reason = (
                f"no schema can be inferred: the rows have more than {PLACES:,} "
                "different keys, counted by their places"
            )
            raise SchemaError(name, reason)

    def result(self) -> InferredSchema:
        """Return the schema of what was read. Raises `SchemaError` without a row."""
        report = self._tally.report()
        if self._redaction is not None:
            report = self._redaction.report(report)
        rows = self._seen.count
        if not report.ok:
            return InferredSchema(None, rows, report)
        if not rows:
            name = report.files[0].path if report.files else "the input"
            raise SchemaError(name, "there are no rows to infer a schema from")
        files = len(self._names)
        of = self._names[0] if files == 1 else f"{files:,} files"
        schema = schema_of(self._seen, self._options, f"Rows of {of}")
        return InferredSchema(schema, rows, report)

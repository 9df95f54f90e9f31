"""Check a file against its companion, another file that describes its records."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import PurePath
from typing import Any

from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    FramingFault,
    is_blank,
    with_nulls,
)
from harpia_formats.files.framing.columns import (
    DocumentFrame,
    DocumentFrames,
    DocumentHeader,
    NumberedRecord,
    decoded_or_none,
    numbered_records,
)
from harpia_formats.files.framing.container import open_container
from harpia_formats.files.io.inputs import RereadableSource
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.recognize import recognize
from harpia_formats.formats.detection.sample import without_compression
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    framing_of,
    sample_file,
)
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.format import (
    Companion,
    Container,
    FileSummary,
    Remark,
    Totals,
)
from harpia_formats.validation.dedup.digests import Digests, digest_of
from harpia_formats.validation.dedup.identity import as_integer, key_text
from harpia_formats.validation.dedup.repeated_digests import missing_digest_batches
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.one_file import ValidatedFile
from harpia_formats.validation.options import CompanionError, Options
from harpia_formats.validation.plan.units import Demand
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import Findings


@dataclass(frozen=True, slots=True)
class CompanionFile:
    """A file that other files are checked against, read in its parts."""

    path: str
    #: The id of its format.
    format: str
    #: Its document without its records, as text with its place and decoded.
    header: DocumentHeader
    document: dict[str, Any]
    #: Digests of the ids of its records.
    ids: Digests
    #: Whether some of its records cannot be read, so that it may have other ids, too.
    has_unread: bool


def read_companion_file(source: Source, options: Options) -> CompanionFile:
    """Read a file that other files are checked against, without holding its records.

    Raises `SourceError` if it cannot be read, and `CompanionError` if it is in no known
    format or not valid JSON.
    """
    limit = options.max_row_bytes
    formats = tuple(all_formats().values())
    with open_source(source) as reader:
        beginning = sample_file(open_container(reader), limit, formats, source.name)
        variant = recognize(beginning.sample, formats).variant
        if variant is None:
            raise CompanionError(source.name, "is in no known format")
        cut = framing_of(variant, beginning.sample.layout)
        return _companion_file(
            source.name, beginning.frames(cut, variant), cut, variant
        )


def read_validated_companion(validated: ValidatedFile) -> CompanionFile:
    """Read a file that was validated, and that other files are checked against.

    Raises `CompanionError` if it is not valid JSON.
    """
    name, cut = validated.source.name, validated.plan.cut
    return _companion_file(name, validated.frames(), cut, validated.variant)


def _companion_file(
    name: str, frames: DocumentFrames, cut: Framing, variant: FormatVariant
) -> CompanionFile:
    """Return the companion file called `name` of these frames.

    Raises `CompanionError` if it is not valid JSON.
    """
    ids, key = Digests(), variant.format.id_key
    header, has_unread = None, False
    for frame in frames:
        if isinstance(frame, DocumentHeader):
            header = frame
        elif isinstance(frame, Chunk):
            if cut is Framing.VALUES:
                header = header or _whole(frame)
            if key:
                rows = (row for row in frame.rows if not is_blank(row))
                values = list(map(decoded_or_none, rows))
                has_unread |= None in values
                ids.add([text for value in values for text in _id_of(value, key)])
        else:
            has_unread |= _hides_records(frame)
    document = None
    if header is not None:
        reads_nan = variant.dialect.reads_nan
        document = decoded_or_none(
            with_nulls(header.text) if reads_nan else header.text
        )
    if header is None or document is None:
        raise CompanionError(name, "is not valid JSON: validate it first")
    if cut is Framing.VALUES and variant.dialect.container is Container.ROWS:
        document = None  # there is nothing around the records
    if not isinstance(document, dict):
        document = {}
    return CompanionFile(name, variant.format.id, header, document, ids, has_unread)


def _hides_records(frame: DocumentFrame) -> bool:
    """Tell whether records cannot be read here, or an array is cut off between two."""
    return isinstance(frame, FramingFault) and (
        frame.record or frame.kind == "unclosed"
    )


def _whole(chunk: Chunk) -> DocumentHeader:
    """Return the first row of `chunk` as the document of a file."""
    return DocumentHeader(chunk.rows[0], ((0, chunk.start),))


def _id_of(value: Any, key: str) -> list[str]:
    """Return the id that `value` has at `key`, as text, in a list; [] without one."""
    found = as_integer(value.get(key)) if key and isinstance(value, dict) else None
    is_id = isinstance(found, (str, int))
    return [key_text((found,), by_text=True)] if is_id else []


def companion_findings(
    validated: ValidatedFile,
    companion_file: CompanionFile,
    demand: Callable[[], Demand],
) -> Iterator[Findings]:
    """Yield the findings on a file that disagrees with its companion, by record.

    Problems that `demand` does not need are only counted. The records that disagree
    are counted as invalid.
    """
    companion = validated.companion
    if companion is None or companion.format != companion_file.format:
        return
    expected = companion.expect(companion_file.document)
    if companion.of_file is not None:
        name = PurePath(validated.source.name).name
        expected = companion.of_file(expected, without_compression(name))
    collector = validated.collector(demand)
    is_asked = any(code in collector.rules for code in companion.totals_codes)
    is_linted = any(code in collector.rules for code in companion.row_lint_codes)
    check = _Check(
        validated,
        companion_file,
        companion,
        expected,
        Digests(),
        collector,
        companion.totals(expected) if companion.totals and is_asked else None,
        companion.row_lint if is_linted else None,
    )
    with check.references:
        yield from check.records()
        # A record that is not valid JSON may be one that would be reported as missing;
        # an empty file has a problem of its own.
        if (
            validated.whole
            and check.count
            and not (check.broken and companion.counts_names)
        ):
            yield from check.closing()
        yield from check.unknown_references()
        yield from check.file_lints()


@dataclass(slots=True)
class _Check:
    """The state of the comparison of one file with its companion."""

    validated: ValidatedFile
    companion_file: CompanionFile
    companion: Companion
    #: What the companion states about the file, as its format reads it.
    expected: Any
    #: Digests of the ids that its records refer to.
    references: Digests
    collector: Collector
    #: Adds up the records, None if no rule needs it.
    totals: Totals | None
    #: Yields the findings of lints on a record, None if no rule needs them.
    row_lint: Callable[[Any, Mapping[str, Any]], Iterator[Remark]] | None = None
    count: int = 0
    names: list[str] = field(default_factory=list)
    #: Where the first record begins.
    start: Cursor | None = None
    #: Whether some records do not parse.
    broken: bool = False

    def records(self) -> Iterator[Findings]:
        """Yield the findings on records that disagree with the companion."""
        for record in self._records():
            self.start = self.start or record.start
            self.count = record.number
            value = record.value()
            if not isinstance(value, dict):
                self.broken = True
                continue
            self.names += self.companion.names(value)
            self.references.add(_id_of(value, self.companion.refers_by))
            if self.totals is not None:
                self.totals.add(value)
            for remark in self.companion.remarks(self.expected, value):
                yield self._of_record(record, value, remark)
            if self.row_lint is not None:
                for remark in self.row_lint(self.expected, value):
                    yield self._of_record(record, value, remark)

    def closing(self) -> Iterator[Findings]:
        """Yield the findings on the whole file that disagrees with the companion."""
        seen = FileSummary(self.count, tuple(self.names), self._digest())
        remarks = self.companion.closing(self.expected, seen)
        # What the records are that do not parse is not known.
        totals = self.totals if not self.broken else None
        for remark in chain(remarks, totals.remarks() if totals else ()):
            if self.companion.closing_there:
                self._add(remark, self._row_of_companion())
            else:
                place = self.collector.place(self.start or Cursor())
                self.collector.add(remark.code, remark.message, remark.help, place)
            yield self.collector.take()

    def unknown_references(self) -> Iterator[Findings]:
        """Yield the findings on records that refer to a record the companion lacks."""
        remark_on = self.companion.no_such_record
        if remark_on is None or self.companion_file.has_unread:
            return
        known = self.companion_file.ids
        for missing in missing_digest_batches(self.references, known):
            for record in self._records():
                value = record.value()
                for text in _id_of(value, self.companion.refers_by):
                    if digest_of(text) in missing:
                        yield self._of_record(record, value, remark_on())

    def file_lints(self) -> Iterator[Findings]:
        """Yield what lints find in the counts of the file, by what is expected."""
        validated = self.validated
        if not validated.counts:
            return
        from harpia_formats.validation.merge.whole_file import (  # noqa: PLC0415 - only with lints: start-up time
            file_remarks,
            placed_findings,
        )
        from harpia_formats.validation.unit.selected_lints import selected_lints  # noqa: PLC0415 - only with lints: start-up time

        lints = selected_lints(validated.variant, self.collector.rules)
        files = lints.files if lints is not None else ()
        remarks = file_remarks(files, validated.counts, self.expected)
        rows = ((self._row(record, value), value) for record, value in self._decoded())
        yield placed_findings(remarks, rows, self.collector)

    def _decoded(self) -> Iterator[tuple[NumberedRecord, Any]]:
        return ((record, record.value()) for record in self._records())

    def _row(self, record: NumberedRecord, value: Any) -> RowContext:
        id_key, name = self.validated.format.id_key, self.collector.name
        return RowContext(name, record.text, record.start, record.number, value, id_key)

    def _records(self) -> Iterator[NumberedRecord]:
        """Yield the records that were validated."""
        found = numbered_records(self.validated.frames())
        return takewhile(lambda record: record.number <= self.validated.until, found)

    def _digest(self) -> str | None:
        """Return the checksum of the file's bytes, None if the companion has none."""
        algorithm = self.companion.algorithm(self.expected)
        if not algorithm:
            return None
        digest = hashlib.new(algorithm, usedforsecurity=False)
        for block in RereadableSource(self.validated.source).blocks():
            digest.update(block)
        return digest.hexdigest()

    def _of_record(
        self, record: NumberedRecord, value: Any, remark: Remark
    ) -> Findings:
        """Return a remark on a record as a finding, and count the record."""
        collector = self.collector
        if remark.code not in collector.rules:
            return Findings()
        if collector.is_error(remark.code):
            self.validated.outcomes.add_invalid(record.number)
        self._add(remark, self._row(record, value))
        return collector.take()

    def _add(self, remark: Remark, row: RowContext) -> None:
        """Add a remark on a row, if its rule is active."""
        if remark.code in self.collector.rules:
            finding = Finding(remark.code, 0, remark, row.value)
            self.collector.add_findings([finding], lambda _: row, schema=True)

    def _row_of_companion(self) -> RowContext:
        """Return the document of the companion as a row."""
        header = self.companion_file.header
        start, value = header.pieces[0][1], self.companion_file.document
        return RowContext(
            self.companion_file.path,
            header.text,
            start,
            None,
            value,
            pieces=header.pieces,
        )

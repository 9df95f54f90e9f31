"""Validate a document without its records."""

from collections.abc import Iterator, Mapping

import msgspec

from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    may_have_constants,
    with_nulls,
)
from harpia_formats.model.format import Dialect
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.plan.units import DocumentRest
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.constants import with_constants
from harpia_formats.validation.unit.findings import UnitResult
from harpia_formats.validation.unit.row_validator import RowValidator
from harpia_formats.validation.unit.validators import FileValidators


def validate_document(
    unit: DocumentRest, validators: FileValidators, collector: Collector
) -> UnitResult:
    """Validate a document whose large arrays are left empty.

    Its problems go to `collector`.
    """
    variant, header = validators.variant, unit.header
    assert variant is not None  # noqa: S101 - only files of a known format have a header
    validator = validators.header_validator()
    dialect, text = variant.dialect, header.text
    if dialect.reads_nan and may_have_constants(text):
        text = with_nulls(text)
    findings = header_findings(text, validator, dialect, unit.lengths, unit.records)
    if text != header.text:
        findings = with_constants(header.text, findings, collector)
    active = [finding for finding in findings if finding.code in collector.rules]
    errors = [finding for finding in active if collector.is_error(finding.code)]
    stopped = validators.options.fail_fast and bool(errors)
    if stopped:
        active = active[: active.index(errors[0]) + 1]

    def row_of(finding: Finding) -> RowContext:
        start, pieces = header.pieces[0][1], header.pieces
        return RowContext(
            collector.name, header.text, start, None, finding.value, pieces=pieces
        )

    collector.add_findings(active, row_of, validators.schema)
    return UnitResult(stopped=stopped)


def header_findings(
    text: bytes,
    validator: RowValidator,
    dialect: Dialect,
    lengths: Mapping[Path, int],
    records: int = 0,
) -> list[Finding]:
    """Return what is wrong with the text of a document without its records.

    `lengths` has the number of items of each column; `records` is that of records.
    """
    findings = validator.validate(Chunk(text, Cursor(), [text])).findings
    if any(finding.is_fault for finding in findings):  # no value has a place in it
        return findings
    counted = _of_count(dialect, text, records)
    return [*findings, *_of_lengths(dialect, lengths), *counted]


def _of_count(dialect: Dialect, text: bytes, records: int) -> Iterator[Finding]:
    """Yield what is wrong with the number of records in the text of a document."""
    if dialect.count_remarks is not None:
        document = msgspec.json.decode(text)
        for remark in dialect.count_remarks(document, records):
            yield Finding(remark.code, 0, remark, document)


def _of_lengths(dialect: Dialect, lengths: Mapping[Path, int]) -> Iterator[Finding]:
    """Yield what is wrong with the lengths of columns."""
    if dialect.lengths is not None:
        for remark in dialect.lengths(lengths):
            yield Finding(remark.code, 0, remark)

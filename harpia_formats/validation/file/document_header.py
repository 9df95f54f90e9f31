"""What is wrong with a document around its records, and with how many there are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.model.format import Dialect
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.file.row_validator import Judge

if TYPE_CHECKING:
    from collections.abc import Iterator


def header_findings(
    text: bytes, judge: Judge, dialect: Dialect, lengths: Mapping[Path, int]
) -> list[Finding]:
    """Return what is wrong with a document whose large arrays are left empty.

    `lengths` says how many items each column has.
    """
    findings = judge.judge(Chunk(text, Cursor(), [text])).findings
    if any(each.is_fault for each in findings):  # nothing has a place in it
        return findings
    return [*findings, *_of_lengths(dialect, lengths)]


def _of_lengths(dialect: Dialect, lengths: Mapping[Path, int]) -> "Iterator[Finding]":
    if dialect.lengths is not None:
        for each in dialect.lengths(lengths):
            yield Finding(each.code, 0, each)

"""Convert rows of one format to rows of another, many at once: the pure core of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harpia_formats.conversion.record_steps import RecordSteps
from harpia_formats.conversion.written_rows import WrittenRowCheck
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.record_program import Outcome, RecordProgram
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import FIELD_TYPES
from harpia_formats.reading.record_stream import ReadRow, reader_of
from harpia_formats.registry import adapter_of

#: Types of fields whose values have no number with a text of its own.
_exact_types = frozenset({str, int, bool, type(None)})
#: The fates before mapping of records that no step changes; nothing is added to them.
NO_FATES = FieldFates()
_text_lists = frozenset({"references", "choices", "contexts"})


@dataclass(frozen=True, slots=True)
class ConvertedBatch:
    """The rows that a batch became, and what became of the fields."""

    rows: list[Row]
    #: The rows as JSON, each with a newline behind it.
    lines: bytes
    #: What became of the fields, with the index of the first record and the number of
    #: records that it became of.
    outcomes: list[tuple[Outcome, int, int]]
    records: int


@dataclass(slots=True)
class BatchConverter:
    """Converts the rows of one file in batches.

    What it remembers changes its speed and never its results.
    """

    variant: FormatVariant
    mapper: RecordMapper
    steps: RecordSteps
    check: WrittenRowCheck
    _read: ReadRow = field(init=False)
    _program: RecordProgram = field(init=False)
    _keeps_floats: bool = field(init=False)
    _has_steps: bool = field(init=False)

    def __post_init__(self) -> None:
        source = adapter_of(self.variant.format)
        self._read = reader_of(source, self.variant)
        self._program = RecordProgram(self.mapper)
        self._has_steps = self.steps != RecordSteps()
        self._keeps_floats = may_write_floats(
            source, self.mapper.target, self.mapper.choices
        )

    def rows_in(self, chunk: Chunk, values: Sequence[Any]) -> Iterator[Row]:
        """Yield the rows of `chunk`, which a typed decoder decoded as `values`.

        They are decoded again where a number must keep its text, such as 1e2.
        """
        if self._keeps_floats:
            return map(decode, chunk.rows)
        return map(msgspec.to_builtins, values)

    def convert(self, rows: Iterable[Row], before: int) -> ConvertedBatch | None:
        """Return what `rows` become, the first of which is record `before` + 1.

        None if one of them cannot be converted, or would not be valid.
        """
        written: list[Row] = []
        found: dict[Outcome, list[int]] = {}
        read, program, number = self._read, self._program, before
        try:
            for row in rows:
                number += 1
                record, fates = read(row), NO_FATES
                if self._has_steps:
                    fates = FieldFates()
                    record = self.steps.before_grouping(record, fates)
                    record = self.steps.after_grouping(record, number, fates)
                new_rows, outcome = program.map(record, number, fates)
                written += new_rows
                count = found.get(outcome)
                if count is None:
                    found[outcome] = [number - before - 1, 1]
                else:
                    count[1] += 1
        except Unconvertible:
            return None
        lines = self.check.valid_lines(written)
        if lines is None:
            return None
        outcomes = [
            (outcome, first, times) for outcome, (first, times) in found.items()
        ]
        return ConvertedBatch(written, lines, outcomes, number - before)


def may_write_floats(
    source: FormatAdapter, target: FormatAdapter, choices: Choices
) -> bool:
    """Tell whether a row may have a float that the row of its record had.

    Only the exact decoder keeps the text of a float.
    """
    if choices.keep_extra or source.vendor == target.vendor:
        return True
    paths = {mapping.record_path for mapping in source.fields} | source.other_paths
    is_chat = target.capacity.messages or target.capacity.turns
    if is_chat and paths & {"messages", "outputs.turns"}:
        return True
    return any(
        target.carries(path)
        for path in paths
        if path not in _text_lists
        and not _exact_types.issuperset(FIELD_TYPES.get(path, (object,)))
    )

"""Convert rows of one format to rows of another, many at once: the pure core of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct

from harpia_formats.conversion.destination import RecordSteps, WrittenRowCheck
from harpia_formats.conversion.mapping.direct_read import (
    DirectRead,
    direct_read,
    extra_keys,
    may_write_floats,
)
from harpia_formats.conversion.mapping.extra_fields import ReadRow
from harpia_formats.conversion.mapping.record_program import (
    NO_OUTCOMES,
    RecordOutcome,
    RecordProgram,
    WholeRecord,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Record, field_paths


class ConvertedBatch(Struct, frozen=True):
    """The rows that a batch became, and what became of the fields."""

    rows: list[Row]
    #: The rows as JSON, each with a newline behind it.
    lines: bytes
    #: What became of the fields, with the index of the first record and the number of
    #: records that it became of.
    record_outcomes: list[tuple[RecordOutcome, int, int]]
    records: int


class BatchConverter(Struct, dict=True):
    """Converts the rows of one file in batches.

    What it remembers changes its speed and never its results.
    """

    variant: FormatVariant
    #: Returns the record of a row of the file.
    read: ReadRow
    #: What stands around the rows.
    around: Mapping[str, Any]
    mapper: RecordMapper
    steps: RecordSteps
    check: WrittenRowCheck
    #: The decoder of the last rows, and what reads its rows directly.
    _decoder: TypedDecoder | None = None
    _direct: DirectRead | None = None

    @cached_property
    def _program(self) -> RecordProgram:
        return RecordProgram(self.mapper)

    @cached_property
    def _has_steps(self) -> bool:
        return self.steps != RecordSteps()

    @cached_property
    def _can_read_directly(self) -> bool:
        """Whether no step changes a record, and no row is put into another shape."""
        is_plain = not self._has_steps and self.mapper.scorer is None
        normalizers = adapter_of(self.variant.format).dialect_normalizers
        return is_plain and self.variant.dialect.name not in normalizers

    @cached_property
    def _is_exact(self) -> bool:
        """Whether the text of numbers and the order of keys count in all rows."""
        if self.steps.hashes_ids:
            return True
        source, mapper = adapter_of(self.variant.format), self.mapper
        return may_write_floats(source, mapper.target, mapper.choices)

    @cached_property
    def _extra_keys(self) -> tuple[bytes, ...]:
        return extra_keys(adapter_of(self.variant.format), self.mapper.target)

    def learn_from(self, other: "BatchConverter") -> None:
        """Use what `other`, of a file before in the same conversion, has compiled.

        Compiling the function that reads rows takes as long as converting some ten
        rows, which counts in many small files.
        """
        is_same = (
            self.variant == other.variant
            and self.mapper is other.mapper
            and self._can_read_directly == other._can_read_directly  # noqa: SLF001 - of this class
            and self.around == other.around
        )
        if is_same:
            self._decoder, self._direct = other._decoder, other._direct  # noqa: SLF001 - of this class

    def convert_decoded(
        self, chunk: Chunk, values: Sequence[Any], decoder: TypedDecoder, before: int
    ) -> ConvertedBatch | None:
        """Return what the rows of `chunk` become, which `decoder` decoded as `values`.

        The first is record `before` + 1. None if one of them cannot be converted, or
        would not be valid.
        """
        direct = self._direct_for(decoder)
        if direct is None:
            return self._collected(self._mapped_in(chunk, values, before))
        return self._collected(self._mapped_directly(chunk, values, direct, before))

    def convert(self, rows: Iterable[Row], before: int) -> ConvertedBatch | None:
        """Return what `rows` become, the first of which is record `before` + 1.

        None if one of them cannot be converted, or would not be valid.
        """
        return self._collected(self._mapped(rows, before))

    def _mapped_in(
        self, chunk: Chunk, values: Sequence[Any], before: int
    ) -> Iterator[tuple[list[Row], RecordOutcome]]:
        """Yield the rows of each row of `chunk`, and what became of its fields.

        A typed decoder decoded them as `values`. They are decoded again where a number
        must keep its text, such as 1e2. Raises `Unconvertible`.
        """
        has_extra = any(
            stringzilla.find(chunk.data, key) >= 0 for key in self._extra_keys
        )
        if self._is_exact or has_extra:
            # One by one: all at once, they took longer to decode and to map.
            return self._mapped(map(decode, chunk.rows), before)

        def whole(number: int) -> Record:
            record = self.read(decode(chunk.rows[number - before - 1]))
            return self._after_steps(record, number, FieldOutcomes())

        return self._mapped(map(msgspec.to_builtins, values), before, whole)

    def _direct_for(self, decoder: TypedDecoder) -> DirectRead | None:
        """Return the function that reads rows of `decoder` directly, if any."""
        if decoder is not self._decoder:
            self._decoder, self._direct = decoder, None
            if self._can_read_directly:
                mapper = self.mapper
                source = adapter_of(self.variant.format)
                self._direct = direct_read(
                    source, mapper.target, mapper.choices, decoder, self.around
                )
        return self._direct

    def _mapped(
        self, rows: Iterable[Row], before: int, whole: WholeRecord | None = None
    ) -> Iterator[tuple[list[Row], RecordOutcome]]:
        """Yield the rows of each of `rows`, and what became of its fields.

        `whole` is given if the keys of `rows` have another order than in the file.
        Raises `Unconvertible`.
        """
        read, program, number = self.read, self._program, before
        for row in rows:
            number += 1
            record, outcomes = read(row), NO_OUTCOMES
            if self._has_steps:
                outcomes = FieldOutcomes()
                record = self._after_steps(record, number, outcomes)
            yield program.map(record, number, outcomes, whole)

    def _after_steps(
        self, record: Record, number: int, outcomes: FieldOutcomes
    ) -> Record:
        """Return a record after the steps of the options, which note `outcomes`."""
        if not self._has_steps:
            return record
        record = self.steps.before_grouping(record, outcomes)
        return self.steps.after_grouping(record, number, outcomes)

    def _mapped_directly(
        self, chunk: Chunk, values: Sequence[Any], direct: DirectRead, before: int
    ) -> Iterator[tuple[list[Row], RecordOutcome]]:
        """Yield the rows of each of `values`, and what became of its fields.

        Raises `Unconvertible`.
        """
        program, number = self._program, before

        def whole(number: int) -> Record:
            return self.read(decode(chunk.rows[number - before - 1]))

        def nulls_of(number: int) -> Mapping[str, bool]:
            return field_paths(whole(number), self.mapper.owners)

        for found in direct.records(chunk, values):
            number += 1
            if found is None:
                yield program.map(whole(number), number, NO_OUTCOMES)
            else:
                record, key = found
                yield program.map_needed(record, number, key, nulls_of)

    def _collected(
        self, mapped: Iterator[tuple[list[Row], RecordOutcome]]
    ) -> ConvertedBatch | None:
        """Return the batch of all rows and outcomes, None if it cannot be written."""
        written: list[Row] = []
        found: list[RecordOutcome] = []
        try:
            for rows, record_outcome in mapped:
                written += rows
                found.append(record_outcome)
        except Unconvertible:
            return None
        lines = self.check.valid_lines(written)
        if lines is None:
            return None
        first = dict(zip(reversed(found), range(len(found) - 1, -1, -1), strict=True))
        record_outcomes = [
            (record_outcome, first[record_outcome], times)
            for record_outcome, times in Counter(found).items()
        ]
        return ConvertedBatch(written, lines, record_outcomes, len(found))

"""Convert batches of rows that a typed decoder accepted, mostly by templates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

from harpia_formats.conversion.fast.row_template import RowTemplate
from harpia_formats.conversion.fast.row_templates import RowTemplates
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_fates import FieldFate, Unconvertible
from harpia_formats.model.record import OPEN_OBJECTS, TEXT_LISTS
from harpia_formats.reading.record_stream import read_record
from harpia_formats.schema.load import Schema
from harpia_formats.schema.typed_decoder import TypedDecoder
from harpia_formats.validation.unit.row_validator import RowValidator

#: Fields whose inner values a template cannot move.
_deep = frozenset(
    {
        *OPEN_OBJECTS,
        *(TEXT_LISTS - {"references"}),
        "outputs.attribution",
        "outputs.token_usage",
        "outputs.performance",
    }
)
_structured = frozenset({"messages", "outputs", "outputs.turns"})

#: The paths and fates of records that have the same ones, the index of the first such
#: record in its batch, and their number; 0 where a template counts them.
BatchFates = tuple[tuple[str, ...], tuple[FieldFate, ...], int, int]


@dataclass(slots=True)
class ConvertedBatch:
    """The rows that a batch became, and what became of the fields."""

    rows: list[Row]
    fates: list[BatchFates]


@dataclass(slots=True)
class BatchConverter:
    """Converts the rows of one file in batches."""

    variant: FormatVariant
    source: FormatAdapter
    mapper: RecordMapper
    templates: RowTemplates | None = None
    #: The values whose members were counted last, and their templates.
    _counted_values: Sequence[Any] = ()
    _counted_templates: list[RowTemplate] = field(default_factory=list)
    #: What the templates for earlier decoders converted.
    _earlier: list[tuple[tuple[str, ...], tuple[FieldFate, ...], int]] = field(
        default_factory=list
    )

    def copy_templates(self, other: "BatchConverter") -> None:
        """Take over the templates of another converter for the same conversion."""
        if other.templates is not None:
            self.templates = other.templates.unused_copy()

    def convert(
        self, values: Sequence[Any], decoder: TypedDecoder, schema: Schema, before: int
    ) -> ConvertedBatch | None:
        """Return the rows of `values`, which `decoder` accepted.

        `before` is the number of records before them. None if one of them cannot be
        converted.
        """
        templates = self._templates_for(decoder, schema)
        if templates is None:
            return None
        try:
            return self._convert(values, templates, before)
        except Unconvertible:
            return None

    def count_members_for(self, validator: RowValidator) -> None:
        """Let `validator` count members by the shapes of rows, which is faster."""
        validator.count_members = lambda rows, decoder: self.members_in(
            rows, decoder, validator.decoder_schema
        )

    def members_in(
        self, values: Sequence[Any], decoder: TypedDecoder, schema: Schema
    ) -> int:
        """Return how many members `values` have, which `decoder` accepted.

        The templates that are found by that are kept for `convert`.
        """
        templates = self._templates_for(decoder, schema)
        if templates is None:
            return sum(map(decoder.members, values))
        self._counted_values = values
        self._counted_templates, members = templates.templates_for(values)
        return members

    def _templates_for(
        self, decoder: TypedDecoder, schema: Schema
    ) -> RowTemplates | None:
        """Return the templates for rows of a decoder, None if there can be none."""
        templates = self.templates
        if templates is None or templates.decoder is not decoder:
            if not isinstance(schema, dict):
                return None
            templates = RowTemplates(decoder, schema, self.source, self.convert_row)
            # `counted` includes what was kept of still earlier decoders.
            self._earlier = list(self.counted())
            self.templates = templates
        return templates

    def _convert(
        self, values: Sequence[Any], row_templates: RowTemplates, before: int
    ) -> ConvertedBatch:
        rows: list[Row] = []
        found: list[BatchFates] = []
        used: list[RowTemplate] = []
        templates = self._counted_templates
        if self._counted_values is not values:
            templates, _ = row_templates.templates_for(values)
        # What is no longer held is memory for the next values.
        self._counted_values, self._counted_templates = (), []
        for number, value, first in zip(
            count(before + 1), values, templates, strict=False
        ):
            template = first
            try:
                made = template.make(value, number)
                if made is None:
                    template, made = row_templates.convert_by_another(
                        template, value, number
                    )
            except (LookupError, AttributeError, TypeError):
                # The row is built unlike the one that the template was made of.
                made = None
            if made is None:
                try:
                    new_rows, paths, fates = self.convert_row(
                        msgspec.to_builtins(value), number
                    )
                except Unconvertible:
                    # The caller converts all of these rows, and counts them, itself.
                    for template in used:
                        template.count -= 1
                    raise
                found.append((paths, fates, number - before - 1, 1))
                rows += new_rows
                continue
            if template.count == 0:
                # At once, so that the first record is known; counted at the end.
                found.append((template.paths, template.fates, number - before - 1, 0))
            template.count += 1
            used.append(template)
            rows += made
        return ConvertedBatch(rows, found)

    def counted(self) -> Iterator[tuple[tuple[str, ...], tuple[FieldFate, ...], int]]:
        """Yield paths, fates and new records of each template since the last call."""
        yield from self._earlier
        self._earlier = []
        if self.templates is None:
            return
        for template in self.templates.all_templates():
            if template.count:
                yield template.paths, template.fates, template.count
                template.count = 0

    def convert_row(
        self, value: Row, number: int
    ) -> tuple[list[Row], tuple[str, ...], tuple[FieldFate, ...]]:
        """Return the rows of one row, the paths of its fields and their fates.

        Raises `Unconvertible`.
        """
        record = read_record(value, self.source, self.variant)
        mapped = self.mapper.map(record, number)
        return mapped.rows, mapped.paths, mapped.fates


def can_batch(source: FormatAdapter, target: FormatAdapter, choices: Choices) -> bool:
    """Tell whether templates can find the fates of all rows of `source`."""
    if target.vendor == source.vendor or target.carries("extra"):
        return False
    # The extra fields of other vendors may decide on anything.
    if source.carries("extra") or source.carries("outputs.extra"):
        return False
    # A template writes the keys of the row that it is made of.
    if source.has_data_keys or target.has_data_keys:
        return False
    if choices.keep_extra or choices.model is not None:
        return False
    record_paths = {mapping.record_path for mapping in source.fields}
    if any(target.carries(path) for path in record_paths & _deep):
        return False
    is_chat = target.capacity.messages or target.capacity.turns
    return not (is_chat and record_paths & _structured)

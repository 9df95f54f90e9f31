"""Convert many rows at once that a typed decoder accepted, by plans if they can."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

from harpia_formats.conversion.fast.plan import Plan
from harpia_formats.conversion.fast.plans import Express
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_fates import FieldFate, Unconvertible
from harpia_formats.model.record import OPEN_OBJECTS, TEXT_LISTS
from harpia_formats.reading.record_stream import read_record
from harpia_formats.schema.load import Schema
from harpia_formats.schema.typed_decoder import TypedDecoder
from harpia_formats.validation.file.row_validator import Judge

#: Fields whose inner values a plan cannot look into.
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


#: Paths and notes of like records, the first of them, and how many there are; 0 where
#: a plan counts them.
Told = tuple[tuple[str, ...], tuple[FieldFate, ...], int, int]


@dataclass(slots=True)
class Made:
    """The rows of some records, and what is to be counted of them."""

    rows: list[Row]
    shapes: list[Told]


@dataclass(slots=True)
class Bulk:
    """The conversion of the rows of one file, many at a time."""

    variant: FormatVariant
    source: FormatAdapter
    mapper: RecordMapper
    express: Express | None = None
    #: Values that were looked at last, and their plans.
    _looked_at: Sequence[Any] = ()
    _plans: list[Plan] = field(default_factory=list)
    #: What plans for earlier decoders were followed for.
    _settled: list[tuple[tuple[str, ...], tuple[FieldFate, ...], int]] = field(
        default_factory=list
    )

    def follow(self, other: "Bulk") -> None:
        """Take over the plans of another one for the same conversion."""
        if other.express is not None:
            self.express = other.express.afresh()

    def made(
        self, values: Sequence[Any], decoder: TypedDecoder, schema: Schema, before: int
    ) -> Made | None:
        """Return the rows of `values`, which `decoder` accepted.

        `before` is the number of records before them. None if one of them cannot be
        converted.
        """
        express = self._express_for(decoder, schema)
        if express is None:
            return None
        try:
            return self._made(values, express, before)
        except Unconvertible:
            return None

    def help(self, judge: Judge) -> None:
        """Have a judge count the members of rows by their shapes, which is faster."""
        judge.count_members = lambda rows, decoder: self.members_in(
            rows, decoder, judge.decoder_schema
        )

    def members_in(
        self, values: Sequence[Any], decoder: TypedDecoder, schema: Schema
    ) -> int:
        """Return how many members `values` have, which `decoder` accepted.

        What is found out by that is of use to `made`.
        """
        express = self._express_for(decoder, schema)
        if express is None:
            return sum(map(decoder.members, values))
        self._looked_at = values
        self._plans, members = express.plans_for(values)
        return members

    def _express_for(self, decoder: TypedDecoder, schema: Schema) -> Express | None:
        """Return the plans for rows that a decoder accepted, if there can be some."""
        express = self.express
        if express is None or express.decoder is not decoder:
            if not isinstance(schema, dict):
                return None
            express = Express(decoder, schema, self.source, self.ordinary)
            # All that was settled before is among what is counted.
            self._settled = list(self.counted())
            self.express = express
        return express

    def _made(self, values: Sequence[Any], express: Express, before: int) -> Made:
        rows: list[Row] = []
        told: list[Told] = []
        followed: list[Plan] = []
        plans = self._plans
        if self._looked_at is not values:
            plans, _ = express.plans_for(values)
        # What is not held any more is memory for the next values.
        self._looked_at, self._plans = (), []
        for number, value, first in zip(count(before + 1), values, plans, strict=False):
            plan = first
            try:
                made = plan.make(value, number)
                if made is None:
                    plan, made = express.by_another(plan, value, number)
            except (LookupError, AttributeError, TypeError):
                # The row is built unlike the one that the plan was made of; the
                # ordinary way takes it as it is.
                made = None
            if made is None:
                try:
                    found, paths, fates = self.ordinary(
                        msgspec.to_builtins(value), number
                    )
                except Unconvertible:
                    # All of these rows go another way, and are counted there.
                    for each in followed:
                        each.count -= 1
                    raise
                told.append((paths, fates, number - before - 1, 1))
                rows += found
                continue
            if plan.count == 0:
                # Said at once, so that the first record is known; counted at the end.
                told.append((plan.paths, plan.fates, number - before - 1, 0))
            plan.count += 1
            followed.append(plan)
            rows += made
        return Made(rows, told)

    def counted(self) -> Iterator[tuple[tuple[str, ...], tuple[FieldFate, ...], int]]:
        """Yield paths and notes of what plans were followed for, and how often."""
        yield from self._settled
        self._settled = []
        for plan in self.express.all_plans() if self.express is not None else ():
            if plan.count:
                yield plan.paths, plan.fates, plan.count
                plan.count = 0

    def ordinary(
        self, value: Row, number: int
    ) -> tuple[list[Row], tuple[str, ...], tuple[FieldFate, ...]]:
        """Return the rows of one row, the paths of its fields and the notes on them."""
        record = read_record(value, self.source, self.variant)
        written = self.mapper.map(record, number)
        return written.rows, written.paths, written.fates


def suits_bulk(source: FormatAdapter, target: FormatAdapter, choices: Choices) -> bool:
    """Tell whether plans can say all that is to be said of rows of `source`."""
    if target.vendor == source.vendor or target.carries("extra"):
        return False
    # What is kept of other vendors may decide on anything.
    if source.carries("extra") or source.carries("outputs.extra"):
        return False
    if choices.keep_extra or choices.model is not None:
        return False
    # A plan writes the keys of the first row that it is made of.
    if source.has_data_keys or target.has_data_keys:
        return False
    record_paths = {each.record_path for each in source.fields}
    if any(target.carries(each) for each in record_paths & _deep):
        return False
    is_chat = target.capacity.messages or target.capacity.turns
    return not (is_chat and record_paths & _structured)

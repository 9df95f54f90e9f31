"""The program that maps records to rows of one format, for many records.

It does what `RecordMapper.map` does, which is its specification. What is the same for
all records of a pair of formats is decided once, and what becomes of the fields of a
record is computed once for all records that have the same fields and the same outcomes.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from harpia_formats.conversion.mapping.chats import fit_chats
from harpia_formats.conversion.mapping.compiled_fields import Code, PresenceKeys
from harpia_formats.conversion.mapping.extra_fields import (
    lost_fields,
    store_extras,
    stored_outcomes,
)
from harpia_formats.conversion.mapping.fields import compiled
from harpia_formats.conversion.mapping.fit import (
    fit_record,
    fit_scores,
    unfitted_check,
)
from harpia_formats.conversion.mapping.preparation import of_outputs
from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER, RecordMapper
from harpia_formats.model.adapter import Cardinality, Row, RowCapacity
from harpia_formats.model.field_outcomes import FieldOutcome, FieldOutcomes
from harpia_formats.model.record import Record, field_paths

#: Returns a record with all that it is given, its parts, and the row of each.
RowsOf = Callable[[Record, int, FieldOutcomes], tuple[Record, list[Record], list[Row]]]


def unsplit_checks(capacity: RowCapacity) -> Iterator[str]:
    """Yield the expressions that are true of a record that becomes one row with all.

    Where all are, `fit_record` does only what `fit_chats` does.
    """
    if capacity.references is Cardinality.ONE:
        yield "(not record.references or len(record.references) == 1)"
    if capacity.outputs in {Cardinality.ONE, Cardinality.MANY_OF_ONE_MODEL}:
        yield "len(outputs) <= 1"
    if capacity.scores is Cardinality.ONE:
        has_one = "not outputs[0].scores or len(outputs[0].scores) == 1"
        yield f"(len(outputs) != 1 or {has_one})"


def same_chats_checks(capacity: RowCapacity) -> Iterator[str]:
    """Yield the expressions that are true of a record that `fit_chats` returns."""
    if not capacity.messages:
        yield "record.messages is UNSET"
    is_answered = capacity.messages or capacity.outputs is not Cardinality.NONE
    if not capacity.turns and is_answered:
        yield f"not {of_outputs('turns')}"


def compile_rows(mapper: RecordMapper) -> RowsOf:
    """Return the function that returns the rows of a record, as the mapper does.

    Most records need no preparation, and most become one row. The function decides on
    these in its own lines: with a call for each step, rows took a third longer to map
    (pairs of `benchmarks/convert.py`).
    """
    target, choices = mapper.target, mapper.choices
    write = compiled(target.writer)

    def fitted(
        record: Record, number: int, outcomes: FieldOutcomes
    ) -> tuple[Record, list[Record], list[Row]]:
        record = with_id(record, number, outcomes)
        named = record if carries_id else replace(record, id=UNSET)
        parts = list(fit_record(named, target.capacity, choices, outcomes))
        if mapper.scorer is not None:
            parts = [mapper.scored(part, outcomes) for part in parts]
        return record, parts, [write(part, outcomes) for part in parts]

    def with_id(record: Record, number: int, outcomes: FieldOutcomes) -> Record:
        if not needs_id or record.id is not UNSET or mapper.has_id(record):
            return record
        outcomes.defaulted("id", ID_IS_NUMBER)
        return replace(record, id=str(number))

    needs_id, carries_id = mapper.needs_id, target.carries("id")
    code = Code({"fit_scores": fit_scores, "fit_chats": fit_chats, "UNSET": UNSET})
    code.names |= {"CAPACITY": target.capacity, "CHOICES": choices}
    code.names |= {"MODEL": choices.model, "completed": mapper.completed}
    code.names |= {"prepared": mapper.prepared}
    code.names |= {"fitted": fitted, "with_id": with_id, "write": write}
    _add_preparation(code, mapper)
    if mapper.scorer is None:
        checks = [*unsplit_checks(target.capacity)]
        lines = ["part = record"]
        if needs_id:
            lines = ["if record.id is UNSET:"]
            lines += ["    record = with_id(record, number, outcomes)", "part = record"]
        if chats := [*same_chats_checks(target.capacity)]:
            lines.append(f"if not ({' and '.join(chats)}):")
            lines.append("    part = fit_chats(record, CAPACITY, CHOICES, outcomes)")
        lines.append("return record, [part], [write(part, outcomes)]")
        code.block(f"if {' and '.join(checks) or True}:", *lines)
    code.add("return fitted(record, number, outcomes)")
    return code.function("rows_of(record, number, outcomes)")


def _add_preparation(code: Code, mapper: RecordMapper) -> None:
    """Add the lines that prepare a `record` and set its `outputs`."""
    if mapper.fits_scores:
        code.add("outputs = record.outputs")
        fit = "record = fit_scores(record, CAPACITY, CHOICES, outcomes)"
        code.block(f"if not ({unfitted_check(mapper.choices)}):", fit)
    if mapper.constants:
        code.add("record = completed(record, outcomes)")
    code.add("outputs = record.outputs")
    if mapper.unprepared_checks:
        lines = ["record = prepared(record, outcomes)", "outputs = record.outputs"]
        code.block(f"if not ({' and '.join(mapper.unprepared_checks)}):", *lines)


Item = TypeVar("Item")

#: Outcomes of records that are kept, so that memory is bounded; a record with one more
#: is evaluated by itself. Files with so many different sets of keys are rare.
MAX_RECORD_OUTCOMES = 2_000

#: The outcomes before mapping of records that no step changes; nothing is added to
#: them.
NO_OUTCOMES = FieldOutcomes()
#: Returns the record with a number in its file.
WholeRecord = Callable[[int], Record]
#: Returns the `field_paths` of the same, with the owners of the source.
NullsOf = Callable[[int], Mapping[str, bool]]


class KnownTuple(tuple[Item, ...]):  # noqa: SLOT001 - it holds its hash
    """A tuple that computes its hash once, in each process.

    It is for outcomes of records, which are counted for each batch of rows and
    hold some fifty paths and outcomes of fields.
    """

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class RecordOutcome(Struct, frozen=True, eq=False):
    """What became of the fields of records that have the same fields and outcomes.

    It is compared and hashed by its identity.
    """

    #: The paths of the fields, and the outcomes of those that do not arrive unchanged.
    paths: tuple[str, ...]
    outcomes: tuple[FieldOutcome, ...]
    #: The fields that are stored as extra fields of the rows.
    stored: tuple[str, ...] = ()


@dataclass(slots=True)
class RecordProgram:
    """Maps records of one source to rows, as its mapper does."""

    mapper: RecordMapper
    #: The most outcomes of records that are kept.
    limit: int = MAX_RECORD_OUTCOMES
    _record_outcomes: dict[Hashable, RecordOutcome] = field(default_factory=dict)
    _presence: PresenceKeys = field(init=False)
    _rows_of: RowsOf = field(init=False)
    _stores_extras: bool = field(init=False)
    _may_leave_out: bool = field(init=False)

    def __post_init__(self) -> None:
        mapper = self.mapper
        self._presence = PresenceKeys(mapper.owners)
        self._rows_of = compile_rows(mapper)
        self._stores_extras = mapper.stores_extras
        self._may_leave_out = mapper.choices.metric is not None

    def map(
        self,
        record: Record,
        number: int,
        before: FieldOutcomes,
        whole: WholeRecord | None = None,
    ) -> tuple[list[Row], RecordOutcome]:
        """Return the rows of `record`, and what became of its fields.

        `number` is its id if it needs one; `before` has the outcomes that were noted
        before. If `record` has the keys of open objects in another order than its row,
        `whole` returns the record with a number in that order. The rows are not
        checked. Raises `Unconvertible` where the mapper does, maybe with another
        reason.
        """
        if self._may_leave_out and self.mapper.leaves_out(record):
            found = self.mapper.left_out(record)
            return [], RecordOutcome(found.paths, found.outcomes)
        outcomes = FieldOutcomes()
        final, parts, rows = self._rows_of(record, number, outcomes)
        # None stands between what was noted before, which is not evaluated, and now.
        key = self._presence.of(record), *before.entries, None, *outcomes.entries
        record_outcome = self._record_outcomes.get(key)
        if record_outcome is None:
            answered = bool(final.outputs)
            first = record if whole is None else whole(number)
            nulls = field_paths(first, self.mapper.owners)
            record_outcome = self._record_outcome(
                nulls, before, outcomes, answered=answered
            )
            self._keep(key, record_outcome)
        if self._stores_extras:
            stored = self.mapper.stored_record(record, final)
            store_extras(stored, parts, rows, self.mapper.target, record_outcome.stored)
        return rows, record_outcome

    def rows_of(self, record: Record) -> list[Row]:
        """Return the rows of `record`, whose outcomes are not asked for.

        Raises `Unconvertible` as `map` does.
        """
        return self._rows_of(record, 0, FieldOutcomes())[2]

    def map_needed(
        self, needed: Record, number: int, presence: Hashable, nulls_of: NullsOf
    ) -> tuple[list[Row], RecordOutcome]:
        """Return the rows of a record that has the fields that they need.

        `presence` is a key that is the same for records with the same paths, such as
        the one that `direct_read` returns. `nulls_of` returns those of the whole record
        with a number, which is asked only for a record with fields or outcomes that no
        other one had. Raises `Unconvertible` as `map` does.
        """
        outcomes = FieldOutcomes()
        final, _, rows = self._rows_of(needed, number, outcomes)
        key = presence, None, *outcomes.entries
        record_outcome = self._record_outcomes.get(key)
        if record_outcome is None:
            answered = bool(final.outputs)
            nulls = nulls_of(number)
            record_outcome = self._record_outcome(
                nulls, NO_OUTCOMES, outcomes, answered=answered
            )
            self._keep(key, record_outcome)
        return rows, record_outcome

    def _keep(self, key: Hashable, record_outcome: RecordOutcome) -> None:
        """Keep the outcome of a record for others with its key, within the limit."""
        if len(self._record_outcomes) < self.limit:
            self._record_outcomes[key] = record_outcome

    def _record_outcome(
        self,
        nulls: Mapping[str, bool],
        before: FieldOutcomes,
        outcomes: FieldOutcomes,
        *,
        answered: bool,
    ) -> RecordOutcome:
        """Return what becomes of the fields with paths `nulls`, given `outcomes`."""
        complete = self.mapper.complete_outcomes(
            nulls, outcomes.entries, answered=answered
        )
        stored: tuple[str, ...] = ()
        if self._stores_extras:
            stored, complete = lost_fields(complete), stored_outcomes(complete)
        entries = dict.fromkeys((*before.entries, *complete))
        return RecordOutcome(KnownTuple(nulls), KnownTuple(entries), stored)

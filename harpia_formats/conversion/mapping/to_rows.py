"""Map records to rows of a format, and note what becomes of their fields."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from harpia_formats.conversion.mapping.chats import SYSTEM_OF_MESSAGES
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.compiled_fields import VERDICTS, lacking
from harpia_formats.conversion.mapping.extra_fields import (
    lost_fields,
    store_extras,
    stored_outcomes,
)
from harpia_formats.conversion.mapping.field_constants import Completion
from harpia_formats.conversion.mapping.fields import compiled
from harpia_formats.conversion.mapping.fit import (
    LEFT_OUT,
    can_list_scored,
    fit_record,
    fit_scores,
    needs_fitting,
    refuse_joint_score,
    scores_left_out,
)
from harpia_formats.conversion.mapping.preparation import Preparation
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row, at_path
from harpia_formats.model.describe import short_json
from harpia_formats.model.field_outcomes import (
    BLANK,
    OF_OTHERS,
    FieldOutcome,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
from harpia_formats.model.record import (
    FIELD_TYPES,
    SYSTEM_MESSAGE,
    Record,
    field_paths,
)

_extra = "extra"
_numbers = frozenset({int, float})
_lossy = frozenset({Outcome.DROPPED, Outcome.MERGED})
_system_given = FieldOutcome(Outcome.DEFAULTED, "system", SYSTEM_OF_MESSAGES)


@dataclass(frozen=True, slots=True)
class Misfits:
    """The fields of a source whose text is kept in the extra if it is no number."""

    vendor: str = ""
    #: The path in the record of each field that holds numbers, by that in the extra.
    _fields: dict[str, str] = field(default_factory=dict)

    def note(
        self, paths: tuple[str, ...], target: FormatAdapter, outcomes: FieldOutcomes
    ) -> None:
        """Note what becomes of such texts in a record with `paths`.

        A target of the same vendor writes them back to their places.
        """
        if not self._fields or self.vendor == target.vendor:
            return
        for path in filter(paths.__contains__, self._fields):
            if target.carries(path):
                outcomes.changed(path, "is not a number, kept as text in extra")
            else:
                outcomes.dropped(path, "is not a number")

    def refuse(self, error: Unconvertible, record: Record) -> None:
        """Raise `Unconvertible` if `error` is that a field is such a text."""
        paths = field_paths(record)
        for path, record_path in self._fields.items():
            if record_path == error.path and path in paths and record.extra:
                name = path.removeprefix(f"{_extra}.{self.vendor}.")
                value = record.extra[self.vendor][name]
                reason = f"{short_json(value)} in `{name}` is not a number"
                help_ = (
                    "mend it in the input, or leave such records out with "
                    "`--on-invalid skip`"
                )
                raise Unconvertible(error.path, reason, help_) from error


NO_MISFITS = Misfits()


def misfits_of(source: FormatAdapter) -> Misfits:
    """Return the fields of a table that hold numbers, whose cells may be other text."""
    if not source.columns:
        return NO_MISFITS
    fields = {
        f"{_extra}.{source.vendor}.{known.name}": known.record_path
        for known in source.fields
        if _numbers & {*FIELD_TYPES.get(known.record_path, ())}
    }
    return Misfits(source.vendor, fields)


#: The detail of the outcome of an id that is the number of its record.
ID_IS_NUMBER = "is the number of the record"
#: Paths whose answer is kept, since members of open objects can have any names.
MAX_CACHED = 10_000
#: Returns a record with scores for its answers that have none.
Scorer = Callable[[Record, FieldOutcomes], Record]

#: Fields whose own path tells whether a record had them; others have members.
_whole_fields = frozenset(FIELD_TYPES) - {
    "params",
    "metadata",
    "extra",
    "outputs.extra",
}


class MappedRecord(Struct):
    """The rows of one record, with the paths and the outcomes of its fields."""

    rows: list[Row]
    paths: tuple[str, ...]
    outcomes: tuple[FieldOutcome, ...]


class _Lost(dict[str, FieldOutcome | None]):
    """The outcome of each path without a place in rows, None if they have one."""

    def __init__(self, target: FormatAdapter) -> None:
        super().__init__()
        self._carries = target.carries

    def __missing__(self, path: str) -> FieldOutcome | None:
        found = None
        if path == SYSTEM_MESSAGE:
            found = FieldOutcome(Outcome.DROPPED, path, "a row has no place for it")
        elif not self._carries(path):
            found = FieldOutcome(Outcome.DROPPED, path)
        if len(self) < MAX_CACHED:
            self[path] = found
        return found


@dataclass(slots=True)
class RecordMapper:
    """Maps records to rows of one format.

    Raises `TypeError` if the format is read-only.
    """

    target: FormatAdapter
    choices: Choices
    scorer: Scorer | None = None
    #: Raises `Unconvertible` for a row that is not valid in the format.
    check: Callable[[Row], None] | None = None
    #: The paths in an extra of objects whose members have outcomes of their own
    #: (`FormatAdapter.extra_owners` of the source).
    owners: frozenset[str] = frozenset()
    #: Why members of rows of the source are not kept (`FormatAdapter.not_kept`).
    not_kept: Mapping[str, str] = field(default_factory=dict)
    #: The fields of the source whose text is kept in the extra if it is no number.
    misfits: Misfits = NO_MISFITS
    _carried: dict[str, bool] = field(default_factory=dict)
    #: Values for fields that a record lacks and the format has a place for.
    constants: dict[str, Any] = field(default_factory=dict)
    #: Whether records are rows of the format itself.
    _is_own: bool = False
    #: The adapter and the choices as they were given.
    _given: tuple[FormatAdapter, Choices] = field(init=False)
    #: Returns records with the constants for fields that they lack.
    completed: Callable[[Record, FieldOutcomes], Record] = field(init=False)
    #: Changes records before they are fitted to rows.
    prepared: Callable[[Record, FieldOutcomes], Record] = field(init=False)
    #: Expressions that are true of a record that it leaves as it is.
    unprepared_checks: tuple[str, ...] = field(init=False)
    #: Whether scores are chosen or completed.
    fits_scores: bool = field(init=False)
    _write: Callable[[Record, FieldOutcomes], Row] = field(init=False)
    _lost: _Lost = field(init=False)

    def __post_init__(self) -> None:
        self._given = self.target, self.choices
        if self.choices.keep_extra and self.target.with_own_extra is not None:
            self.target = self.target.with_own_extra
        preparation = Preparation(self.target, self.choices)
        self.prepared = preparation.prepared
        self.unprepared_checks = (*preparation.unprepared_checks,)
        self._write = compiled(self.target.writer)
        self._lost = _Lost(self.target)
        self.fits_scores = needs_fitting(self.target.capacity, self.choices)
        constants = self.choices.constants.items()
        self.constants = {
            path: value for path, value in constants if self.target.carries(path)
        }
        capacity, model = self.target.capacity, self.choices.model
        self.completed = Completion(self.constants, capacity, model).complete

    def take_rows_of(self, source: FormatAdapter, *, joined: bool = False) -> None:
        """Map records that were read by `source`, or are `joined` from several rows."""
        target, choices = self._given
        self._is_own = source is target and not joined
        is_list = target.capacity.outputs is Cardinality.MANY_OF_ONE_MODEL
        if choices.keeps_own_lists and self._is_own and is_list:
            choices = replace(choices, responses=Responses.LIST)
        self.choices = choices

    @property
    def needs_id(self) -> bool:
        """Whether a row must have an id."""
        return any(
            field.record_path == "id" and field.required for field in self.target.fields
        )

    def map(self, record: Record, number: int = 0) -> MappedRecord:
        """Return the rows of `record`, with `number` as its id if it needs one.

        It has none without a score of the chosen metric, if it has others. Raises
        `Unconvertible` where the format or the choices do not allow a row.
        """
        if self.leaves_out(record):
            return self.left_out(record)
        outcomes, given = FieldOutcomes(), record
        nulls = field_paths(record, self.owners)
        paths = tuple(nulls)
        if self.fits_scores:
            record = fit_scores(record, self.target.capacity, self.choices, outcomes)
        if self.constants:
            record = self.completed(record, outcomes)
        record = self.prepared(record, outcomes)
        if number and self.needs_id and not self.has_id(record):
            record = replace(record, id=str(number))
            outcomes.defaulted("id", ID_IS_NUMBER)
        # An id that is not written needs no number for each row.
        named = record if self._carries("id") else replace(record, id=UNSET)
        parts = list(fit_record(named, self.target.capacity, self.choices, outcomes))
        if self.scorer is not None:
            # Each answer is scored with the references of its own row.
            parts = [self.scored(part, outcomes) for part in parts]
        try:
            rows = self._rows_of(parts, len(record.outputs), outcomes)
        except Unconvertible as error:
            self.misfits.refuse(error, record)
            raise self._without_given(error, record) from error
        answered = bool(record.outputs)
        complete = self.complete_outcomes(nulls, outcomes.entries, answered=answered)
        if self.stores_extras:
            lost, stored = lost_fields(complete), self.stored_record(given, record)
            store_extras(stored, parts, rows, self.target, lost)
            complete = stored_outcomes(complete)
        if self.check is not None:
            for row in rows:
                self.check(row)
        return MappedRecord(rows, paths, tuple(dict.fromkeys(complete)))

    def scored(self, part: Record, outcomes: FieldOutcomes) -> Record:
        """Return the record of a row with a score, of the first if answers share it."""
        assert self.scorer is not None  # noqa: S101 - asked before
        if len(part.outputs) < 2 or not can_list_scored(self.target.capacity):  # noqa: PLR2004 - several
            return self.scorer(part, outcomes)
        first = self.scorer(replace(part, outputs=part.outputs[:1]), outcomes)
        return replace(part, outputs=[*first.outputs, *part.outputs[1:]])

    def _without_given(self, error: Unconvertible, record: Record) -> Unconvertible:
        """Return an error without the advice to give what is given already.

        What is given for answers is of no use to a record that has none: then it is the
        answer that is lacking.
        """
        scored = self.scorer is not None
        given = {*self.constants, *(VERDICTS if scored else ())}
        rest = [field for field in error.fields if field.record_path not in given]
        if len(rest) == len(error.fields):
            return error
        texts = [one for one in self.target.fields if one.record_path == "outputs.text"]
        if record.outputs or not texts:
            return lacking(error.fields, error.path, scored=scored)
        return lacking([*rest, texts[0]], "outputs.text", scored=scored)

    def leaves_out(self, record: Record) -> bool:
        """Tell whether a record has scores, and only of metrics not chosen."""
        return scores_left_out(record, self.choices)

    def left_out(self, record: Record) -> MappedRecord:
        """Return no rows and the outcome of the scores of a record that is left out."""
        nulls = field_paths(record, self.owners)
        paths = tuple(path for path in nulls if path.startswith("outputs.scores"))
        outcome = FieldOutcome(Outcome.DROPPED, "outputs.scores", LEFT_OUT)
        return MappedRecord([], paths, (outcome,))

    @property
    def stores_extras(self) -> bool:
        """Whether fields that would be lost are stored in the rows."""
        return self.choices.keep_extra and self.target.extras_path is not None

    def stored_record(self, given: Record, final: Record) -> Record:
        """Return the record whose fields are stored in rows that would lose them.

        It is `given` with the values that were added to make `final` of it, and with
        what was not chosen, such as the scores of other filters.
        """
        outcomes = FieldOutcomes()
        if self.fits_scores:
            choices = replace(self.choices, metric=None)
            given = fit_scores(given, self.target.capacity, choices, outcomes)
        if self.constants:
            given = self.completed(given, outcomes)
        return replace(given, id=final.id)

    def complete_outcomes(
        self,
        nulls: Mapping[str, bool],
        entries: Iterable[FieldOutcome],
        *,
        answered: bool,
    ) -> list[FieldOutcome]:
        """Return the outcomes of all fields of a record, given the `entries` so far.

        `nulls` tells of each field that the record had whether it was null, and
        `answered` whether it has an output. Nothing else of the record counts.
        """
        paths, outcomes = tuple(nulls), FieldOutcomes([*entries])
        self.misfits.note(paths, self.target, outcomes)
        self._note_dropped(paths, outcomes)
        if self._is_own:
            # Rows of the format have the key, so that nothing is added.
            outcomes.entries = [
                entry
                for entry in outcomes.entries
                if entry.outcome is not Outcome.DEFAULTED or entry.how != BLANK
            ]
        _note_nulls(nulls, outcomes)
        no_outputs = self.target.capacity.outputs is Cardinality.NONE
        if no_outputs and answered and not _has_output_field(paths):
            outcomes.dropped("outputs")
        return outcomes.entries

    def _rows_of(
        self, parts: Sequence[Record], answers: int, outcomes: FieldOutcomes
    ) -> list[Row]:
        """Return the row of each part of a record with a number of `answers`.

        Raises `Unconvertible`.
        """
        rows: list[Row] = []
        for part in parts:
            try:
                rows.append(self._write(part, outcomes))
            except Unconvertible as error:
                refuse_joint_score(error, outcomes)
                if not rows or not error.path.startswith("outputs.scores"):
                    raise
                reason = (
                    f"the record does not have a score for each of its {answers} "
                    "answers, and a row holds one answer"
                )
                help_ = "`--responses first` keeps the first one, with its score"
                raise Unconvertible(error.path, reason, help_) from error
        return rows

    def has_id(self, record: Record) -> bool:
        """Tell whether a record has an id, or keeps one such as 3.0 for the format."""
        if record.id is not UNSET:
            return True
        if record.extra is UNSET or self.target.vendor not in record.extra:
            return False
        extra = record.extra[self.target.vendor]
        return any(
            mapping.record_path == "id"
            and mapping.codec is None
            and isinstance(at_path(extra, mapping.path), float)
            for mapping in self.target.fields
        )

    def _note_dropped(self, paths: tuple[str, ...], outcomes: FieldOutcomes) -> None:
        """Note fields without a place; remove outcomes of fields filled in vain."""
        is_system_lost = _system_given in outcomes.entries and not self._carries(
            "system"
        )
        filled = {
            entry
            for entry in outcomes.entries
            if entry.outcome in _lossy
            and entry.path not in paths
            and entry.path in _whole_fields
        }
        # What was filled in for all answers stays in one of them.
        in_vain = {entry.path for entry in filled if entry.how != OF_OTHERS}
        outcomes.entries = [
            entry
            for entry in outcomes.entries
            if entry not in filled
            and entry.path not in in_vain
            and (entry.outcome is not Outcome.DEFAULTED or self._carries(entry.path))
        ]
        if not self.owners.isdisjoint([entry.path for entry in outcomes.entries]):
            self._name_members(paths, outcomes)
        noted = {entry.path for entry in outcomes.entries}
        # What becomes of the other messages is noted for all of them.
        (noted.discard if is_system_lost else noted.add)(SYSTEM_MESSAGE)
        lost = self._outcome_if_lost if self.not_kept else self._lost.__getitem__
        outcomes.entries += [
            outcome for path in paths if path not in noted and (outcome := lost(path))
        ]

    def _outcome_if_lost(self, path: str) -> FieldOutcome | None:
        """Return the outcome of a field at `path` that is not kept or has no place."""
        if path in self.not_kept:
            return FieldOutcome(Outcome.DROPPED, path, self.not_kept[path])
        return self._lost[path]

    def _name_members(self, paths: tuple[str, ...], outcomes: FieldOutcomes) -> None:
        """Note what becomes of an object in an extra for each of its members."""
        entries = []
        for entry in outcomes.entries:
            inner = [entry.path]
            if entry.path in self.owners:
                start = f"{entry.path}."
                inner = [path for path in paths if path.startswith(start)] or inner
            entries += [FieldOutcome(entry.outcome, path, entry.how) for path in inner]
        outcomes.entries = entries

    def _carries(self, path: str) -> bool:
        known = self._carried.get(path)
        if known is None:
            known = self.target.carries(path)
            if len(self._carried) < MAX_CACHED:
                self._carried[path] = known
        return known


def _note_nulls(nulls: Mapping[str, bool], outcomes: FieldOutcomes) -> None:
    """Note fields that were dropped, and were null, as nulls that are left out.

    `nulls` tells of each field that the record had whether it was null.
    """
    if True in nulls.values():
        outcomes.entries = [
            FieldOutcome(Outcome.NULL, entry.path, entry.how)
            if entry.outcome is Outcome.DROPPED and nulls.get(entry.path)
            else entry
            for entry in outcomes.entries
        ]


def _has_output_field(paths: tuple[str, ...]) -> bool:
    """Tell whether some output has a field, whose own outcome tells that it is lost."""
    return any(path.startswith("outputs.") for path in paths)

"""Turn records into rows of another format, and note what they lose by it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.extras import store_extras
from harpia_formats.mapping.fit import fit_record
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates
from harpia_formats.model.record import FIELD_TYPES, Output, Record, Score, field_paths

#: What is said of an id that is the number of its record.
ID_IS_NUMBER = "is the number of the record"
#: Gives scores to the answers of a record that have none.
Scorer = Callable[[Record, FieldFates], Record]

#: Fields that are told of as a whole, so that it is known whether a record had them.
_told_whole = frozenset(FIELD_TYPES) - {"params", "metadata", "extra", "outputs.extra"}


@dataclass(slots=True)
class MappedRecord:
    """The rows of one record, with the fields that it had and the notes on them."""

    rows: list[Row]
    paths: tuple[str, ...]
    fates: tuple[FieldFate, ...]


@dataclass(slots=True)
class RecordMapper:
    """The way from records into rows of one format.

    Raises `TypeError` if the format is read-only.
    """

    target: FormatAdapter
    choices: Choices
    scorer: Scorer | None = None
    _carried: dict[str, bool] = field(default_factory=dict)
    #: What records get that lack it, as far as there is a place for it.
    _constants: dict[str, Any] = field(default_factory=dict)
    _write: Callable[[Record, FieldFates], Row] = field(init=False)

    def __post_init__(self) -> None:
        self._write = self.target.writer
        constants = self.choices.constants.items()
        self._constants = {
            path: value for path, value in constants if self.target.carries(path)
        }

    @property
    def needs_id(self) -> bool:
        """Whether a row must have an id."""
        return any(
            each.record_path == "id" and each.required for each in self.target.fields
        )

    def map(self, record: Record, number: int = 0) -> MappedRecord:
        """Return the rows of `record`, whose `number` is its id where it needs one.

        Raises `Unconvertible` where it cannot be said in the format, or is not to.
        """
        fates = FieldFates()
        paths = tuple(field_paths(record))
        if self._constants:
            turns = self.target.capacity.turns
            record = with_constants(record, self._constants, fates, turns=turns)
        if number and record.id is UNSET and self.needs_id:
            record = replace(record, id=str(number))
            fates.defaulted("id", ID_IS_NUMBER)
        # An id that is not written need not tell rows apart.
        named = record if self._carries("id") else replace(record, id=UNSET)
        parts = list(fit_record(named, self.target.capacity, self.choices, fates))
        if self.scorer is not None:
            # An answer is compared with the references that stand beside it.
            parts = [self.scorer(each, fates) for each in parts]
        rows = [self._write(each, fates) for each in parts]
        self._note_dropped(paths, fates)
        if self.target.capacity.outputs is Cardinality.NONE and record.outputs:
            _drop_bare_outputs(paths, fates)
        if self.choices.keep_extra:
            store_extras(record, parts, rows, self.target, fates)
        return MappedRecord(rows, paths, tuple(dict.fromkeys(fates.entries)))

    def _note_dropped(self, paths: tuple[str, ...], fates: FieldFates) -> None:
        """Note what has no place, and forget what was filled in for nothing."""
        lost = {Fate.DROPPED, Fate.MERGED}
        passed_by = {
            each.path
            for each in fates.entries
            if each.fate in lost and each.path not in paths and each.path in _told_whole
        }
        fates.entries = [
            each
            for each in fates.entries
            if each.path not in passed_by
            and (each.fate is not Fate.DEFAULTED or self._carries(each.path))
        ]
        told = {each.path for each in fates.entries}
        for path in paths:
            if path not in told and not self._carries(path):
                fates.dropped(path)

    def _carries(self, path: str) -> bool:
        known = self._carried.get(path)
        if known is None:
            known = self.target.carries(path)
            if len(self._carried) < 10_000:  # noqa: PLR2004 - keys may be anything
                self._carried[path] = known
        return known


def _drop_bare_outputs(paths: tuple[str, ...], fates: FieldFates) -> None:
    """Note that answers are dropped of which nothing else says so."""
    if not any(each.startswith("outputs.") for each in paths):
        fates.dropped("outputs")


def with_constants(
    record: Record, constants: Mapping[str, Any], fates: FieldFates, *, turns: bool
) -> Record:
    """Return `record` with constants for the fields that it lacks.

    `turns` tells whether a row holds a conversation in the place of a text.
    """
    own: dict[str, Any] = {}
    of_outputs: dict[str, Any] = {}
    of_scores: dict[str, Any] = {}
    for path, value in constants.items():
        if path.startswith("outputs.scores."):
            of_scores[path.removeprefix("outputs.scores.")] = value
        elif path.startswith("outputs."):
            of_outputs[path.removeprefix("outputs.")] = value
        elif path.partition(".")[0] in {"params", "metadata"}:
            _complete_member(record, own, path, value, fates)
        elif getattr(record, path) is UNSET or getattr(record, path) == []:
            own[path] = _said(path, value, fates)
    outputs = record.outputs
    if not outputs and "text" in of_outputs:
        fates.defaulted("outputs", "--set")
        outputs = [Output()]
    if of_outputs or of_scores:
        outputs = [
            _completed_output(each, of_outputs, of_scores, fates, turns=turns)
            for each in outputs
        ]
    return replace(record, **own, outputs=outputs)


def _complete_member(
    record: Record, own: dict[str, Any], path: str, value: Any, fates: FieldFates
) -> None:
    name, _, key = path.partition(".")
    members = own.get(name, getattr(record, name))
    if members is UNSET or key not in members:
        own[name] = {**({} if members is UNSET else members), key: value}
        fates.defaulted(path, "--set")


def _is_answered(output: Output) -> bool:
    """Tell whether the conversation that came of it holds an answer."""
    said = (each for each in output.turns or () if each.get("role") == "assistant")
    return any(each.get("content") is not None for each in said)


def _completed_output(
    output: Output,
    own: Mapping[str, Any],
    of_scores: Mapping[str, Any],
    fates: FieldFates,
    *,
    turns: bool,
) -> Output:
    # A conversation is an answer without a text of its own.
    answered = {"text"} if output.turns and (turns or _is_answered(output)) else set()
    changes = {
        name: _said(f"outputs.{name}", value, fates)
        for name, value in own.items()
        if getattr(output, name) is UNSET and name not in answered
    }
    if of_scores:
        scores = output.scores or [Score()]
        changes["scores"] = [
            _completed_score(each, of_scores, fates) for each in scores
        ]
    return replace(output, **changes)


def _completed_score(score: Score, own: Mapping[str, Any], fates: FieldFates) -> Score:
    changes = {
        name: _said(f"outputs.scores.{name}", value, fates)
        for name, value in own.items()
        if getattr(score, name) is UNSET
    }
    return replace(score, **changes)


def _said(path: str, value: Any, fates: FieldFates) -> Any:
    fates.defaulted(path, "--set")
    return value

"""Values that the user gives for fields that records lack: parse and insert them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from harpia_formats.conversion.mapping.chats import (
    asked_in_turns,
    last_text_of,
    takes_questions_of_turns,
)
from harpia_formats.conversion.mapping.fit import can_list_scored, is_scored_together
from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.model.adapter import FormatAdapter, RowCapacity
from harpia_formats.model.exact_json import (
    NOT_JSON,
    NumberOutOfRange,
    decode,
    encode,
)
from harpia_formats.model.field_outcomes import FieldOutcome, FieldOutcomes, Outcome
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import (
    FIELD_TYPES,
    TEXT_LISTS,
    Output,
    Record,
    Score,
    fits,
)
from harpia_formats.model.spelling import hint_on

_words: dict[type, str] = {
    bool: "true or false",
    dict: "an object in JSON",
    float: "a number",
    int: "a number",
    list: "a list in JSON",
    str: "text",
}


def constants_by_path(
    adapter: FormatAdapter, given: Mapping[str, Any], others: Collection[str] = ()
) -> dict[str, Any]:
    """Return the `given` values by the paths of their fields in a record.

    Raises `ConversionError` for an unknown field, for one that is given by two names or
    is one of the `others`, and for a value of another type.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        path = find_field_path(name, adapter)
        if path is None:
            known = list(dict.fromkeys(field.name for field in adapter.fields))
            raise ConversionError(f"no field is called {name!r}{hint_on(name, known)}")
        if path in found or path in others:
            raise ConversionError(f"{name}: the field is set already, by another name")
        try:
            found[path] = parse_constant(path, value)
        except ValueError as error:
            raise ConversionError(f"{name}: {error}") from error
    return found


def check_constants(targets: Sequence[FormatAdapter], given: Mapping[str, Any]) -> None:
    """Raise `ConversionError` if no adapter in `targets` has the given fields."""
    errors = []
    for target in reversed(targets):
        try:
            constants_by_path(target, given)
        except ConversionError as error:
            errors.append(error)
    if len(errors) == len(targets):
        raise errors[0]


def parse_constant(path: str, value: Any) -> Any:
    """Return `value` as a value of the field at `path`.

    For a text field a text stays as it is; for a list of texts it becomes the only
    item; for other fields it is read as JSON. Raises `ValueError` for a wrong type.
    """
    _check_json(value)
    if path not in FIELD_TYPES:
        return _from_json(value) if isinstance(value, str) else value
    types = FIELD_TYPES[path]
    if isinstance(value, str) and str not in types:
        found = _from_json(value)
        if path in TEXT_LISTS and not isinstance(found, list):
            found = [value]
        value = found
    if not fits(path, value):
        names = dict.fromkeys(_words[type_] for type_ in types if type_ in _words)
        raise ValueError(f"{value!r} is not {' or '.join(names)}")
    return value


def _check_json(value: Any) -> None:
    """Raise `ValueError` unless `value` can be written as JSON and read again."""
    try:
        is_same = decode(encode(value)) == value
    except UnicodeEncodeError:
        raise ValueError(f"{value!r} is not text in UTF-8") from None
    except (msgspec.MsgspecError, TypeError, RecursionError) as error:
        raise ValueError(f"{value!r} is no value of JSON: {error}") from error
    if not is_same:
        raise ValueError(f"{value!r} is no value of JSON")


def _from_json(text: str) -> Any:
    """Return the decoded JSON text, or `text` itself if it is not JSON.

    Raises `ValueError` for a number that is out of range.
    """
    try:
        return decode(text.encode())
    except NumberOutOfRange as error:
        raise ValueError(str(error)) from error
    except NOT_JSON:
        return text


def _is_answered(output: Output) -> bool:
    """Tell whether the conversation of an output holds an answer."""
    return any(
        turn.get("role") == "assistant" and turn.get("content") is not None
        for turn in output.turns or ()
    )


#: The name of a field in its struct, its constant, and the outcome of getting that.
_Constant = tuple[str, Any, FieldOutcome]
_no_outputs = FieldOutcome(Outcome.DEFAULTED, "outputs", "`--set`")


class Completion(Struct):
    """Gives records the same constants, by their paths, for fields that they lack.

    What depends on the constants alone is decided once. `capacity` is that of the rows
    that the records become, `model` the only one whose answers they have, if any.
    """

    constants: Mapping[str, Any]
    capacity: RowCapacity
    model: str | None = None
    #: Those of records, each with its key in `params` or `metadata` or None.
    _own: list[tuple[str, str | None, Any, FieldOutcome]] = field(default_factory=list)
    _of_outputs: list[_Constant] = field(default_factory=list)
    _of_scores: list[_Constant] = field(default_factory=list)
    _has_text: bool = False
    _given_model: str | None = None
    #: An output and a score that lack everything, with the constants, and their
    #: outcomes.
    _new_output: Output = field(default_factory=Output)
    _output_outcomes: list[FieldOutcome] = field(default_factory=list)
    _new_score: Score = field(default_factory=Score)
    _score_outcomes: list[FieldOutcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        for path, value in self.constants.items():
            owner, _, name = path.rpartition(".")
            found = name, value, FieldOutcome(Outcome.DEFAULTED, path, "`--set`")
            if owner == "outputs.scores":
                self._of_scores.append(found)
            elif owner == "outputs":
                self._of_outputs.append(found)
            else:
                name, dot, key = path.partition(".")
                self._own.append((name, key if dot else None, *found[1:]))
        self._has_text = "outputs.text" in self.constants
        self._given_model = self.constants.get("outputs.model")
        # Those that lack something mostly lack everything.
        outcomes = FieldOutcomes()
        self._new_score = self._score(Score(), outcomes)
        self._score_outcomes, outcomes.entries = outcomes.entries, []
        self._new_output = self._output(Output(), outcomes)
        self._output_outcomes = outcomes.entries

    def complete(self, record: Record, outcomes: FieldOutcomes) -> Record:
        """Return `record` with the constants for fields that it lacks."""
        changes: dict[str, Any] = {}
        for name, key, value, outcome in self._own:
            held = getattr(record, name)
            if key is not None:
                members = changes.get(name, held) or {}
                if key in members:
                    continue
                changes[name] = {**members, key: value}
            elif (held is UNSET or held == []) and not self._is_asked(name, record):
                # Members may have been set before the object.
                changes[name] = {**value, **changes[name]} if name in changes else value
            else:
                continue
            outcomes.entries.append(outcome)
        outputs = record.outputs
        if not outputs and self._has_text:
            outcomes.entries.append(_no_outputs)
            outcomes.entries += self._output_outcomes
            changes["outputs"] = [self._new_output]
        elif outputs and (self._of_outputs or self._of_scores):
            is_joint = self._are_scored_together(outputs)
            changes["outputs"] = [
                self._output(one, outcomes, is_scored=is_joint)
                if self._is_written(one)
                else one
                for one in outputs
            ]
        return replace(record, **changes) if changes else record

    def _is_written(self, output: Output) -> bool:
        """Tell whether an output is one of the chosen model, or will be."""
        model = self._given_model if output.model is UNSET else output.model
        return self.model in (None, model)

    def _are_scored_together(self, outputs: list[Output]) -> bool:
        """Tell whether a row lists the outputs that it has, with one score of all."""
        own = [*filter(self._is_written, outputs)]
        if len(own) <= 1 or not can_list_scored(self.capacity):
            return False
        # An answer in turns is none of the texts of a list.
        are_texts = not any(one.turns and one.text is UNSET for one in own)
        return are_texts and is_scored_together(own)

    def _is_asked(self, name: str, record: Record) -> bool:
        """Tell whether other fields of a record ask what the field `name` would ask."""
        if name == "messages":
            return record.prompt is not UNSET
        if name != "prompt":
            return False
        if last_text_of(record.messages or [], "user") is not UNSET:
            return True
        return takes_questions_of_turns(self.capacity) and (
            asked_in_turns(record) is not UNSET
        )

    def _output(
        self, output: Output, outcomes: FieldOutcomes, *, is_scored: bool = False
    ) -> Output:
        """Return an output with the constants for fields that it lacks.

        It gets no new score if it `is_scored` together with another one.
        """
        is_answered = output.turns and (self.capacity.turns or _is_answered(output))
        changes: dict[str, Any] = {}
        for name, value, outcome in self._of_outputs:
            if getattr(output, name) is UNSET and not (is_answered and name == "text"):
                changes[name] = value
                outcomes.entries.append(outcome)
        if self._of_scores and output.scores:
            changes["scores"] = [
                self._score(score, outcomes) for score in output.scores
            ]
        elif self._of_scores and not is_scored:
            changes["scores"] = [self._new_score]
            outcomes.entries += self._score_outcomes
        return replace(output, **changes)

    def _score(self, score: Score, outcomes: FieldOutcomes) -> Score:
        """Return a score with the constants for fields that it lacks."""
        changes: dict[str, Any] = {}
        for name, value, outcome in self._of_scores:
            if getattr(score, name) is UNSET:
                changes[name] = value
                outcomes.entries.append(outcome)
        return replace(score, **changes)

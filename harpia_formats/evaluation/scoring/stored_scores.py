"""The scores that the records of a data set have, by metric and question."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.questions import WIDTH, question_key
from harpia_formats.conversion.mapping.select_model import ModelSelection
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.intervals import number_or_none
from harpia_formats.evaluation.scoring.match_questions import QuestionTable
from harpia_formats.evaluation.scoring.nameless_files import with_model
from harpia_formats.evaluation.scoring.system_answers import spilled_numbers
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Score

#: The name of a score that does not name its metric.
UNNAMED = "score"


#: For each metric with each of its signatures ("" for none) two numbers for each
#: score: that of its question, and its value.
StoredValues = dict[str, dict[str, FixedRecords]]


@dataclass(slots=True)
class StoredScores:
    """The scores of one data set by model, metric and question."""

    reading: Reading
    models: ModelSelection
    #: Whether a score without a value counts as 0.
    is_missing_zero: bool
    #: The questions of all data sets.
    questions: QuestionTable
    #: The digests by which their replicates are drawn, one behind the other.
    keys: bytearray
    #: The name of the system of each file that the user names.
    file_names: Mapping[str, str] = field(default_factory=dict)
    #: The numbers of the questions of this one.
    numbers: set[int] = field(default_factory=set)
    #: The scores of each model, "" for answers that name none.
    _values: dict[str, StoredValues] = field(default_factory=dict)
    #: For each metric and signature with a number whether all are true or false.
    are_booleans: dict[tuple[str, str], bool] = field(default_factory=dict)

    def problems(self) -> Generator[Problem, None, None]:
        """Read all scores; yield the problems of the data."""
        yield from self.reading.problems(
            self._add_record, lambda *_: None, lambda _: None
        )
        self.models.check()

    def systems(self) -> dict[str, StoredValues]:
        """Return the scores of each system by its model.

        Answers without a model are of the only model, or beside several a system of
        their own, called "".
        """
        named = [model for model in self._values if model]
        if len(named) == 1 and "" in self._values:
            (model,) = named
            return {model: _together(self._values[model], self._values[""])}
        return dict(self._values) or {"": {}}

    def merge(self, other: Self) -> None:
        """Add the scores of `other`, which names no model either."""
        self.numbers |= other.numbers
        mine = self._values.setdefault("", {})
        _together(mine, other._values.get("", {}))

    @property
    def is_nameless(self) -> bool:
        """Whether it has scores, and none is of an answer that names its model."""
        return list(self._values) == [""]

    def _add_record(self, placed: PlacedRecord) -> None:
        record = with_model(placed.record, placed.path, self.file_names)
        record = self.models.select(record)
        number = self.questions.number_of(record)
        self.numbers.add(number)
        if number * WIDTH == len(self.keys):
            self.keys += question_key(record, number)
        for output in record.outputs:
            for score in output.scores or []:
                if score.value is UNSET:
                    continue
                self._add_score(output.model or "", number, score)

    def _add_score(self, model: str, number: int, score: Score) -> None:
        values = self._values.setdefault(model, {})
        name, value = name_of(score), number_or_none(score.value)
        signature = "" if score.signature is UNSET else score.signature
        if value is not None:
            are_booleans = self.are_booleans.get((name, signature), True)
            are_booleans &= isinstance(score.value, bool)
            self.are_booleans[name, signature] = are_booleans
        elif self.is_missing_zero:
            value = 0.0
        else:
            return
        by_signature = values.setdefault(name, {})
        if signature not in by_signature:
            by_signature[signature] = spilled_numbers()
        by_signature[signature].extend((number, value))


def _together(one: StoredValues, other: StoredValues) -> StoredValues:
    """Return the scores of two systems as those of one."""
    for name, by_signature in other.items():
        mine = one.setdefault(name, {})
        for signature, numbers in by_signature.items():
            if signature in mine:
                mine[signature].extend(numbers.read())
            else:
                mine[signature] = numbers
    return one


def name_of(score: Score) -> str:
    """Return the name of the metric of a score, else that of its evaluation."""
    for name in (score.metric, score.evaluation_name):
        if name is not UNSET:
            return name
    return UNNAMED

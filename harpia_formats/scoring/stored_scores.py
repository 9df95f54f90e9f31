"""The scores that the records of a data set have, by metric and question."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Score
from harpia_formats.reading.placed_record import PlacedRecord
from harpia_formats.reading.reader import Reading
from harpia_formats.scoring.intervals import number_or_none
from harpia_formats.scoring.match_questions import QuestionTable

#: The name of a score that does not name its metric.
UNNAMED = "score"


@dataclass(slots=True)
class StoredScores:
    """The scores of one data set by metric and question."""

    reading: Reading
    models: ModelSelection
    #: Whether a score without a value counts as 0.
    is_missing_zero: bool
    questions: QuestionTable = field(default_factory=QuestionTable)
    #: The names of the models of the outputs with scores.
    scored_models: set[str] = field(default_factory=set)
    #: For each metric with each of its signatures ("" for none) the values of each
    #: question, by its number.
    values: dict[str, dict[str, dict[int, list[float]]]] = field(default_factory=dict)

    def problems(self) -> Generator[Problem, None, None]:
        """Read all scores; yield the problems of the data."""
        yield from self.reading.problems(
            self._add_record, lambda *_: None, lambda _: None
        )
        self.models.check()

    def _add_record(self, placed: PlacedRecord) -> None:
        record = self.models.select(placed.record)
        number = self.questions.number_of(record)
        for output in record.outputs:
            if output.scores and output.model:
                self.scored_models.add(output.model)
            for score in output.scores or []:
                self._add_score(number, score)

    def _add_score(self, number: int, score: Score) -> None:
        name, value = name_of(score), _number_of(score.value)
        if value is None and self.is_missing_zero:
            value = 0.0
        if value is None:
            return
        signature = "" if score.signature is UNSET else score.signature
        by_signature = self.values.setdefault(name, {})
        by_signature.setdefault(signature, {}).setdefault(number, []).append(value)

    def values_of(
        self, name: str, signature: str | None, numbers: Sequence[int]
    ) -> dict[int, list[float]]:
        """Return the scores of one metric by question.

        They are those with this signature, or all of them if it is None. `numbers` has
        for each question its number among those of both data sets, -1 if only one has
        it.
        """
        found: dict[int, list[float]] = {}
        for own, by_question in self.values[name].items():
            if signature not in (None, own):
                continue
            for question, values in by_question.items():
                if numbers[question] >= 0:
                    found.setdefault(numbers[question], []).extend(values)
        return found


def _number_of(value: object) -> float | None:
    """Return the value of a score as a number, None if it is not a number."""
    return None if isinstance(value, bool) else number_or_none(value)


def name_of(score: Score) -> str:
    """Return the name of the metric of a score, else that of its evaluation."""
    for name in (score.metric, score.evaluation_name):
        if name is not UNSET:
            return name
    return UNNAMED

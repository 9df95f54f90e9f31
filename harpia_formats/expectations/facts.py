"""What the records of a data set hold, to propose what is expected of them."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.field_limits import number_of
from harpia_formats.expectations.findings import RecordFindings
from harpia_formats.expectations.prompts import prompt_texts
from harpia_formats.expectations.question_answers import AnswersPerQuestion
from harpia_formats.expectations.record_limits import RecordLimit, is_missing
from harpia_formats.model.report import FileCount

#: Different models and values that are remembered.
_NAMES = 100
#: The fields whose values are counted.
FIELDS = ("category", "source")


@dataclass(slots=True)
class Facts(RecordLimit):
    """Counts over the records of a data set."""

    models: Counter[str] = field(default_factory=Counter)
    outputs: int = 0
    #: Answers as they are counted for `max-missing-answers`.
    answers: int = 0
    missing: int = 0
    #: Characters of the longest prompt.
    longest: int = 0
    #: The values of each field, and whether each record has one.
    values: dict[str, set[str]] = field(
        default_factory=lambda: {name: set() for name in FIELDS}
    )
    always: dict[str, bool] = field(
        default_factory=lambda: dict.fromkeys(FIELDS, True)  # until one has none
    )
    #: The least and the greatest score, None without scores or if some are no numbers.
    scores: tuple[Decimal, Decimal] | None = None
    _has_other_scores: bool = False
    #: How often each model answers each question, 0 if not equally often.
    times: int = 0
    _questions: AnswersPerQuestion = field(
        default_factory=lambda: AnswersPerQuestion(1, (), RecordFindings(1))
    )

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count what a record holds."""
        record = placed.record
        for output in record.outputs:
            name = output.model or ""
            if name in self.models or len(self.models) < _NAMES:
                self.models[name] += 1
        self.outputs += len(record.outputs)
        self.answers += len(record.outputs) or 1
        self.missing += sum(map(is_missing, record.outputs)) + (not record.outputs)
        self.longest = max(self.longest, sum(map(len, prompt_texts(record))))
        for name, values in self.values.items():
            value = getattr(record, name)
            if value is UNSET:
                self.always[name] = False
            elif len(values) < _NAMES:
                values.add(value)
        for output in record.outputs:
            for score in output.scores or ():
                self._take_score(score.value)
        self._questions.take(placed, count)

    def _take_score(self, value: Any) -> None:
        number = number_of(value)
        if number is None or not number.is_finite():
            self._has_other_scores |= value is not UNSET and value is not None
            return
        least, most = self.scores or (number, number)
        self.scores = min(least, number), max(most, number)

    def end(self) -> None:
        """Take that there are no more records."""
        if self.outputs:
            self.times = self._questions.common_times()
        if self._has_other_scores:
            self.scores = None

    def close(self) -> None:
        """Delete temporary files."""
        self._questions.close()

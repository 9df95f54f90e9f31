"""A row for each answer with its own scores, for data frames and pictures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import value_of
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.evaluation.scoring.results.columns import (
    ScoreColumn,
    columns_of,
    values_of,
)
from harpia_formats.evaluation.scoring.results.format import ResultRun
from harpia_formats.evaluation.scoring.scored_answer import ScoredAnswer
from harpia_formats.evaluation.scoring.scores import Scores


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer: where it is, what it belongs to, and its own scores."""

    #: The columns of `as_row` before those of groups and scores.
    columns: ClassVar = ("path", "line", "record", "id", "model", "question", "length")

    #: The file as it is named in problems, and the line of the row from 1.
    path: str
    line: int
    #: The number of the record in its file, from 1, and its id, None if it has none.
    record: int
    id: str | int | None
    #: The model of the answer, None if it is not known.
    model: str | None
    #: A digest that answers to the same question share, also in other files.
    question: str
    #: The number of characters of the answer, None if there is no answer.
    length: int | None
    #: The values of the fields by which answers are grouped.
    key: Mapping[str, str]
    #: The scores by their names, None for each that is missing. That of a metric that
    #: pools the counts of all answers is called `bleu.row`, `chrf.row` or `ter.row`.
    #: Scores of questions and of labels, which no answer alone has, are not there.
    scores: Mapping[str, float | None]

    def as_row(self) -> dict[str, Any]:
        """Return the answer as a row of a table.

        A score that is called like another column has `score.` before its name.
        """
        found = {name: getattr(self, name) for name in self.columns} | dict(self.key)
        taken = frozenset(found)
        for name, value in self.scores.items():
            found[f"score.{name}" if name in taken else name] = value
        return found


@dataclass(slots=True)
class AnswerRows:
    """Collects the rows of a run until they are taken; a `ResultWriter`."""

    #: The scores that an answer alone may have.
    columns: tuple[ScoreColumn, ...] = ()
    by: tuple[str, ...] = ()
    #: Whether an answer alone may have each score of the run.
    _are_of_answers: tuple[bool, ...] = ()
    _rows: list[AnswerRow] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "AnswerRows":
        """Take the metrics and the groups of a run, and return this object."""
        every, self.by = columns_of(run.measured), run.by
        self.columns = tuple(column for column in every if column.is_of_answers)
        self._are_of_answers = tuple(column.is_of_answers for column in every)
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Add the row of an answer."""
        record, output, placed = scored.record, scored.output, scored.placed
        labels = (column.row_label for column in self.columns)
        values = compress(values_of(scored), self._are_of_answers)
        row = AnswerRow(
            path=placed.path,
            line=placed.start.line,
            record=placed.number,
            id=None if record.id is UNSET else record.id,
            model=None if output.model is UNSET else output.model,
            question=question_key(record, scored.record_number).hex(),
            length=None if scored.answer is None else len(scored.answer),
            key={name: value_of(name, record, output) for name in self.by},
            scores=dict(zip(labels, values, strict=True)),
        )
        self._rows.append(row)

    def take(self) -> Iterator[AnswerRow]:
        """Yield the rows that were added since the last call."""
        rows, self._rows = self._rows, []
        yield from rows

    def close(self, scores: Scores) -> None:
        """Do nothing: the rows are taken, and not written."""

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

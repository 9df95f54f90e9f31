"""Scores as rows and columns: for data frames, pictures, and writers of results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import value_of
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.evaluation.metrics.metric import limits_of
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
)
from harpia_formats.evaluation.scoring.results.result_format import Files, ResultRun
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.safe_text import escaped
from harpia_formats.model.vendor_metrics import ROW_LEVEL

#: The most that rounding may add to the best score.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One column of results: a score that each answer may have."""

    #: The name of the score, or `METRIC.SCORE` if several metrics use the name.
    label: str
    #: The name of the metric in `harpia_formats.evaluation.metrics`.
    metric: str
    signature: str
    scale: str
    #: Whether a score of many answers is not the mean of the scores of answers.
    is_pooled: bool
    #: Whether a lower score is better.
    lower_is_better: bool
    #: Whether its value for one answer means right or wrong.
    is_binary: bool
    #: Whether a score can be the best, as no length is.
    has_best: bool
    #: Whether an answer alone may have it, and not only a question or many answers.
    is_of_answers: bool

    @property
    def best(self) -> float:
        """The best score on its scale, infinity if it has none."""
        return limits_of(self.scale)[1]

    @property
    def row_label(self) -> str:
        """The name of the score of a single answer, which has another signature."""
        return f"{self.label}.row" if self.is_pooled else self.label

    @property
    def row_signature(self) -> str:
        """The signature of the score of a single answer.

        It differs for a metric whose score of many answers is not the mean of theirs.
        """
        return f"{self.signature}{ROW_LEVEL if self.is_pooled else ''}"

    def bounded(self, value: float) -> float:
        """Return the score, reduced to the best one if rounding exceeded that."""
        return self.best if self.best < value < self.best + _ROUNDING else value

    def is_right(self, value: float) -> bool:
        """Tell whether a score is the best possible one."""
        return value == 0 if self.lower_is_better else self.bounded(value) == self.best


def columns_of(measured: Iterable[ComputedMetric]) -> tuple[ScoreColumn, ...]:
    """Return a column for each score of the metrics, in the order of `values_of`."""
    every = [(metric, name) for metric in measured for name in metric.names]
    times = Counter(name for _, name in every)
    return tuple(
        ScoreColumn(
            label=name if times[name] == 1 else f"{metric.request.label}.{name}",
            metric=metric.request.metric,
            signature=metric.measure.signature,
            scale=metric.measure.scale,
            is_pooled=not metric.measure.is_mean,
            lower_is_better=bool(metric.measure.lower_is_better),
            is_binary=metric.measure.is_binary,
            has_best=metric.measure.lower_is_better is not None,
            is_of_answers=metric.measure.scores_answers,
        )
        for metric, name in every
    )


def values_of(scored: ScoredAnswer) -> tuple[float | None, ...]:
    """Return the scores of an answer in the order of `columns_of`."""
    return tuple(chain.from_iterable(scored.values))


#: Writes the names of scores and their signatures.
WriteSignatures = Callable[[Iterable[tuple[str, str]]], None]


def signature_writer(files: Files) -> WriteSignatures:
    """Return a function that writes signatures to a text file next to the result file.

    This is for result formats that have no field for signatures. The file is text with
    one score in each line, since a `.json` file would be read as data. Without a named
    result file nothing is written. Raises `SinkError` if the file already exists.
    """
    path = Path(files.name or "-")
    # For a pipe or /dev/null there is no folder for another file.
    if files.name is None or (path.exists() and not path.is_file()):
        return _write_nothing
    write = files.sibling(f"{path.name}.signatures.txt")

    def write_lines(signatures: Iterable[tuple[str, str]]) -> None:
        lines = (f"{escaped(name)}\t{escaped(text)}\n" for name, text in signatures)
        write("".join(lines).encode())

    return write_lines


def _write_nothing(_: Iterable[tuple[str, str]]) -> None:
    """Write nothing, where there is no place for a file."""


def row_signatures(columns: Iterable[ScoreColumn]) -> Iterator[tuple[str, str]]:
    """Yield the name and the signature of each score of a single answer."""
    for column in columns:
        yield column.row_label, column.row_signature


def total_signatures(
    columns: Iterable[ScoreColumn], scores: Scores
) -> Iterator[tuple[str, str]]:
    """Yield the name and the signature of each score of all answers."""
    for column, score in zip(columns, scores.total.scores, strict=True):
        yield column.label, score.signature


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
    #: All scores of the run.
    _every: tuple[ScoreColumn, ...] = ()
    _rows: list[AnswerRow] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "AnswerRows":
        """Take the metrics and the groups of a run, and return this object."""
        self._every, self.by = columns_of(run.measured), run.by
        self.columns = tuple(column for column in self._every if column.is_of_answers)
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Add the row of an answer."""
        record, output, placed = scored.record, scored.output, scored.placed
        text = scored.sample.answer
        row = AnswerRow(
            path=placed.path,
            line=placed.start.line,
            record=placed.number,
            id=None if record.id is UNSET else record.id,
            model=None if output.model is UNSET else output.model,
            question=question_key(record, scored.record_number).hex(),
            length=None if text is None else len(text),
            key={name: value_of(name, record, output) for name in self.by},
            scores={
                column.row_label: value
                for column, value in zip(self._every, values_of(scored), strict=True)
                if column.is_of_answers
            },
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

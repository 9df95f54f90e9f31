"""The answers of a scoring run: an iterator that can be made a data frame."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

from harpia_formats.api.keyword_options import errors_for_python
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.answer_rows import AnswerRow, AnswerRows
from harpia_formats.evaluation.scoring.results.redacted_scores import ScoreRedaction
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.result import frame_library


class Answers(Iterator[AnswerRow]):
    """An iterator of answers, each of which is scored when it is requested."""

    def __init__(self, inputs: Iterable[Input], options: ScoreOptions) -> None:
        """Take the inputs and options of a run; raises what `Scoring` raises."""
        self._collected = AnswerRows()
        observers = [self._collected.begin]
        self._run = Scoring(inputs, None, None, options, observers)
        self._by = options.by
        self._is_redacted = options.redact
        self._redaction: ScoreRedaction | None = None
        self._scores: Scores | None = None
        self._rows = self._scored()

    def __next__(self) -> AnswerRow:
        return next(self._rows)

    def __repr__(self) -> str:
        return "<Answers: scored when they are asked for>"

    def close(self) -> None:
        """Stop reading, and close the open file."""
        self._rows.close()

    @property
    def scores(self) -> Scores:
        """The scores of all answers; raises `ValueError` until the last one is read."""
        if self._scores is None:
            raise ValueError("there are no scores before the last answer was taken")
        return self._scores

    def to_pandas(self) -> Any:
        """Return the remaining answers as a pandas data frame.

        Raises `ImportError` without pandas.
        """
        frame = frame_library("pandas").DataFrame
        rows = [row.as_row() for row in self]
        return frame(rows, columns=self._columns(rows))

    def to_polars(self) -> Any:
        """Return the remaining answers as a Polars data frame.

        Raises `ImportError` without polars.
        """
        frame = frame_library("polars").DataFrame
        rows = [row.as_row() for row in self]
        if not rows:
            return frame(schema=self._columns(rows))
        return frame(rows, infer_schema_length=None, strict=False)

    def _columns(self, rows: list[dict[str, Any]]) -> list[str]:
        """Return the names of the columns, which a frame without rows has, too."""
        names = [column.row_label for column in self._collected.columns]
        found = rows[0] if rows else [*AnswerRow.columns, *self._by, *names]
        return list(dict.fromkeys(found))

    def _scored(self) -> Generator[AnswerRow, None, None]:
        with errors_for_python("score_answers"):
            with closing(self._run.steps()) as steps:
                for _ in steps:
                    yield from self._shown()
            yield from self._shown()
            scores = self._run.scores()
            scores.raise_for_errors()
            self._scores = scores

    def _shown(self) -> Iterator[AnswerRow]:
        """Return the rows that are new, without values of records if so asked for."""
        rows = self._collected.take()
        if not self._is_redacted:
            return rows
        self._redaction = self._redaction or self._run.redaction()
        return rows if self._redaction is None else map(self._redaction.answer, rows)

"""The type of a result format, and the interfaces of its writer and files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.problem import ConversionError, Problem
from harpia_formats.model.record import Header
from harpia_formats.model.vendor_metrics import ScoreError

#: Appends bytes to a file.
Write = Callable[[bytes], None]


class Files(Protocol):
    """The result files of a run, which appear only when all of them are complete."""

    #: The name of the first file, None for standard output or a stream.
    name: str | None

    def write(self, data: bytes) -> None:
        """Append bytes to the first file."""

    def sibling(self, name: str) -> Write:
        """Return the `write` of another file in the same folder.

        Raises `SinkError` if it already exists, or if the first file has no name.
        """


@dataclass(frozen=True, slots=True)
class ResultRun:
    """The facts of a run that are known before the first answer is scored."""

    measured: tuple[ComputedMetric, ...]
    profile: str
    #: Given the bytes of a document and the id of its format: its first problem, None
    #: if it is valid.
    first_problem: Callable[[bytes, str], Problem | None]
    #: The format of the input and its adapter, None if they are not known yet.
    source: Format | None
    source_adapter: FormatAdapter | None
    #: The header of the input, if it selected the metrics.
    header: Header | None
    #: Names by the user or a configuration: `task`, `tree`, `job`, `run_name`.
    names: Mapping[str, str]
    #: Values for fields that records lack, by the name of the field.
    constants: Mapping[str, Any]
    #: Fields by which answers are grouped.
    by: tuple[str, ...]
    #: Whether cells of CSV that a spreadsheet would run get a mark.
    csv_safe: bool

    def constants_of(self, rows: FormatAdapter) -> Mapping[str, Any]:
        """Return the values for fields that records lack, by their paths.

        Raises `ScoreError` for a field that the rows do not have.
        """
        try:
            return constants_by_path(rows, self.constants)
        except ConversionError as error:
            raise ScoreError(str(error)) from error


class ResultWriter(Protocol):
    """Writes the results of one run, answer by answer."""

    def add(self, scored: ScoredAnswer) -> None:
        """Write one answer with its scores."""

    def close(self, scores: Scores) -> None:
        """Write the scores of all answers and the end of the files."""

    def drop(self) -> None:
        """Release temporary files after an error."""


#: Returns a writer that gets all answers of a run, as the writer of its results does.
Observer = Callable[[ResultRun], ResultWriter]


@dataclass(frozen=True, slots=True)
class ResultWriters:
    """The writers of one run as one; by the definition of vendors answers count once.

    So the writer of results, if there is one, gets the scores over answers.
    """

    observers: Sequence[ResultWriter]
    results: ResultWriter | None = None

    def add(self, scored: ScoredAnswer) -> None:
        """Hand an answer to each writer."""
        for writer in self.observers:
            writer.add(scored)
        if self.results is not None:
            self.results.add(scored)

    def close(self, scores: Scores) -> None:
        """Close each writer, which then writes the end of its file."""
        for writer in self.observers:
            writer.close(scores)
        if self.results is not None:
            self.results.close(scores.as_over_answers())

    def drop(self) -> None:
        """Release the temporary files of each writer after an error."""
        for writer in (*self.observers, *filter(None, [self.results])):
            writer.drop()


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A format of result files."""

    #: The id of the format.
    id: str
    #: The id of its default profile of metrics.
    profile: str
    #: Returns a writer; raises `ScoreError` for a run that the format cannot hold.
    writer: Callable[[Files, ResultRun], ResultWriter]
    #: The keys of `ResultRun.names` that it writes, each with a description.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Whether it tells the scores of several models apart, or refuses several itself.
    holds_models: bool = False
    #: Whether it tells models apart only by the names in the rows of single answers.
    names_models_in_rows: bool = False
    #: Whether it holds the records themselves, with the scores that they had.
    holds_records: bool = False
    #: Whether answers keep the scores that their records had.
    keeps_scores: bool = False
    #: Whether it takes metrics that score questions, since it holds no scores of single
    #: answers.
    takes_questions: bool = False
    #: Whether it takes metrics of labels, which no single answer has a score by.
    takes_labels: bool = False
    #: The rows whose fields `--set` gives, None if it gives none.
    rows: FormatAdapter | None = None

"""The answers of one system with their statistics, sorted by question."""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from harpia_formats.metrics.label_reading import LabelPair
from harpia_formats.scoring.match_questions import QuestionTable
from harpia_formats.scoring.resampled import statistics_width
from harpia_formats.scoring.results.format import ResultRun
from harpia_formats.scoring.scores import ScoredAnswer, Scores


@dataclass(slots=True)
class SystemAnswers:
    """The statistics of one system's answers; a `ResultWriter`."""

    questions: QuestionTable = field(default_factory=QuestionTable)
    #: The number of the question of each answer.
    numbers: "array[int]" = field(default_factory=lambda: array("Q"))
    #: The names of the models of the answers.
    models: set[str] = field(default_factory=set)
    #: For each metric the concatenated statistics of all answers; NaN for an answer
    #: that could not be scored. For a metric of labels they are the numbers of both.
    columns: list["array[float]"] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    #: The number of each label, for each metric of labels.
    labels: list[dict[str, int]] = field(default_factory=list)
    #: The question of each answer among those of both systems, and the answers by it.
    _keys: "array[int]" = field(default_factory=lambda: array("q"))
    _order: "array[int]" = field(default_factory=lambda: array("Q"))

    def add(self, scored: ScoredAnswer) -> None:
        """Add the statistics of an answer."""
        if scored.output.model:
            self.models.add(scored.output.model)
        self.numbers.append(self.questions.number_of(scored.record))
        for column, width, labels, statistics in zip(
            self.columns, self.widths, self.labels, scored.statistics, strict=True
        ):
            if statistics is None:
                column.extend((math.nan,) * width)
            elif isinstance(statistics, LabelPair):
                column.extend(labels.setdefault(one, len(labels)) for one in statistics)
            else:
                column.extend(statistics)

    def close(self, scores: Scores) -> None:
        """Do nothing: a comparison writes no results."""

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

    def begin(self, run: ResultRun) -> "SystemAnswers":
        """Prepare a column for each metric of the run, and return this object."""
        self.widths = [statistics_width(metric.measure) for metric in run.measured]
        self.columns = [array("d") for _ in run.measured]
        self.labels = [{} for _ in run.measured]
        return self

    def sort(self, numbers: Sequence[int]) -> None:
        """Sort the answers by their question.

        `numbers` has for each question its number among those of both systems, -1 if
        only one has it.
        """
        self._keys = array("q", [numbers[number] for number in self.numbers])
        keys = self._keys
        paired = (place for place, key in enumerate(keys) if key >= 0)
        self._order = array("Q", sorted(paired, key=keys.__getitem__))

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the answers to each question, in ascending order of questions."""
        for key, places in groupby(self._order, key=self._keys.__getitem__):
            yield key, list(places)

    def rows(self, metric: int, places: Iterable[int]) -> list[Sequence[float]]:
        """Return the statistics of those answers that have a score by a metric."""
        width, column = self.widths[metric], self.columns[metric]
        found = (column[place * width : (place + 1) * width] for place in places)
        return [row for row in found if row[0] == row[0]]


def common_groups(
    first: Iterator[tuple[int, list[int]]], second: Iterator[tuple[int, list[int]]]
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield each key of two ascending streams that both have, with both values."""
    one, other = next(first, None), next(second, None)
    while one is not None and other is not None:
        if one[0] == other[0]:
            yield one[0], one[1], other[1]
            one, other = next(first, None), next(second, None)
        elif one[0] < other[0]:
            one = next(first, None)
        else:
            other = next(second, None)

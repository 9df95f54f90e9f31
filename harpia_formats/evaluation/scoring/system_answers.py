"""The statistics of the answers of systems, by question."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import MODEL, NONE
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.scoring.answers.input_files import (
    file_of_key,
    key_of_file,
)
from harpia_formats.evaluation.scoring.answers.match_questions import QuestionTable
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
    statistics_width,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    KnownLabels,
    question_scores,
)
from harpia_formats.evaluation.scoring.number_stores import (
    LabelRows,
    QuestionRows,
    SpooledRows,
    parts_of,
)
from harpia_formats.evaluation.scoring.results.result_format import ResultRun
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.bootstrap import np
from harpia_formats.evaluation.scoring.significance.paired_answers import (
    QuestionSums,
    summed,
)
from harpia_formats.files.io.spill import FixedRecords

#: Numbers of a column in memory, before they go to its file.
_HELD = 32 * 1024


@dataclass(slots=True)
class SystemAnswers:
    """The statistics of the answers of one system."""

    widths: list[int]
    #: Whether the scores were stored: then a question without any is counted as one.
    are_stored: bool = False
    #: The number of the question of each answer.
    numbers: "array[int]" = field(default_factory=lambda: array("I"))
    #: For each metric the concatenated statistics of all answers; NaN for an answer
    #: that could not be scored. For a metric of labels they are the numbers of both.
    columns: list[FixedRecords] = field(default_factory=list)

    def __post_init__(self) -> None:
        # They are 64-bit floats, of which most are in a temporary file.
        self.columns = [FixedRecords("d", _HELD) for _ in self.widths]

    def add(self, number: int, statistics: Iterable[Sequence[float] | None]) -> None:
        """Add an answer to the question with this number."""
        self.numbers.append(number)
        for column, width, mine in zip(
            self.columns, self.widths, statistics, strict=True
        ):
            column.extend((math.nan,) * width if mine is None else mine)

    def merge(self, other: "SystemAnswers") -> None:
        """Add the answers of `other`, which has the same metrics."""
        self.numbers.extend(other.numbers)
        for column, more in zip(self.columns, other.columns, strict=True):
            column.extend(more.read())

    def sums(
        self,
        at: int,
        metric: ComputedMetric,
        known: KnownLabels | None,
        places: Sequence[int],
        count: int,
    ) -> list[QuestionSums]:
        """Return the sums of the statistics of one metric, by question.

        `at` is the place of the metric among those of the input, `known` has the labels
        of a metric of labels, and `places` the place of each question among `count`
        questions. A metric that scores questions has one result for each of its scores,
        any other has one.
        """
        rows = np.frombuffer(self.columns[at].read()).reshape(-1, self.widths[at])
        numbers = np.asarray(places)[np.asarray(self.numbers)]
        is_scored = ~np.isnan(rows[:, 0])
        answers = np.bincount(numbers, minlength=count)
        counts = np.bincount(numbers[is_scored], minlength=count)
        if self.are_stored:
            # Not each of the answers need have each of the scores.
            answers = np.maximum(counts, answers > 0)
        question = metric.measure.question
        sums: list[tuple[QuestionRows, Any]]
        if known is not None:
            labels = _label_rows(rows[is_scored], numbers[is_scored], known)
            sums = [(labels, counts)]
        elif question is None:
            sums = [(_summed_rows(rows, numbers, is_scored, counts), counts)]
        else:
            scored = [np.zeros((count, 2)) for _ in metric.names]
            for number, answered in answers_by_question(numbers, rows, is_scored):
                for own, score in enumerate(
                    question_scores(question, Counter(map(tuple, answered)))
                ):
                    if score is not None:
                        scored[own][number] = score, 1.0
            sums = [(SpooledRows(one), one[:, 1].astype(np.int64)) for one in scored]
        return [
            # Counts are in as few bytes as hold them.
            QuestionSums(
                stored,
                _small(have),
                _small(np.where(have > 0, answers - counts, answers)),
                answers > 0,
            )
            for stored, have in sums
        ]


def _summed_rows(rows: Any, numbers: Any, is_scored: Any, counts: Any) -> SpooledRows:
    """Return the sums of the statistics of each question, which has so many `counts`.

    `rows` have the statistics of each answer, and `numbers` its question.
    """
    found = np.zeros((len(counts), rows.shape[1]))
    single = is_scored & (counts[numbers] == 1)
    # A part at a time, since the copies of all would take as much memory.
    for part in parts_of(len(rows)):
        mine = single[part]
        found[numbers[part][mine]] = rows[part][mine]
    for question, answered in answers_by_question(numbers, rows, is_scored & ~single):
        found[question] = summed(answered)
    return SpooledRows(found)


def _small(counts: Any) -> Any:
    """Return the same integers, which are not negative, of the smallest type."""
    return counts.astype(np.min_scalar_type(counts.max(initial=0)))


def _label_rows(rows: Any, numbers: Any, known: KnownLabels) -> LabelRows:
    """Return the sums of the statistics of each question.

    `rows` have the numbers of both labels of each answer, and `numbers` its question.
    """
    # Both numbers of an answer as one complex number, which is faster than as a row.
    pairs, kinds = np.unique(rows.view(np.complex128)[:, 0], return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    return LabelRows(
        _small(kinds[order]),
        numbers[order].astype(np.uint32),
        known.rows(pairs.view(np.float64).reshape(-1, 2).tolist()),
        known.width,
    )


def answers_by_question(
    numbers: Any, rows: Any, chosen: Any
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each question with the statistics of those of its answers that count."""
    places = np.flatnonzero(chosen)
    places = places[np.argsort(numbers[places], kind="stable")]
    questions = numbers[places]
    starts = np.flatnonzero(np.diff(questions, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(places)]):
        yield int(questions[start]), rows[places[start:end]].tolist()


@dataclass(slots=True)
class InputAnswers:
    """The answers of the systems of one input; a `ResultWriter`."""

    questions: QuestionTable
    #: The number of each label, by the name of a metric of labels.
    labels: dict[str, dict[str, int]]
    are_stored: bool = False
    #: The systems by the names of their models, None for answers that name none.
    systems: dict[str | None, SystemAnswers] = field(default_factory=dict)
    #: The same before it is known of which systems answers without a model are.
    _by_key: dict[str, SystemAnswers] = field(default_factory=dict)
    _widths: list[int] = field(default_factory=list)
    _labels: list[dict[str, int]] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "InputAnswers":
        """Prepare for the metrics of the run, and return this object."""
        self._widths = [statistics_width(metric.measure) for metric in run.measured]
        self._labels = [
            self.labels.setdefault(metric.request.label, {}) for metric in run.measured
        ]
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Add the statistics of an answer to its system."""
        model = scored.output.model
        if model is UNSET:
            model = key_of_file(scored.count.path)
        system = self._by_key.get(model)
        if system is None:
            system = SystemAnswers(self._widths, self.are_stored)
            self._by_key[model] = system
        statistics = (
            [labels.setdefault(label, len(labels)) for label in one]
            if isinstance(one, LabelPair)
            else one
            for labels, one in zip(self._labels, scored.statistics, strict=True)
        )
        system.add(self.questions.number_of(scored.record), statistics)

    def close(self, scores: Scores) -> None:
        """Keep the systems that have scores; answers without a model may be of one."""
        found: dict[str | None, SystemAnswers] = {}
        by_key, self._by_key = self._by_key, {}
        for key, mine in by_key.items():
            file = file_of_key(key)
            if file is None or file in scores.files:
                name = key if file is None else scores.files[file]
                if found.setdefault(name, mine) is not mine:
                    found[name].merge(mine)
        if len(found) > 1:
            # They are in the order of their scores.
            shown = {NONE if name is None else name: name for name in found}
            names = [shown[group.key[MODEL]] for group in scores.systems]
            found = {name: found[name] for name in names}
        self.systems = found

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

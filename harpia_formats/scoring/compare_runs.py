"""Compare the scores of two systems on the same questions.

Questions are paired by the ids of their records, their prompts and their references.
The statistics of all answers, eight bytes each, and the digests of all questions are
held in memory.
"""

import math
from array import array
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace

from harpia_formats.io.inputs import Input
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import NoTruthValue
from harpia_formats.scoring.checks import metric_identities
from harpia_formats.scoring.compared import (
    DIFFERENT_MODELS,
    ComparedScore,
    paired_test,
    pooled_note,
    with_adjusted,
)
from harpia_formats.scoring.match_questions import QuestionTable, match_questions
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.p_values import PairedTest
from harpia_formats.scoring.paired import compare_paired
from harpia_formats.scoring.paired_answers import PairedAnswers, summed
from harpia_formats.scoring.resampled import statistics_width
from harpia_formats.scoring.results.format import Files, ResultFormat, ResultRun
from harpia_formats.scoring.run import Scoring
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer, Scores


@dataclass(frozen=True, slots=True)
class ComparisonReport(NoTruthValue):
    """The result of comparing two systems."""

    compared: tuple[ComparedScore, ...]
    #: The scores of each system over all of its answers.
    first: Scores
    second: Scores
    #: The number of questions that only one system has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether both inputs are valid and each score was compared."""
        is_whole = self.first.report.ok and self.second.report.ok
        return is_whole and all(score.comparison for score in self.compared)

    def raise_for_errors(self) -> None:
        """Raise an error unless both inputs were read and each score was compared.

        It is `ValidationFailed` or `ScoreError`.
        """
        for scores in (self.first, self.second):
            scores.raise_for_errors()
        for score in self.compared:
            if score.comparison is None:
                raise ScoreError(f"no pair of answers has two scores by {score.name}")


@dataclass(slots=True)
class _SystemAnswers:
    """The statistics of one system's answers; a `ResultWriter`."""

    questions: QuestionTable = field(default_factory=QuestionTable)
    #: The number of the question of each answer, and its model.
    numbers: "array[int]" = field(default_factory=lambda: array("Q"))
    models: list[str] = field(default_factory=list)
    #: For each metric the concatenated statistics of all answers; NaN for an answer
    #: that could not be scored.
    columns: list["array[float]"] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)

    def add(self, scored: ScoredAnswer) -> None:
        """Add the statistics of an answer."""
        self.models.append(str(scored.output.model or ""))
        self.numbers.append(self.questions.number_of(scored.record))
        for column, width, statistics in zip(
            self.columns, self.widths, scored.statistics, strict=True
        ):
            column.extend((math.nan,) * width if statistics is None else statistics)

    def close(self, scores: Scores) -> None:
        """Do nothing: a comparison writes no results."""

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

    def begin(self, run: ResultRun) -> "_SystemAnswers":
        """Prepare a column for each metric of the run, and return this object."""
        self.widths = [statistics_width(metric.measure) for metric in run.measured]
        self.columns = [array("d") for _ in run.measured]
        return self

    def named_models(self) -> set[str]:
        """Return the names of all models."""
        return set(filter(None, self.models))

    def places(self, keys: Sequence[bytes], *, by_model: bool) -> "_Places":
        """Return the answers to each question by its key, and by model if `by_model`.

        `keys` has the key of each question by its number.
        """
        found: _Places = {}
        for place, number in enumerate(self.numbers):
            model = self.models[place] if by_model else ""
            found.setdefault((keys[number], model), []).append(place)
        return found

    def rows(self, metric: int, places: Iterable[int]) -> list[Sequence[float]]:
        """Return the statistics of those answers that have a score by a metric."""
        width, column = self.widths[metric], self.columns[metric]
        found = (column[place * width : (place + 1) * width] for place in places)
        return [row for row in found if row[0] == row[0]]


#: Answers by the key of their question and their model.
_Places = dict[tuple[bytes, str], list[int]]


class ScoreComparison:
    """A comparison of two systems: iterate for the problems, then call `report`.

    `test` is one of `paired.TESTS`, or None for permutation of means and the bootstrap
    of other scores. Raises what `Scoring` raises.
    """

    def __init__(
        self,
        first: Iterable[Input],
        second: Iterable[Input],
        options: ScoreOptions,
        models: tuple[str | None, str | None] = (None, None),
        test: str | None = None,
    ) -> None:
        self._test = paired_test(options, test)
        self._sides = (_SystemAnswers(), _SystemAnswers())
        without = replace(options, replicates=0, by=())
        self._runs = tuple(
            Scoring(
                inputs,
                ResultFormat(
                    "compared", "default", _writer_of(side), holds_models=True
                ),
                None,
                replace(without, model=model or options.model),
            )
            for inputs, side, model in zip(
                (first, second), self._sides, models, strict=True
            )
        )

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score both systems; yield the problems of their inputs."""
        for run in self._runs:
            yield from run

    def report(self) -> ComparisonReport:
        """Return the result; raises `ScoreError` if no question is in both inputs."""
        first, second = (run.scores() for run in self._runs)
        if first.is_broken or second.is_broken:
            return ComparisonReport((), first, second, 0, 0)
        if metric_identities(first.measured) != metric_identities(second.measured):
            raise ScoreError(
                "the inputs select different metrics, which cannot be compared; name "
                "metrics with --metrics"
            )
        ours, theirs = self._sides
        matched = match_questions(ours.questions, theirs.questions)
        models = self._several_models()
        places = [
            side.places(keys, by_model=bool(models))
            for side, keys in zip(
                self._sides, (matched.first, matched.second), strict=True
            )
        ]
        both = [key for key in places[0] if key in places[1]]
        count = sum(len(metric.names) for metric in first.measured)
        test = self._test.of_many(count)
        compared = [
            score
            for number, metric in enumerate(first.measured)
            for score in self._compared(number, metric, places, both, test)
        ]
        return ComparisonReport(
            with_adjusted(compared),
            first,
            second,
            matched.only_first,
            matched.only_second,
            (
                *_notes(first.said, second.said),
                *matched.notes,
                *([pooled_note(models)] if models else []),
            ),
        )

    def _several_models(self) -> list[str]:
        """Return the models by which answers are paired, none if each side has one.

        Raises `ScoreError` if answers of several models cannot be paired.
        """
        ours, theirs = (side.named_models() for side in self._sides)
        if max(len(ours), len(theirs)) <= 1:
            return []
        if ours != theirs:
            raise ScoreError(DIFFERENT_MODELS)
        return sorted(ours)

    def _compared(
        self,
        number: int,
        metric: ComputedMetric,
        places: Sequence[_Places],
        both: Sequence[tuple[bytes, str]],
        test: PairedTest,
    ) -> Generator[ComparedScore, None, None]:
        """Yield the scores of one metric, compared over the questions `both`."""
        questions: dict[bytes, tuple[list[Sequence[float]], list[Sequence[float]]]] = {}
        unscored = [0, 0]
        for key in both:
            found = [
                side.rows(number, answers[key])
                for side, answers in zip(self._sides, places, strict=True)
            ]
            for at, rows in enumerate(found):
                unscored[at] += len(places[at][key]) - len(rows)
            if all(found):
                pair = questions.setdefault(key[0], ([], []))
                for kept, rows in zip(pair, found, strict=True):
                    kept.extend(rows)
        measure = metric.measure
        one, other = ([pair[at] for pair in questions.values()] for at in (0, 1))
        answers = PairedAnswers(
            list(questions),
            [summed(rows) for rows in one],
            [summed(rows) for rows in other],
            [len(rows) for rows in one],
            [len(rows) for rows in other],
            measure.scores,
            measure.best if measure.is_mean else None,
        )
        values = [
            measure.scores(summed([row for rows in system for row in rows]))
            for system in (one, other)
        ]
        for name, first, second, comparison in zip(
            metric.names, *values, compare_paired(answers, test), strict=True
        ):
            yield ComparedScore(
                metric.request.label,
                name,
                first,
                second,
                comparison,
                measure.signature,
                len(questions),
                (unscored[0], unscored[1]),
            )


def _notes(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the notes of both runs, each with its input unless both have it."""
    ours, theirs = list(first), list(second)
    return [
        *(note if note in theirs else f"first input: {note}" for note in ours),
        *(f"second input: {note}" for note in theirs if note not in ours),
    ]


def _writer_of(side: _SystemAnswers) -> Callable[[Files, ResultRun], _SystemAnswers]:
    return lambda _, run: side.begin(run)

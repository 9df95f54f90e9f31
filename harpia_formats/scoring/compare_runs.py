"""Compare the scores of two systems on the same questions.

Questions are paired by the ids of their records, their prompts and their references.
The statistics of all answers, eight bytes each, and the digests of all questions are
held in memory.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harpia_formats.io.inputs import Input
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.problem import Problem
from harpia_formats.model.result import Result
from harpia_formats.redaction import redaction_of
from harpia_formats.scoring.compared import (
    ComparedScore,
    check_one_model,
    compared_headline,
    paired_test,
    with_adjusted,
    with_references,
)
from harpia_formats.scoring.known_labels import KnownLabels
from harpia_formats.scoring.match_questions import match_questions
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.p_values import PairedTest
from harpia_formats.scoring.paired import compare_paired
from harpia_formats.scoring.paired_answers import PairedAnswers
from harpia_formats.scoring.results.format import Files, ResultFormat, ResultRun
from harpia_formats.scoring.run import Scoring
from harpia_formats.scoring.scores import ComputedMetric, Scores
from harpia_formats.scoring.select_metrics import check_same_metrics
from harpia_formats.scoring.system_answers import SystemAnswers, common_groups
from harpia_formats.scoring.verdicts import common_verdicts, notes_on_metrics


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonReport(Result):
    """The result of comparing two systems."""

    columns: ClassVar = ComparedScore.columns

    compared: tuple[ComparedScore, ...]
    #: The scores of each system over all of its answers.
    first: Scores
    second: Scores
    #: The number of questions that only one system has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return the differences in one line."""
        return compared_headline(self.compared, self.only_first, self.only_second)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score that was compared."""
        return [score.as_row() for score in self.compared]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data that can be written as JSON."""
        return {
            "ok": self.ok,
            "compared": self.table(),
            "only_first": self.only_first,
            "only_second": self.only_second,
            "notes": list(self.said),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
        }

    @property
    def ok(self) -> bool:
        """Whether both inputs were read as asked for and each score was compared."""
        reports = (self.first.report, self.second.report)
        is_read = bool(self.compared) and all(one.ok_without_invalid for one in reports)
        return is_read and all(score.comparison for score in self.compared)

    def raise_for_errors(self) -> None:
        """Raise an error unless both inputs were read and each score was compared.

        It is `ValidationFailed` or `ScoreError`.
        """
        for scores in (self.first, self.second):
            scores.raise_for_errors()
        for score in self.compared:
            if score.comparison is None:
                raise ScoreError(f"{score.name} is not compared: {score.reason}")


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
        if options.stored:
            raise ScoreError("stored scores are compared with score compare --stored")
        self._redaction = redaction_of(options)
        self._wanted = frozenset(options.metrics)
        self._test = paired_test(options, test)
        self._sides = (SystemAnswers(), SystemAnswers())
        without = replace(options, replicates=0, by=())
        self._runs = tuple(
            Scoring(
                inputs,
                ResultFormat(
                    "compared",
                    "default",
                    _writer_of(side),
                    holds_models=True,
                    takes_verdicts=True,
                    takes_labels=True,
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
        """Return the result as it may be shown.

        Raises `ScoreError` if no question is in both inputs, and if an input has
        answers of several models.
        """
        if self._redaction is None:
            return self._report()
        from harpia_formats.redaction.errors import errors_without_values  # noqa: PLC0415 - most runs show values
        from harpia_formats.scoring.redacted import ScoreRedaction  # noqa: PLC0415 - most runs show values

        with errors_without_values(self._redaction):
            found = self._report()
        are_chosen = all(run.has_chosen_metrics for run in self._runs)
        shown = ScoreRedaction(self._redaction, self._wanted, are_chosen)
        return shown.comparison(found)

    def _report(self) -> ComparisonReport:
        first, second = (run.whole_scores() for run in self._runs)
        if first.is_broken or second.is_broken:
            return ComparisonReport((), first, second, 0, 0)
        ours, theirs = self._sides
        check_one_model(ours.models, theirs.models)
        places = self._places(first, second)
        matched = match_questions(ours.questions, theirs.questions)
        ours.sort(matched.first)
        theirs.sort(matched.second)
        metrics = [(first.measured[pair[0]], pair) for pair in places]
        test = self._test.of_many(sum(len(metric.names) for metric, _ in metrics))
        compared = [
            score
            for metric, pair in metrics
            for score in self._compared(
                metric, self._paired(pair, metric, matched.keys), test
            )
        ]
        return ComparisonReport(
            with_adjusted(with_references(compared, first, second)),
            first,
            second,
            matched.only_first,
            matched.only_second,
            (
                *_notes(first.said, second.said),
                *notes_on_metrics(first.measured, second.measured),
                *matched.notes,
            ),
        )

    def _places(self, first: Scores, second: Scores) -> list[tuple[int, int]]:
        """Return the places of each metric that is compared, in both inputs.

        Raises `ScoreError` if there is none, or if one was computed in different ways.
        """
        are_verdicts = [run.are_verdicts for run in self._runs]
        if are_verdicts[0] != are_verdicts[1]:
            holds = [
                "verdicts of a judge" if are else "answers" for are in are_verdicts
            ]
            raise ScoreOptionsError(
                f"the first input holds {holds[0]}, and the second {holds[1]}, which "
                "have no common score: compare verdicts with verdicts, or answers with "
                "answers"
            )
        if all(are_verdicts):
            return common_verdicts(first.measured, second.measured)
        check_same_metrics(first.measured, second.measured)
        return [(at, at) for at in range(len(first.measured))]

    def _paired(
        self, numbers: tuple[int, int], metric: ComputedMetric, keys: Sequence[bytes]
    ) -> tuple[PairedAnswers, list[int]]:
        """Return the answers to the questions that both have, by one metric.

        With them it returns the number of answers of each system without a score.
        """
        measure = metric.measure
        best = measure.best if measure.is_mean else None
        tables = [
            side.labels[number]
            for side, number in zip(self._sides, numbers, strict=True)
        ]
        known = KnownLabels(measure.labels, tables) if measure.labels else None
        scores = known.scores if known else measure.scores
        paired = PairedAnswers(scores, best, measure.best)
        unscored = [0, 0]
        pairs = common_groups(*(side.groups() for side in self._sides))
        for question, *places in pairs:
            ours, theirs = (
                side.rows(number, mine)
                for side, number, mine in zip(self._sides, numbers, places, strict=True)
            )
            unscored[0] += len(places[0]) - len(ours)
            unscored[1] += len(places[1]) - len(theirs)
            if known:
                ours, theirs = (
                    known.rows(system, rows)
                    for system, rows in enumerate((ours, theirs))
                )
            if ours and theirs:
                paired.add(keys[question], ours, theirs)
        return paired, unscored

    def _compared(
        self,
        metric: ComputedMetric,
        paired: tuple[PairedAnswers, list[int]],
        test: PairedTest,
    ) -> Generator[ComparedScore, None, None]:
        """Yield the scores of one metric, compared over paired answers."""
        answers, unscored = paired
        for name, first, second, comparison in zip(
            metric.names, *answers.values(), compare_paired(answers, test), strict=True
        ):
            yield ComparedScore(
                metric.request.label,
                name,
                first,
                second,
                comparison,
                metric.measure.signature,
                len(answers.keys),
                (unscored[0], unscored[1]),
            )


def _notes(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the notes of both runs, each with its input unless both have it."""
    ours, theirs = list(first), list(second)
    return [
        *(note if note in theirs else f"first input: {note}" for note in ours),
        *(f"second input: {note}" for note in theirs if note not in ours),
    ]


def _writer_of(side: SystemAnswers) -> Callable[[Files, ResultRun], SystemAnswers]:
    return lambda _, run: side.begin(run)

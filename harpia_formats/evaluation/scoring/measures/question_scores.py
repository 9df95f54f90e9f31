"""Numbers of answers by question, in bounded memory, and sums over questions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from operator import attrgetter

from harpia_formats.evaluation.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.evaluation.scoring.measures.metric_score import (
    LeftOutQuestions,
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.measures.outcomes import (
    GroupAnswer,
    Outcome,
    label_pair,
)
from harpia_formats.evaluation.scoring.number_stores import (
    ENTRIES_HELD,
    PARTS,
    PartedEntries,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    QUANTA,
    QuestionMoments,
)

#: The answers to one question: how many have the same row.
Answers = Counter[Statistics]
#: The answers to each of some questions, by their digests.
Questions = Mapping[bytes, Answers]
#: Returns the rows of some answers, each with the digest of its question.
RowsOf = Callable[[Sequence[GroupAnswer]], Iterable[tuple[bytes, Statistics]]]


class RowStore:
    """Rows of numbers of answers, by question and group; to be closed with `close`."""

    def __init__(self, numbers: str, rows_of: RowsOf, held: int = ENTRIES_HELD) -> None:
        """Hold rows whose `numbers` have this format of `struct`."""
        self._rows_of = rows_of
        #: The group, the number of answers with the same row, and the row.
        self._entries = PartedEntries(f"II{numbers}", held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for (question, row), count in Counter(self._rows_of(answers)).items():
            self._entries.add(question, group, count, *row)

    def read(
        self,
        wholes: Sequence[Collection[int]],
        receivers: Sequence[Callable[[Questions], None]],
    ) -> None:
        """Give the questions of each whole to its receiver, some at a time.

        A whole is one group or several. Raises `SourceError` if the temporary file
        cannot be read.
        """
        for part in range(PARTS):
            by_group = self._by_group(part)
            for receive, groups in zip(receivers, wholes, strict=True):
                receive(_together([by_group[one] for one in groups if one in by_group]))

    def _by_group(self, part: int) -> dict[int, defaultdict[bytes, Answers]]:
        """Return the questions of a part by their groups."""
        found: dict[int, defaultdict[bytes, Answers]] = {}
        for key, group, count, *row in self._entries.of_part(part):
            questions = found.get(group)
            if questions is None:
                questions = found[group] = defaultdict(Counter)
            questions[key][tuple(row)] += count
        return found

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def _together(groups: Sequence[Questions]) -> Questions:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, Answers] = defaultdict(Counter)
    for questions in groups:
        for key, answers in questions.items():
            found[key].update(answers)
    return found


@dataclass(slots=True)
class QuestionTotals:
    """One score of the questions of a group."""

    moments: QuestionMoments = field(default_factory=QuestionMoments)
    distribution: RunningDistribution = field(default_factory=RunningDistribution)
    #: The answers to questions with a score, and to those without.
    answers: int = 0
    left_out_answers: int = 0
    left_out: LeftOutQuestions = field(default_factory=LeftOutQuestions)

    @property
    def value(self) -> float | None:
        """The mean over questions, None without any."""
        return self.distribution.distribution().mean

    def add(self, values: Sequence[float], answers: Sequence[int]) -> None:
        """Add questions: the score of each, and the number of its answers."""
        self.answers += sum(answers)
        self.distribution.add(values)
        both = zip(values, answers, strict=True)
        totals = [round(value * QUANTA) * count for value, count in both]
        self.moments.add(answers, totals)

    def leave_out(self, answers: Sequence[int], least: int) -> None:
        """Count questions with so few answers that they have no score."""
        self.left_out_answers += sum(answers)
        self.left_out = self.left_out.with_more(answers, least)


def add_questions(
    totals: Sequence[QuestionTotals], measure: QuestionMeasure, questions: Questions
) -> None:
    """Add the scores of questions to the totals of each score.

    Raises `MetricError` if a question cannot be scored.
    """
    found = [
        (answers.total(), question_scores(measure, answers))
        for answers in questions.values()
    ]
    for at, (total, least) in enumerate(zip(totals, measure.least, strict=True)):
        mine = [(count, scores[at]) for count, scores in found]
        scored = [(count, score) for count, score in mine if score is not None]
        total.add([score for _, score in scored], [count for count, _ in scored])
        total.leave_out([count for count, score in mine if score is None], least)


def question_scores(
    measure: QuestionMeasure, answers: Answers
) -> tuple[float | None, ...]:
    """Return the scores of a question, None for each that needs more answers."""
    count = answers.total()
    if count < min(measure.least):
        return (None,) * len(measure.least)
    return tuple(
        score if least <= count else None
        for score, least in zip(measure.scores(answers), measure.least, strict=True)
    )


@dataclass(frozen=True, slots=True)
class RecordScores:
    """Sums up the scores of the answers of each record, as rows of its question.

    A row has for each score how many answers have it, and then for each its sum.
    """

    #: The number of scores of each metric, 0 for one whose scores do not count here.
    names: Sequence[int]

    @property
    def numbers(self) -> str:
        """The format of a row."""
        return f"{sum(self.names)}I{sum(self.names)}d"

    def rows(
        self, answers: Sequence[GroupAnswer]
    ) -> Iterator[tuple[bytes, Statistics]]:
        """Yield the row of each record."""
        if not any(self.names):
            return
        for _, part in groupby(answers, key=attrgetter("record_number")):
            mine = list(part)
            rows = [list(self._values(answer.outcomes)) for answer in mine]
            columns = list(zip(*rows, strict=True))
            counts = [len(column) - column.count(None) for column in columns]
            sums = [fsum(filter(None, column)) for column in columns]
            yield mine[0].question, (*counts, *sums)

    def _values(self, outcomes: Iterable[Outcome]) -> Iterator[float | None]:
        """Yield the scores of an answer, None for each that it does not have.

        An answer with labels has no score of its own, and is counted with 0.
        """
        for outcome, names in zip(outcomes, self.names, strict=True):
            if isinstance(outcome, str):
                yield from (None,) * names
            elif label_pair(outcome) is None:
                yield from outcome[1][:names]
            else:
                yield from (0.0,) * names


def add_moments(moments: Sequence[QuestionMoments], questions: Questions) -> None:
    """Add questions to the sums of each score for which they have an answer.

    Their rows are those of `RecordScores`.
    """
    size = len(moments)
    rows = [_sums_of(answers, size) for answers in questions.values()]
    for at, score in enumerate(moments):
        scored = [(row[at], row[size + at]) for row in rows if row[at]]
        score.add([count for count, _ in scored], [total for _, total in scored])


def _sums_of(answers: Answers, size: int) -> Sequence[int]:
    """Return the sums of the rows of a question, the scores in multiples of 1/QUANTA.

    Integers are added, so that their order changes nothing.
    """
    rows = [
        [*map(int, row[:size]), *[round(total * QUANTA) for total in row[size:]]]
        for row in answers.elements()
    ]
    return rows[0] if len(rows) == 1 else [*map(sum, zip(*rows, strict=True))]

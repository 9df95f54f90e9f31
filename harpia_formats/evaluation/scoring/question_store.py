"""The scores of any number of questions in bounded memory, by their digests.

Answers to one question may be anywhere in the data. So the scores of each record are
kept as an entry of fixed size, parted by the digest of its question, and beyond some
megabytes in a temporary file. The entries of a question are added up at the end, one
part after the other, with integers: their order does not change the result.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from math import fsum
from operator import attrgetter

from harpia_formats.evaluation.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.evaluation.scoring.outcomes import GroupAnswer, Outcome, label_pair
from harpia_formats.evaluation.scoring.parted_entries import HELD, PARTS, PartedEntries

#: The answers and the totals of one question, for each score.
_Row = tuple[list[int], list[int]]


class QuestionStore:
    """The scores of questions, by group; to be closed with `close`."""

    def __init__(self, names: Sequence[int], held: int = HELD) -> None:
        #: The number of scores of each metric, and of all.
        self._names = tuple(names)
        self._scores = scores = sum(names)
        #: The group, and for each score the answers and their sum.
        self._entries = PartedEntries(f"I{scores}I{scores}d", held)

    def add(
        self, key: bytes, group: int, answers: Sequence[int], sums: Sequence[float]
    ) -> None:
        """Add answers to a question: for each score their number and their sum.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self._entries.add(key, group, *answers, *sums)

    def add_answers(self, answers: Iterable[GroupAnswer], group: int) -> None:
        """Add answers to their questions, those of one record as one entry.

        Raises `SourceError` if the temporary file cannot be written.
        """
        if not self._scores:
            return
        for _, part in groupby(answers, key=attrgetter("record_number")):
            mine = list(part)
            rows = [list(self._values(answer.outcomes)) for answer in mine]
            columns = list(zip(*rows, strict=True))
            self.add(
                mine[0].question,
                group,
                [len(column) - column.count(None) for column in columns],
                [fsum(filter(None, column)) for column in columns],
            )

    def _values(self, outcomes: Iterable[Outcome]) -> Iterator[float | None]:
        """Yield the scores of an answer, None for each that it does not have.

        An answer with labels has no score of its own, and is counted with 0.
        """
        for outcome, names in zip(outcomes, self._names, strict=True):
            if isinstance(outcome, str):
                yield from (None,) * names
            elif label_pair(outcome) is None:
                yield from outcome[1][:names]
            else:
                yield from (0.0,) * names

    def moments(self, wholes: Sequence[Collection[int]]) -> list[list[QuestionMoments]]:
        """Return the sums over questions for each score, for each of some wholes.

        A whole is one group or several. A question counts for a score if it has an
        answer with that score. Raises `SourceError` if the temporary file fails.
        """
        found = [self._empty() for _ in wholes]
        for part in range(PARTS):
            by_group: dict[int, dict[bytes, _Row]] = {}
            for key, group, *numbers in self._entries.of_part(part):
                _add_to(by_group.setdefault(group, {}), key, self._row(numbers))
            for moments, groups in zip(found, wholes, strict=True):
                mine = [by_group[group] for group in groups if group in by_group]
                if mine:
                    _add_moments(moments, _together(mine))
        return found

    def _empty(self) -> list[QuestionMoments]:
        return [QuestionMoments() for _ in range(self._scores)]

    def _row(self, numbers: Sequence[float]) -> _Row:
        answers = [int(number) for number in numbers[: self._scores]]
        return answers, [round(total * QUANTA) for total in numbers[self._scores :]]

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def _add_to(questions: dict[bytes, _Row], key: bytes, row: _Row) -> None:
    """Add the answers and totals of one entry to those of its question."""
    old = questions.get(key)
    if old is None:
        questions[key] = row
        return
    for mine, more in zip(old, row, strict=True):
        mine[:] = map(int.__add__, mine, more)


def _together(groups: Sequence[dict[bytes, _Row]]) -> dict[bytes, _Row]:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, _Row] = {}
    for questions in groups:
        for key, (answers, totals) in questions.items():
            _add_to(found, key, (list(answers), list(totals)))
    return found


def _add_moments(moments: list[QuestionMoments], questions: dict[bytes, _Row]) -> None:
    """Add questions to the sums of each score for which they have an answer."""
    rows = questions.values()
    for at, score in enumerate(moments):
        scored = [(row[0][at], row[1][at]) for row in rows if row[0][at]]
        score.add([count for count, _ in scored], [total for _, total in scored])

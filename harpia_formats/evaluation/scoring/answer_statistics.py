"""The statistics of the answers to questions, by group, in bounded memory.

Answers to one question may be anywhere in the data, and how many there are is known at
the end. So their statistics are kept as entries of fixed size, and the answers of each
question are put together at the end: their order does not change the result.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.outcomes import GroupAnswer, Outcome
from harpia_formats.evaluation.scoring.parted_entries import HELD, PARTS, PartedEntries

#: The answers to one question: how many have the same statistics.
Answers = Counter[Statistics]
#: The answers to each of some questions, by their digests.
Questions = dict[bytes, Answers]


class AnswerStatistics:
    """The statistics of answers by one metric; to be closed with `close`."""

    def __init__(
        self,
        at: int,
        width: int,
        numbers_of: Callable[[Outcome], Statistics | None],
        held: int = HELD,
    ) -> None:
        """Hold the statistics of the metric at a place, which are `width` numbers.

        `numbers_of` returns those of an outcome, None for one that has none.
        """
        self._at, self._numbers_of = at, numbers_of
        #: The group, the number of answers with the same statistics, and these.
        self._entries = PartedEntries(f"II{width}d", held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        counts: Counter[tuple[bytes, Statistics]] = Counter()
        for answer in answers:
            numbers = self._numbers_of(answer.outcomes[self._at])
            if numbers is not None:
                counts[answer.question, numbers] += 1
        for (question, statistics), count in counts.items():
            self._entries.add(question, group, count, *statistics)

    def parts(self) -> Iterator[Mapping[int, Questions]]:
        """Yield the questions in `PARTS` parts by their digests, by group.

        Raises `SourceError` if the temporary file cannot be read.
        """
        for part in range(PARTS):
            by_group: dict[int, Questions] = {}
            for key, group, count, *statistics in self._entries.of_part(part):
                questions = by_group.setdefault(group, {})
                questions.setdefault(key, Counter())[tuple(statistics)] += count
            yield by_group

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def questions_of(
    by_group: Mapping[int, Questions], groups: Collection[int]
) -> Questions:
    """Return the questions of some groups, each with its answers in any of them."""
    mine = [by_group[group] for group in groups if group in by_group]
    if len(mine) == 1:
        return mine[0]
    found: Questions = {}
    for questions in mine:
        for key, answers in questions.items():
            found.setdefault(key, Counter()).update(answers)
    return found

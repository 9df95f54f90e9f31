"""The scores of any number of questions in bounded memory, by their digests.

Answers to one question may be anywhere in the data. So the scores of each record are
kept as an entry of fixed size, parted by the digest of its question, and beyond some
megabytes in a temporary file. The entries of a question are added up at the end, one
part after the other, with integers: their order does not change the result.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby
from math import fsum
from operator import attrgetter
from struct import Struct
from typing import IO

from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.scoring.questions import WIDTH
from harpia_formats.scoring.resampled import GroupAnswer, Outcome

#: Bytes of entries that are held in memory before they are written to a file.
HELD = 2 * 1024 * 1024
#: Parts of the entries by the first byte of the digest, which are added up one by one.
_PARTS = 256

#: The answers and the totals of one question, for each score.
_Row = tuple[list[int], list[int]]


class QuestionStore:
    """The scores of questions, by group; to be closed with `close`."""

    def __init__(self, names: Sequence[int], held: int = HELD) -> None:
        #: The number of scores of each metric, and of all.
        self._names = tuple(names)
        self._scores = scores = sum(names)
        #: The digest, the group, and for each score the answers and their sum.
        self._entry = Struct(f"<{WIDTH}sI{scores}I{scores}d")
        self._left = self._held = held
        self._parts = [bytearray() for _ in range(_PARTS)]
        #: The offset and size of each piece of each part in the file.
        self._runs: list[list[tuple[int, int]]] = [[] for _ in range(_PARTS)]
        self._file: IO[bytes] | None = None

    def add(
        self, key: bytes, group: int, answers: Sequence[int], sums: Sequence[float]
    ) -> None:
        """Add answers to a question: for each score their number and their sum.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self._parts[key[0]] += self._entry.pack(key, group, *answers, *sums)
        self._left -= self._entry.size
        if self._left < 0:
            self._write_held()

    def add_answers(self, answers: Iterable[GroupAnswer], group: int) -> None:
        """Add answers to their questions, those of one record as one entry.

        Raises `SourceError` if the temporary file cannot be written.
        """
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
        """Yield the scores of an answer, None for each that it does not have."""
        for outcome, names in zip(outcomes, self._names, strict=True):
            yield from (None,) * names if isinstance(outcome, str) else outcome[1]

    def moments(self, wholes: Sequence[Collection[int]]) -> list[list[QuestionMoments]]:
        """Return the sums over questions for each score, for each of some wholes.

        A whole is one group or several. A question counts for a score if it has an
        answer with that score. Raises `SourceError` if the temporary file fails.
        """
        found = [self._empty() for _ in wholes]
        for part in range(_PARTS):
            by_group: dict[int, dict[bytes, _Row]] = {}
            for key, group, *numbers in self._entries(part):
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

    def _entries(self, part: int) -> Iterator[tuple[bytes, int, *tuple[float, ...]]]:
        for data in chain(self._stored(part), [bytes(self._parts[part])]):
            yield from self._entry.iter_unpack(data)

    def _stored(self, part: int) -> Iterator[bytes]:
        """Yield the entries of a part that are in the file, some at a time."""
        for offset, size in self._runs[part]:
            try:
                assert self._file is not None  # noqa: S101 - it holds the run
                self._file.seek(offset)
                yield self._file.read(size)
            except OSError as error:
                raise SourceError("temporary file", error_reason(error)) from error

    def _write_held(self) -> None:
        """Move all entries that are in memory to the file."""
        try:
            if self._file is None:
                from tempfile import TemporaryFile  # noqa: PLC0415 - only large runs need it

                self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
            for part, runs in zip(self._parts, self._runs, strict=True):
                if part:
                    runs.append((self._file.seek(0, 2), len(part)))
                    self._file.write(part)
                    part.clear()
            self._file.flush()
        except OSError as error:
            raise SourceError("temporary file", error_reason(error)) from error
        self._left = self._held

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._file:
            with suppress(OSError):  # from data that could not be written before
                self._file.close()


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

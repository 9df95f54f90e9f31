"""Pairs of the labels that two raters give to the same answers."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby, zip_longest
from operator import itemgetter

from harpia_formats.evaluation.scoring.rater_labels import NO_LABEL, RaterLabels


@dataclass(slots=True)
class LabelPairs:
    """Pairs the labels of two raters: iterate once, then read the counts.

    Labels are paired by question, and by the model and the index of the answer where
    all answers of both raters have one; several labels with equal ones in their order.
    A label of a record is paired with those of all of its answers.
    """

    raters: tuple[RaterLabels, RaterLabels]
    #: For each question its place among those that are the same for both raters.
    places: Sequence[int]
    #: Of each rater how many answers the other one does not have.
    alone: list[int] = field(default_factory=lambda: [0, 0])
    #: Of each rater how many answers that both have are without a label.
    empty: list[int] = field(default_factory=lambda: [0, 0])

    def __iter__(self) -> Iterator[tuple[int, int | None, int | None]]:
        """Yield for each answer the place of its question and both labels by number.

        They are in the order of the places. A label that is missing is None.
        """
        own = self._own_numbers()
        streams = (self._labels(side, own) for side in (0, 1))
        for key, found in groupby(merge(*streams, key=itemgetter(0)), itemgetter(0)):
            sides: tuple[list[int], list[int]] = ([], [])
            for _, side, label in found:
                sides[side].append(label)
            place = key // len(own)
            for pair in zip_longest(*self._spread(sides)):
                yield place, *self._counted(pair)

    def _own_numbers(self) -> list[int]:
        """Return for each number of an answer that of the parts which are compared."""
        first, second = self.raters
        is_whole = first.is_of_record or second.is_of_record
        by_model = not is_whole and first.has_models and second.has_models
        by_index = not is_whole and first.has_indexes and second.has_indexes
        found: dict[tuple[object, object], int] = {}
        return [
            found.setdefault((by_model and model, by_index and index), len(found))
            for model, index in first.numbers.answers
        ]

    def _labels(self, side: int, own: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield the labels of a rater in the order of their keys, those with the side.

        The key is of the place of the question and the number of the answer.
        """
        rater = self.raters[side]
        keys = array("q")
        for question, answer in zip(rater.questions, rater.answers, strict=True):
            keys.append(int(self.places[question]) * len(own) + own[answer])
        for at in sorted(range(len(keys)), key=keys.__getitem__):
            yield keys[at], side, rater.labels[at]

    def _spread(self, sides: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yield the labels of both raters, with that of a record for each answer."""
        most = max(map(len, sides))
        for rater, labels in zip(self.raters, sides, strict=True):
            is_common = rater.is_of_record and len(labels) == 1
            yield labels * most if is_common else labels

    def _counted(self, pair: Sequence[int | None]) -> list[int | None]:
        """Return a pair with None for what is missing, which is counted."""
        for side, label in enumerate(pair):
            if label is None:
                self.alone[1 - side] += 1
        if None not in pair:
            for side, label in enumerate(pair):
                self.empty[side] += label == NO_LABEL
        return [None if label == NO_LABEL else label for label in pair]

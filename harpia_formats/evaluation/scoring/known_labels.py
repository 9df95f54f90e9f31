"""The labels of several systems, as statistics that add up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from harpia_formats.evaluation.metrics.label_reading import (
    OTHER,
    LabelPair,
    LabelScores,
    counts_of,
    statistics_width,
)
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.label_totals import (
    FEW_COMPARED,
    references_remark,
)


class KnownLabels:
    """Turns labels of systems into statistics, once all labels of them are known.

    `tables` have for each system the numbers of its labels, from 0 in ascending order.
    """

    def __init__(
        self, scores: LabelScores, tables: Iterable[Mapping[str, int]]
    ) -> None:
        self._scores = scores
        self._names = [list(table) for table in tables]
        self._labels = scores.reading.ordered(chain.from_iterable(self._names))

    @property
    def width(self) -> int:
        """The number of statistics."""
        return statistics_width(self._labels)

    def rows(
        self, system: int, pairs: Iterable[Sequence[float]]
    ) -> Iterator[Statistics]:
        """Yield the statistics of answers of a system, whose labels are numbers."""
        names = self._names[system]
        for reference, answer in pairs:
            pair = LabelPair(names[int(reference)], names[int(answer)])
            yield self._scores.row(pair, self._labels)

    def scores(self, sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of the sum of statistics."""
        return self._scores.scores_of(sums, self._labels)

    def remark(self, sums: Sequence[float], questions: int) -> str:
        """Return why intervals of differences are approximate, "" if they are not.

        `sums` are the summed statistics of a system over so many questions.
        """
        if not self._scores.is_by_label:
            return ""
        counts = counts_of(sums, self._labels)
        references = [
            number
            for label, number, answers in zip(
                counts.labels, counts.references, counts.answers, strict=True
            )
            if label != OTHER and (number or answers)
        ]
        return references_remark(references, counts.total, questions, FEW_COMPARED)

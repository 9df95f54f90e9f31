"""The bootstrap of counts of labels: of each label, and not of each pair of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from harpia_formats.evaluation.metrics.label_reading import (
    LabelPair,
    LabelReading,
    LabelScores,
)
from harpia_formats.evaluation.scoring.draws import (
    pieces,
    unavailable_reason,
    weights_of,
)

#: The rows of a label: how often it is right, in references and in answers.
_RIGHT, _REFERENCES, _ANSWERS = range(3)


@dataclass(slots=True)
class LabelBootstrap:
    """How often each label occurs in every replicate.

    Its memory depends only on the number of replicates and of labels. The weights of
    questions are those of `PoissonBootstrap`. Without numpy it has no replicates.
    """

    reading: LabelReading
    replicates: int
    seed: int
    #: Three rows of numbers for each label, and the sum of the distances.
    _sums: dict[str, Any] = field(default_factory=dict)
    _distance: Any = None

    def add(
        self,
        keys: Sequence[bytes],
        pairs: Sequence[LabelPair],
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Add answers to questions, which digests identify, in any order.

        Each counts as often as `numbers` says, or once.
        """
        if not keys or unavailable_reason():
            return
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        times = numbers or [1] * len(keys)
        answers = sorted(zip(pairs, keys, times, strict=True))
        for part in pieces(len(answers), self.replicates // 4):
            mine = answers[part]
            places: dict[bytes, int] = {}
            at = [places.setdefault(key, len(places)) for _, key, _ in mine]
            weights = weights_of(list(places), self.seed, self.replicates)[at]
            if numbers is not None:
                counts = np.array([count for *_, count in mine], dtype=np.uint64)
                weights = weights * counts[:, None]
            starts = [
                place
                for place, (pair, *_) in enumerate(mine)
                if not place or pair != mine[place - 1][0]
            ]
            sums = np.add.reduceat(weights, starts, axis=0, dtype=np.uint64)
            for start, drawn in zip(starts, sums, strict=True):
                self._add_pair(mine[start][0], drawn)

    def _add_pair(self, pair: LabelPair, drawn: Any) -> None:
        """Add the number of answers with a pair of labels in each replicate."""
        self._count(pair.reference, _REFERENCES, drawn)
        self._count(pair.answer, _ANSWERS, drawn)
        if pair.reference == pair.answer:
            self._count(pair.reference, _RIGHT, drawn)
        distance = self.reading.distance(pair)
        if distance:
            more = drawn.astype(float) * distance
            self._distance = more if self._distance is None else self._distance + more

    def _of_label(self, label: str) -> Any:
        """Return the numbers of a label."""
        if label not in self._sums:
            import numpy as np  # noqa: PLC0415 - numpy is in the extra score

            self._sums[label] = np.zeros((3, self.replicates), dtype=np.uint8)
        return self._sums[label]

    def _count(self, label: str, row: int, drawn: Any) -> None:
        """Add a number of answers in each replicate to one row of a label.

        The rows take as few bytes as their largest number needs, since there may be a
        thousand groups.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        sums = self._of_label(label)
        total = np.add(sums[row], drawn, dtype=np.uint64)
        type_ = np.promote_types(sums.dtype, np.min_scalar_type(total.max(initial=0)))
        if type_ != sums.dtype:
            sums = self._sums[label] = sums.astype(type_)
        sums[row] = total

    def merge(self, other: Self) -> None:
        """Add the answers of `other`, which has the same reading, seed and replicates.

        `other` must not be used any more.
        """
        for label, sums in other._sums.items():
            if label not in self._sums:
                self._sums[label] = sums
                continue
            for row, drawn in enumerate(sums):
                self._count(label, row, drawn)
        if other._distance is not None:
            mine = self._distance
            self._distance = other._distance if mine is None else mine + other._distance

    def replicated(
        self, metrics: Sequence[LabelScores]
    ) -> Iterator[list[tuple[float | None, ...]]]:
        """Yield the scores of all metrics with this reading, in every replicate."""
        if not self._sums:
            return
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        labels = self.reading.ordered(self._sums)
        parts = [self._of_label(label)[at] for at in range(3) for label in labels]
        distance = self._distance
        parts.append(np.zeros(self.replicates) if distance is None else distance)
        for replicate in np.stack(parts, axis=1):
            sums = replicate.tolist()
            yield [metric.scores_of(sums, labels) for metric in metrics]

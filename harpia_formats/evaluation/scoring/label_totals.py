"""The numbers of answers by pair of labels, and their bootstrap."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any, Self

from harpia_formats.evaluation.metrics.label_counts import (
    MOST_LABELS,
    OTHER,
    SHOWN_OTHER,
    LabelPair,
    LabelReading,
    LabelScores,
    counts_of,
    statistics_width,
)
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.bootstrap import (
    pieces,
    unavailable_reason,
    weights_of,
)
from harpia_formats.evaluation.scoring.metric_score import Confusion
from harpia_formats.model.safe_text import safe
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: Fewer questions with a label in the reference make intervals approximate, and those
#: of differences between two systems. `benchmarks/coverage.py` measures both.
FEW, FEW_COMPARED = 10, 20
FEW_REFERENCES = "few references with a label: the interval is approximate"
#: Labels that one reference each has are texts, if there are as many of them.
MAY_BE_TEXTS = (
    "most labels are in one reference only, so that these may be texts and not labels: "
    "the interval is approximate"
)
#: The sum of the weights of the answers with each pair of labels.
PairWeights = Mapping[LabelPair, Fraction]
#: The labels that an error shows, and their characters.
_EXAMPLES, _SHOWN = 3, 40


class TooManyLabelsError(ScoreError):
    """Texts that are no labels, since there are too many of them."""

    def __init__(self, metric: str, examples: Iterable[str]) -> None:
        self._metric = metric
        texts = ", ".join(repr(safe(text, _SHOWN)) for text in examples)
        super().__init__(self._message(f" ({texts}, ...)"))

    def _message(self, examples: str) -> str:
        return (
            f"{self._metric} finds more than {MOST_LABELS} labels{examples}: these are "
            f"texts, not labels; `--param {self._metric}.labels=A,B,C` names the labels"
        )

    def without_values(self) -> ScoreError:
        """Return the error without the labels."""
        return ScoreOptionsError(self._message(""))


@dataclass(slots=True)
class LabelTotals:
    """Counts answers by pair of labels; raises `TooManyLabelsError`."""

    #: The name of the metric.
    name: str
    scores: LabelScores
    _pairs: Counter[LabelPair] = field(default_factory=Counter)
    _labels: dict[str, None] = field(default_factory=dict)

    def add(self, pairs: Iterable[LabelPair]) -> None:
        """Add the pairs of some answers."""
        self._add(Counter(pairs))

    def merge(self, other: Self) -> None:
        """Add the answers of `other`."""
        self._add(other._pairs)

    def _add(self, pairs: Counter[LabelPair]) -> None:
        for pair in pairs:
            if pair not in self._pairs:
                self._labels.update(dict.fromkeys(pair))
        if len(self._labels) - (OTHER in self._labels) > MOST_LABELS:
            labels = [label for label in self._labels if label != OTHER]
            raise TooManyLabelsError(self.name, labels[:_EXAMPLES])
        self._pairs.update(pairs)

    def values(self, weights: PairWeights | None = None) -> tuple[float | None, ...]:
        """Return the scores of all answers so far, or of the sums of their weights."""
        labels = self.scores.reading.ordered(self._labels)
        places = {label: place for place, label in enumerate(labels)}
        size = len(labels)
        sums: list[Fraction | int] = [0] * (3 * size + 1)
        for pair, count in (weights or self._pairs).items():
            at, other = places[pair.reference], places[pair.answer]
            sums[at] += count * (at == other)
            sums[size + at] += count
            sums[2 * size + other] += count
            sums[-1] += count * self.scores.reading.distance(pair)
        # Equal fractions are equal floats, where a formula compares them.
        return self.scores.scores_of(
            [float(one) if isinstance(one, Fraction) else one for one in sums], labels
        )

    def remark(self, questions: int, weights: PairWeights | None = None) -> str:
        """Return why intervals over so many questions are approximate, "" if not.

        `weights` has the sum of the weights of the answers with each pair, if these do
        not count once each.
        """
        if not self.scores.is_by_label:
            return ""
        references: dict[str, Fraction | int] = dict.fromkeys(self._labels, 0)
        for pair, count in (weights or self._pairs).items():
            references[pair.reference] += count
        total = sum(references.values())
        references.pop(OTHER, None)
        return references_remark(references.values(), total, questions)

    def confusion(self) -> Confusion | None:
        """Return the number of answers of each pair; None without answers."""
        if not self._pairs:
            return None
        labels = self.scores.reading.ordered(self._labels)
        rows = (
            tuple(self._pairs[LabelPair(reference, answer)] for answer in labels)
            for reference in labels
        )
        shown = (SHOWN_OTHER if label == OTHER else label for label in labels)
        return Confusion(tuple(shown), tuple(rows))


def references_remark(
    references: Iterable[float | Fraction],
    answers: float | Fraction,
    questions: int,
    few: int = FEW,
) -> str:
    """Return why intervals over so many questions and answers are approximate.

    `references` has for each label how many answers have it as their reference. Returns
    "" if none has fewer than `few` questions.
    """
    counts = [count * questions for count in references]
    least = min(counts, default=0)
    found = [count for count in counts if count]
    single = sum(count <= answers for count in found)
    if single > FEW and 2 * single > len(found):
        return MAY_BE_TEXTS
    return FEW_REFERENCES if least < few * answers else ""


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
